package unitgen

import (
	"fmt"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// atOnce is a run of a service that fails as soon as it is started.
var atOnce = policy.Run{End: policy.End{Result: policy.ExitCode, Main: policy.Exit{How: policy.Exited, Code: 1}}}

// endless is the same service with no limit and a restart after every end.
func (r Restarts) endless() policy.Restarts {
	r.Limit, r.Rules = policy.Never(), policy.Rules{Restart: policy.RestartAlways}
	return r.Restarts
}

// waiting bounds what passes from the first start of a service that fails at
// once until the manager is asked for the start after so many. A window of the
// latest is sure to hold all of those starts.
func (r Restarts) waiting(starts int) (earliest, latest time.Duration) {
	counted := r.endless()
	counted.Limit = policy.Limit{Starts: starts, Within: syntax.Infinity}
	outlook := counted.Outlook(atOnce)
	return outlook.Earliest, outlook.Latest
}

// startsIn is how many starts there are in d when the service fails at once,
// no timer is late, and no wait has jitter.
func (r Restarts) startsIn(d time.Duration) int {
	r.StartDelay.Jitter, r.Randomized = policy.NoJitter, 0
	starts := 0
	for start := range r.endless().Simulate(policy.Always(atOnce), policy.Conditions{}) {
		if start.Begun > d || starts > maxStarts {
			break
		}
		starts++
	}
	return starts
}

// The least that keeps a service which fails for ever from wearing out the
// machine; below, there is a warning.
const (
	leastFlat = 10 * time.Second
	leastCap  = 30 * time.Second
)

// warnings tell of loops that never end, and of what never happens.
func (r Restarts) warnings(p Policy, t Target) []Warning {
	var warnings []Warning
	warn := func(at Position, format string, args ...any) {
		warnings = append(warnings, Warning{Position: at, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case r.Limit.Enabled():
	case r.Waits.Grows() && r.Waits.Longest() < leastCap:
		warn(p.where("restart.cap", "restart"),
			"a service that never gives up restarts every %s for ever when it is broken; raise restart.cap to %s or more, or set restart.give_up",
			about(r.Waits.Longest()), about(leastCap))
	case !r.Waits.Grows() && r.Waits.Base < leastFlat:
		warn(p.where("restart.base", "restart.cap", "restart"),
			"a service that never gives up restarts every %s for ever when it is broken; let cap exceed base, or set restart.give_up",
			about(r.Waits.Base))
	}
	if storm := p.Restart.Storm; storm.Enabled() && !r.storms() {
		warn(p.where("restart.storm"), "restart.storm never pauses: with these waits not even failing at once makes a storm of %d; "+
			"lower failures, or raise half_life", storm.Failures)
	}
	if said := p.says("restart.stable_after"); said && r.Stable.After > 0 && r.Stable.Forget == policy.ForgetNothing && !r.SvcrunForgets() {
		warn(p.where("restart.stable_after"), "restart.stable_after has nothing to make forgotten: every restart waits the same, and %s counts them whatever happens", t)
	}
	return warnings
}

// storms says whether failing at once ever makes a storm. Once the waits have
// stopped to grow, the score comes nearer and nearer to a bound of its own; a
// bound that it has not come near to by then is below the storm.
func (r Restarts) storms() bool {
	enough := r.Waits.Steps + 10*r.StartDelay.Storm.Failures
	for start := range r.endless().Simulate(policy.Always(atOnce), policy.Conditions{}) {
		if start.Held.Threshold > 0 {
			return true
		}
		if start.Number > enough {
			break
		}
	}
	return false
}
