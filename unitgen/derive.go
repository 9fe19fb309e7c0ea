package unitgen

import (
	"time"

	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/watchdog"
)

// The parts of the time limits that a policy does not set.
const (
	// margin is how much longer the manager waits than svcrun may take.
	margin = 5 * time.Second
	// abortWait is svcrun's default for --abort-wait: the time for a core.
	abortWait = 10 * time.Second
	// wrapperPeriod is how long svcrun may be silent where no check says.
	wrapperPeriod = 30 * time.Second
)

// unhealthyCodes are the exit codes with which svcrun says that it ended the
// service because it was unhealthy, or not ready in time.
var unhealthyCodes = []int{69, 70}

// Derived is what follows from a policy for a target: the numbers that the
// unit has, and that its comments explain.
type Derived struct {
	Restarts Restarts
	Start    time.Duration // TimeoutStartSec=
	Stop     time.Duration // TimeoutStopSec=
	Abort    time.Duration // TimeoutAbortSec=
	Watchdog time.Duration // WatchdogSec=; 0 without live checks
	Hang     Hang          // meaningful with live checks that stop the service
}

// Hang bounds what happens when the service stops to answer.
type Hang struct {
	Notice time.Duration // until the stop begins; 0 where no check stops the service
	Gone   time.Duration // until svcrun has ended
	First  time.Duration // until the first restart of a series
	Last   time.Duration // until a restart at the ladder's end
}

// Derive computes the numbers. It returns Errors where the policy asks for
// what cannot be on the target.
func Derive(p Policy, t Target) (Derived, []Warning, error) {
	d := Derived{
		Stop:  p.Drain.Budget() + margin,
		Abort: abortWait + p.Drain.KillWait + margin,
	}
	switch {
	case len(p.Live.Checks) > 0:
		d.Watchdog = watchdogPeriod(p.Live.Checks)
		d.Hang = hang(p)
	case p.Watchdog == WatchdogWrapper:
		d.Watchdog = wrapperPeriod
	}
	restarts, warnings, err := deriveRestarts(p, t, d.Hang)
	d.Restarts = restarts
	d.Start = restarts.startLimit(p)
	if p.Reload.Wanted { // the manager has one limit for both
		d.Start = max(d.Start, p.Reload.Timeout+margin)
	}
	d.Hang.First = d.Hang.Gone + restarts.waitAtMost(1) + policy.TimerSlack
	d.Hang.Last = d.Hang.Gone + restarts.waitAtMost(restarts.Waits.Steps+1) + policy.TimerSlack
	warnings = append(warnings, watchdogWarnings(p)...)
	return d, append(warnings, reloadWarnings(p)...), err
}

// watchdogPeriod is how long svcrun may be silent. It beats when every live
// check has completed a probe in the last interval and timeout; one failure
// more than any check waits for leaves the decision to the checks.
func watchdogPeriod(checks []watchdog.Check) time.Duration {
	failures, slowest := slowestCheck(checks)
	return time.Duration(failures+1) * (slowest.Interval + slowest.Timeout)
}

// slowestCheck is the most failures that any check waits for, and the check
// whose probe is complete the latest.
func slowestCheck(checks []watchdog.Check) (failures int, slowest watchdog.Check) {
	for _, c := range checks {
		failures = max(failures, c.Failures)
		if c.Interval+c.Timeout > slowest.Interval+slowest.Timeout {
			slowest = c
		}
	}
	return failures, slowest
}

// hang bounds a hang that every live check can see, by the slowest of those
// that stop the service. A probe that began just before the hang may still
// pass; from the next on all fail.
func hang(p Policy) Hang {
	var h Hang
	for _, c := range p.Live.Checks {
		answer := c.OnUnhealthy
		if answer == watchdog.Inherit {
			answer = p.Live.OnUnhealthy
		}
		notice := noticeTime(c)
		switch answer {
		case watchdog.Drain:
			h.Gone = max(h.Gone, notice+unhealthyStop(p))
		case watchdog.Abort:
			h.Gone = max(h.Gone, notice+abortWait+p.Drain.KillWait)
		default:
			continue
		}
		h.Notice = max(h.Notice, notice)
	}
	return h
}

// noticeTime is the longest that a check takes to reach its threshold.
func noticeTime(c watchdog.Check) time.Duration {
	failures := time.Duration(c.Failures)
	if c.Kind == watchdog.Notify { // counts each timeout's silence of the service
		return failures * c.Timeout
	}
	return failures*c.Interval + c.Timeout
}

// unhealthyStop is the longest that a stop because of health takes: the hook
// and the steps, without the delay.
func unhealthyStop(p Policy) time.Duration { return p.Drain.Budget() - p.Drain.Delay }

// watchdogWarnings tell of services that stay down after a watchdog's abort:
// Restart= has no such case (systemd.service(5)), and the abort ends svcrun by
// a signal, which RestartForceExitStatus= does not name.
func watchdogWarnings(p Policy) []Warning {
	beats := len(p.Live.Checks) > 0 || p.Watchdog == WatchdogWrapper
	if !beats || p.Restart.When != "on-success" && p.Restart.When != "on-abort" {
		return nil
	}
	return []Warning{{Position: p.where("restart.when"), Message: "restart.when " + p.Restart.When +
		" does not start the service again after the watchdog has aborted it; on-failure and always do"}}
}
