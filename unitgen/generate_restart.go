package unitgen

import (
	"fmt"
	"strconv"
	"strings"

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
	s.Add("StartLimitIntervalSec", exact(limit.Within))
}

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
	wait := r.Ladder.Sum(limit.Starts)
	slack := r.Ladder.SmallestWithin(limit.Starts) - wait
	switch {
	case giveUp.Within == 0:
		text += fmt.Sprintf("\nThe window: %s of waiting, %s for late timers, and %d runs of %s at most (start timeout, then a hang or a stop).",
			about(wait), about(slack), limit.Starts, about(r.Run))
	case limit.Within != syntax.Infinity:
		text += fmt.Sprintf("\nThe waits until then are %s, late timers add up to %s; %s are left for the runs.",
			about(wait), about(slack), about(limit.Within-wait-slack))
	}
	return text
}

// restart writes when systemd starts the service again, and after what wait.
func (w *writer) restart(s *unit.Section) {
	p, r := w.policy, w.derived.Restarts
	s.Add("Restart", unit.Value(p.Restart.When))
	if p.Restart.When != never {
		s.Comment(w.ladderComment())
		s.Add("RestartSec", exact(r.Ladder.Base))
		if r.Ladder.Grows() {
			s.Add("RestartSteps", unit.Value(strconv.Itoa(r.Ladder.Steps)))
			s.Add("RestartMaxDelaySec", exact(r.Ladder.Cap))
		}
		s.Comment("svcrun exits 69 after it stopped an unhealthy service, 70 after one that was not ready in time.")
		s.Add("RestartForceExitStatus", "69 70")
	}
	if words := p.Success.Words(); len(words) > 0 {
		s.Add("SuccessExitStatus", unit.Value(strings.Join(words, " ")))
	}
}

// ladderComment explains the waits, and what the target cannot do.
func (w *writer) ladderComment() string {
	p, r := w.policy.Restart, w.derived.Restarts
	late := fmt.Sprintf("; each timer may be %s late.", about(policy.TimerSlack))
	switch {
	case r.Why != "":
		return fmt.Sprintf("Restarts wait %s, %s%s\n%s has no RestartSteps=; the policy's ladder is %s.",
			about(r.Ladder.Base), r.Why, late, w.target, ladderText(p.Ladder))
	case !r.Ladder.Grows():
		return fmt.Sprintf("Restarts wait %s each%s", about(r.Ladder.Base), late)
	case p.Factor != 0:
		return fmt.Sprintf("Restarts wait %s (base %s, cap %s, factor %s)%s",
			ladderText(r.Ladder), about(r.Ladder.Base), about(r.Ladder.Cap), p.Factor, late)
	}
	return fmt.Sprintf("Restarts wait %s (base %s, cap %s, %s)%s",
		ladderText(r.Ladder), about(r.Ladder.Base), about(r.Ladder.Cap), plural(r.Ladder.Steps, "step"), late)
}

// happen is "1 start happens" or "5 starts happen".
func happen(starts int) string {
	if starts == 1 {
		return "1 start happens"
	}
	return strconv.Itoa(starts) + " starts happen"
}
