package unitgen

import (
	"fmt"
	"strings"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/unitgen/unit"
)

// timeouts writes the manager's time limits. svcrun keeps to its own, which
// are shorter; the manager's are for the day when svcrun itself fails.
func (w *writer) timeouts(s *unit.Section) {
	p, d := w.policy, w.derived
	kill := fmt.Sprintf("2 x %s for SIGKILL", about(p.Drain.KillWait))
	steps := stepsText(p.Drain)
	start := fmt.Sprintf("Start timeout %s, then to stop what did not start: %s, %s; and %s to spare.",
		about(p.Ready.StartTimeout), steps, kill, about(margin))
	if delay := d.Restarts.StartDelay.Longest(); delay > 0 {
		start = fmt.Sprintf("The longest that svcrun holds a start back: %s.\n%s", atMost(delay), start)
	}
	if p.Reload.Wanted && d.Start == p.Reload.Timeout+margin {
		start = fmt.Sprintf("A reload, to which the same limit applies: %s; and %s to spare.", about(p.Reload.Timeout), about(margin))
	}
	s.Comment(start)
	s.Add("TimeoutStartSec", exact(d.Start))

	var before string
	if len(p.Drain.PreStop) > 0 {
		before = fmt.Sprintf("hook %s, ", about(p.Drain.PreStopTimeout))
	}
	if p.Drain.Delay > 0 {
		before += fmt.Sprintf("delay %s, ", about(p.Drain.Delay))
	}
	s.Comment(fmt.Sprintf("A stop takes %s at most (%s%s, %s); and %s to spare.",
		atMost(p.Drain.Budget()), before, steps, kill, about(margin)))
	s.Add("TimeoutStopSec", exact(d.Stop))

	w.add(s, "TimeoutAbortSec", exact(d.Abort), fmt.Sprintf("After the watchdog's SIGABRT: %s for a core, %s for SIGKILL; and %s to spare.",
		about(abortWait), about(p.Drain.KillWait), about(margin)))
	if d.Watchdog > 0 {
		s.Comment(w.watchdogComment())
		s.Add("WatchdogSec", exact(d.Watchdog))
	}
}

// stepsText is the steps of a drain: "TERM 30s, INT 5s".
func stepsText(plan drain.Plan) string {
	var steps []string
	for _, step := range plan.Steps {
		steps = append(steps, step.Signal.Name()+" "+about(step.Wait))
	}
	return strings.Join(steps, ", ")
}

// watchdogComment says how soon a hang ends, and how WatchdogSec= came about.
func (w *writer) watchdogComment() string {
	if len(w.policy.Live.Checks) == 0 {
		return fmt.Sprintf("watchdog: wrapper: svcrun shows every %s that it lives itself, which says nothing of the service.", about(w.derived.Watchdog/2))
	}
	failures, slowest := slowestCheck(w.policy.Live.Checks)
	return w.hangText() + fmt.Sprintf("\nsvcrun's own hang is noticed by systemd: (%s + 1) x (interval %s + timeout %s), so that the checks decide first.",
		plural(failures, "failure"), about(slowest.Interval), about(slowest.Timeout))
}

// hangText bounds a hang, in the numbers of the policy.
func (w *writer) hangText() string {
	h := w.derived.Hang
	var answer string
	switch {
	case h.Notice == 0:
		return "A hang is reported in the unit's status only: no live check stops the service."
	case w.policy.Restart.When == never:
		answer = "no restart follows, as restart.when is no"
	case h.First == h.Last:
		answer = fmt.Sprintf("the restart follows within %s", atMost(h.First))
	default:
		answer = fmt.Sprintf("the restart follows within %s (%s at the end of the ladder)", atMost(h.First), atMost(h.Last))
	}
	return fmt.Sprintf("A hang is noticed and the stop begins within %s, %s.", atMost(h.Notice), answer)
}

// stop writes who is signalled when: svcrun walks the steps, and systemd
// kills what svcrun left.
func (w *writer) stop(s *unit.Section) {
	s.Comment("A stop signals svcrun alone, which walks the steps; what is left when it ends is killed.")
	s.Add("KillMode", "mixed")
	s.Add("KillSignal", "SIGTERM")
	s.Add("SendSIGKILL", "yes")
	w.add(s, "OOMPolicy", "stop", "Half a service is no service: when the kernel kills a part of it for memory, the rest is stopped.")
}
