package unitgen

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen/unit"
)

// startLimit writes when systemd gives up.
func (w *writer) startLimit(s *unit.Section) {
	limit := w.derived.Restarts.Limit
	if !limit.Enabled() {
		s.Comment("restart.give_up is never: no start is ever refused.")
		s.Add("StartLimitIntervalSec", "0")
		return
	}
	s.Comment(w.limitText())
	s.Add("StartLimitBurst", unit.Value(strconv.Itoa(limit.Starts)))
	within := limit.Within
	if within == syntax.Infinity && !w.target.Can(endlessWindow) {
		within = tenYears
		w.replaces(s, "window without end (before 247 an infinite one switches the start limit off)", "it is ten years")
	}
	s.Add("StartLimitIntervalSec", exact(within))
}

// tenYears is a window without end for a manager that cannot have one.
const tenYears = 10 * 365 * 24 * time.Hour

// limitText explains the start limit.
func (w *writer) limitText() string {
	r := w.derived.Restarts
	limit, giveUp := r.Limit, w.policy.Restart.GiveUp
	text := fmt.Sprintf("Gives up: %s within %s, start %d is refused.", happen(limit.Starts), exact(limit.Within), limit.Starts+1)
	if limit.Within == syntax.Infinity {
		text = fmt.Sprintf("Gives up: %s, however long it takes, start %d is refused.", happen(limit.Starts), limit.Starts+1)
	}
	if giveUp.After > 0 {
		text += fmt.Sprintf("\nThe ladder makes %s in restart.give_up.after, %s, when the service fails at once.",
			plural(limit.Starts, "start"), exact(giveUp.After))
	}
	wait, latest := r.waiting(limit.Starts)
	slack := latest - wait
	of := "late timers"
	if r.Randomized > 0 || r.StartDelay.Jitter != policy.NoJitter || r.StartDelay.Storm.Enabled() {
		of = "late timers and chance"
	}
	run := "start timeout"
	if len(w.policy.StartPre) > 0 {
		run = "start_pre, start timeout"
	}
	switch {
	case giveUp.Within == 0:
		text += fmt.Sprintf("\nThe window: %s of waiting, %s for %s, and %d runs of %s at most (%s, then a hang or a stop).",
			about(wait), about(slack), of, limit.Starts, about(r.Run), run)
	case limit.Within != syntax.Infinity:
		text += fmt.Sprintf("\nThe waits until then are %s, %s add up to %s; %s are left for the runs.",
			about(wait), of, about(slack), about(limit.Within-wait-slack))
	}
	return text
}

// restart writes when the service is started again, after what wait, and when
// its failures are forgotten.
func (w *writer) restart(s *unit.Section) {
	restart := w.policy.Restart
	s.Add("Restart", unit.Value(restart.When))
	if restart.When != never {
		w.waits(s)
		s.Comment("svcrun exits 69 after it stopped an unhealthy service, 70 after one that was not ready in time.")
		s.Add("RestartForceExitStatus", "69 70")
		if words := restart.NeverOn.Words(); len(words) > 0 {
			s.Comment("restart.never_on: what ends so stays down.")
			s.Add("RestartPreventExitStatus", unit.Value(strings.Join(words, " ")))
		}
	}
	if words := w.policy.Success.Words(); len(words) > 0 {
		s.Add("SuccessExitStatus", unit.Value(strings.Join(words, " ")))
	}
	if restart.When != never {
		w.forgetting(s)
	}
}

// waits writes the waits between restarts: the manager's part as directives,
// svcrun's as a comment on its flag.
func (w *writer) waits(s *unit.Section) {
	r := w.derived.Restarts
	s.Comment(w.waitsText())
	w.share(s)
	s.Add("RestartSec", exact(r.Ladder.Base))
	if r.Ladder.Grows() {
		s.Add("RestartSteps", unit.Value(strconv.Itoa(r.Ladder.Steps)))
		s.Add("RestartMaxDelaySec", exact(r.Ladder.Cap))
	}
	if r.Randomized > 0 {
		s.Add("RestartRandomizedDelaySec", exact(r.Randomized))
	}
}

