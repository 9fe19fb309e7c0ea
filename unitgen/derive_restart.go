package unitgen

import (
	"fmt"
	"strconv"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// Restarts is how a target's manager restarts the service.
type Restarts struct {
	Ladder policy.Ladder // what the manager does
	Why    string        // why it is flat although the policy has a ladder; "" if it is not
	Limit  policy.Limit  // the zero Limit for never
	Run    time.Duration // of each run, for which a derived window has room
}

// The least that keeps a service which fails for ever from wearing out the
// machine; below, there is a warning.
const (
	leastFlat = 10 * time.Second
	leastCap  = 30 * time.Second
)

// deriveRestarts computes ladder and start limit.
func deriveRestarts(p Policy, t Target, h Hang) (Restarts, []Warning, error) {
	r := Restarts{Ladder: p.Restart.Ladder}
	if !r.Ladder.Grows() {
		r.Ladder = policy.Flat(r.Ladder.Base)
	}
	if p.Restart.When == never {
		return r, nil, nil
	}
	wanted := r.Ladder
	starts := limitStarts(p.Restart)
	if wanted.Grows() && !t.Can(restartLadder) {
		delay, why := wanted.Flattened(policy.Limit{Starts: starts, Within: syntax.Infinity})
		r.Ladder, r.Why = policy.Flat(delay), why
	}
	if err := r.setLimit(p, starts, h); err != nil {
		return r, nil, err
	}
	return r, r.warnings(p, t, wanted), nil
}

// limitStarts is how many starts the policy allows, 0 for any number.
func limitStarts(restart Restart) int {
	if restart.GiveUp.After > 0 {
		return restart.Ladder.StartsIn(restart.GiveUp.After)
	}
	return restart.GiveUp.Starts
}

// setLimit sets the start limit, and makes sure that it can be reached.
func (r *Restarts) setLimit(p Policy, starts int, h Hang) error {
	giveUp := p.Restart.GiveUp
	smallest := roundUp(r.Ladder.SmallestWithin(starts), time.Second)
	switch {
	case giveUp.Never():
		return nil
	case giveUp.After > 0 && giveUp.After < r.Ladder.Base:
		return p.errorAt("restart.give_up.after", "restart.give_up.after %s is over before the first restart, which waits %s; write at least %s",
			syntax.FormatDuration(giveUp.After), syntax.FormatDuration(r.Ladder.Base), syntax.FormatDuration(r.Ladder.Base))
	case starts > maxStarts:
		return p.errorAt("restart.give_up", "restart.give_up: the ladder makes more than %d starts in that time; raise base or cap, or write give_up: never", maxStarts)
	case giveUp.Within == 0:
		r.Run = p.Ready.StartTimeout + max(h.Gone, p.Drain.StepsBudget())
		within := r.Ladder.SmallestWithin(starts) + time.Duration(starts)*r.Run
		r.Limit = policy.Limit{Starts: starts, Within: roundUp(within, time.Second)}
	case giveUp.Within < r.Ladder.SmallestWithin(starts):
		return p.errorAt("restart.give_up.within", "restart.give_up.within %s may never be reached: the first %s %s, and each of systemd's timers may be %s late; write %s or more",
			syntax.FormatDuration(giveUp.Within), restartsWait(starts), about(r.Ladder.Sum(starts)), about(policy.TimerSlack), syntax.FormatDuration(smallest))
	default:
		r.Limit = policy.Limit{Starts: starts, Within: giveUp.Within}
	}
	return nil
}

// restartsWait is "restart waits" or "5 restarts wait".
func restartsWait(n int) string {
	if n == 1 {
		return "restart waits"
	}
	return strconv.Itoa(n) + " restarts wait"
}

// warnings tell what the target lacks, and of loops that never end.
func (r Restarts) warnings(p Policy, t Target, wanted policy.Ladder) []Warning {
	var warnings []Warning
	if r.Why != "" {
		warnings = append(warnings, Warning{Message: fmt.Sprintf(
			"%s has no restart ladder: restarts wait a flat %s, %s; lost is the ladder %s",
			t, about(r.Ladder.Base), r.Why, ladderText(wanted))})
	}
	switch {
	case r.Limit.Enabled():
	case r.Ladder.Grows() && r.Ladder.Longest() < leastCap:
		warnings = append(warnings, Warning{p.where("restart.cap", "restart"), fmt.Sprintf(
			"a service that never gives up restarts every %s for ever when it is broken; raise restart.cap to %s or more, or set restart.give_up",
			about(r.Ladder.Longest()), about(leastCap))})
	case !r.Ladder.Grows() && r.Ladder.Base < leastFlat:
		warnings = append(warnings, Warning{p.where("restart.base", "restart.cap", "restart"), fmt.Sprintf(
			"a service that never gives up restarts every %s for ever when it is broken; let cap exceed base, or set restart.give_up",
			about(r.Ladder.Base))})
	}
	return warnings
}

// errorAt is an error about a key that Read has placed.
func (p Policy) errorAt(path, format string, args ...any) error {
	return Errors{{p.where(path, "restart.give_up", "restart"), fmt.Sprintf(format, args...)}}
}
