package unitgen

import (
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// The directories that systemd makes for svcrun, beside the service's own
// (systemd.exec(5)). %N is the unit's name without .service.
const (
	ownDirectory = "svckit/%N"
	runtimeFlag  = "--runtime-dir=%t/" + ownDirectory
	stateFlag    = "--state-dir=%S/" + ownDirectory
)

// flags are those that a policy needs, in the order of svcrun(1). What is
// svcrun's default is left out: the unit shows what is special about it.
func flags(p Policy, r Restarts) []string {
	var out []string
	add := func(name, value string) { out = append(out, "--"+name+"="+value) }
	span := func(name string, d, byDefault time.Duration) {
		if d != byDefault {
			add(name, compact(d))
		}
	}
	for _, check := range p.Ready.Checks {
		add("ready", check.String())
	}
	for _, check := range p.Live.Checks {
		add("live", check.String())
	}
	if p.Live.OnUnhealthy != watchdog.Drain {
		add("on-unhealthy", string(p.Live.OnUnhealthy))
	}
	span("start-timeout", p.Ready.StartTimeout, defaultStartTimeout)
	if len(p.Reload.Command) > 0 {
		add("reload-exec", syntax.QuoteCommand(p.Reload.Command))
	} else if p.Reload.Signal != syntax.SIGHUP {
		add("reload-signal", p.Reload.Signal.Name())
	}
	span("reload-timeout", p.Reload.Timeout, defaultReloadTime)
	if p.EarlyExit != EarlyExitFail {
		add("early-exit", string(p.EarlyExit))
	}
	plain := drain.Default()
	if len(p.Drain.PreStop) > 0 {
		add("pre-stop", syntax.QuoteCommand(p.Drain.PreStop))
		span("pre-stop-timeout", p.Drain.PreStopTimeout, plain.PreStopTimeout)
	}
	span("drain-delay", p.Drain.Delay, plain.Delay)
	if !slices.Equal(p.Drain.Steps, plain.Steps) {
		for _, step := range p.Drain.Steps {
			add("stop", step.String())
		}
	}
	span("kill-wait", p.Drain.KillWait, plain.KillWait)
	if r.StartDelay.Enabled() {
		add("start-delay", r.StartDelay.String())
	}
	if r.SvcrunForgets() {
		add("stable-after", compact(r.Stable.After))
	}
	if words := p.Success.Words(); len(words) > 0 {
		add("success", strings.Join(words, ","))
	}
	return out
}