// waitsText tells the waits, whoever does them.
func (w *writer) waitsText() string {
	restart, waits := w.policy.Restart, w.derived.Restarts.Waits
	how := ""
	switch {
	case !waits.Grows():
	case restart.Factor != 0:
		how = fmt.Sprintf(" (base %s, cap %s, factor %s)", about(waits.Base), about(waits.Cap), restart.Factor)
	default:
		how = fmt.Sprintf(" (base %s, cap %s, %s)", about(waits.Base), about(waits.Cap), plural(waits.Steps, "step"))
	}
	text := "Restarts wait " + ladderText(waits) + how
	switch restart.Jitter {
	case policy.QuarterJitter:
		text += ", up to a quarter longer by chance"
	case policy.FullJitter:
		least := "nothing"
		if restart.afterSuccess() {
			least = about(w.derived.Restarts.Ladder.Base)
		}
		text += ", by chance anything from " + least + " to that"
	case policy.NoJitter:
	}
	text += fmt.Sprintf("; each timer may be %s late.", about(policy.TimerSlack))
	if storm := restart.Storm; storm.Enabled() {
		text += fmt.Sprintf("\nIn a storm svcrun pauses for %s more: when the failures, each worth half after %s, add up to more than %d.",
			about(storm.Pause), about(storm.HalfLife), storm.Failures-1)
	}
	return text
}

// share tells what of the waits svcrun does, and why.
func (w *writer) share(s *unit.Section) {
	restart, r := w.policy.Restart, w.derived.Restarts
	const bySvcrun = "by --start-delay, and RestartSec= is a part of what it waits"
	switch {
	case r.StartDelay.Ladder.Longest() == 0:
	case restart.Jitter == policy.FullJitter:
		s.Comment("No systemd draws a part of a wait: svcrun does the waiting, " + bySvcrun + ".")
	case r.Waits.Grows() && !w.target.Can(restartLadder):
		w.replaces(s, "RestartSteps=", "svcrun does the waiting, "+bySvcrun)
	case !w.target.Can(restartJitter):
		w.replaces(s, "RestartRandomizedDelaySec=", "svcrun adds the jitter, by --start-delay")
	default:
		s.Comment("svcrun adds the jitter, by --start-delay: a quarter of a wait that grows is no one number for RestartRandomizedDelaySec=.")
	}
	if r.Waits.Grows() && !r.Ladder.Grows() && restart.afterSuccess() {
		w.loses(s, fmt.Sprintf("svcrun waits after failures only: after a clean end the restart comes after %s, however often", about(r.Ladder.Base)))
	}
}

// forgetting writes who forgets the failures before a long run.
func (w *writer) forgetting(s *unit.Section) {
	r := w.derived.Restarts
	after := about(r.Stable.After)
	switch {
	case r.Settles():
		timer := w.policy.settleName() + ".timer"
		w.replaces(s, "RESTART_RESET=1", fmt.Sprintf("%s makes it forget the failures of a service that is up for %s", timer, after))
		s.Comment("That empties the start limit's window as well.")
		s.Add("ExecStartPost", w.policy.settleCommand())
	case r.Stable.Forget == policy.RestartReset:
		s.Comment(fmt.Sprintf("After %s of health svcrun has the failures before it forgotten (--stable-after); the start limit counts on.", after))
	case r.SvcrunForgets():
		s.Comment(fmt.Sprintf("After %s of health svcrun forgets the failures before it (--stable-after); the start limit counts on.", after))
	}
}

// happen is "1 start happens" or "5 starts happen".
func happen(starts int) string {
	if starts == 1 {
		return "1 start happens"
	}
	return strconv.Itoa(starts) + " starts happen"
}
