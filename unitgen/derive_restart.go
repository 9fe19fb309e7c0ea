package unitgen

import (
	"fmt"
	"strconv"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// Restarts is how a target's manager and svcrun restart the service. Ladder is
// the manager's part, StartDelay svcrun's, and the zero Limit gives never up.
type Restarts struct {
	policy.Restarts
	Waits policy.Ladder // what both together wait after failures in a row
	Run   time.Duration // of each run, for which a derived window has room
}

// SvcrunForgets says whether svcrun is told when earlier failures are to be
// forgotten: by itself, or by the manager.
func (r Restarts) SvcrunForgets() bool {
	return r.Stable.After > 0 && (r.Stable.Forget == policy.RestartReset || r.StartDelay.Enabled())
}

// Settles says whether the manager has to be made to forget earlier failures
// from outside.
func (r Restarts) Settles() bool { return r.Stable.Forget == policy.ResetFailed }

// waitAtMost bounds the wait before restart k of a series, on timers that are
// not late, without the pause of a storm.
func (r Restarts) waitAtMost(k int) time.Duration {
	held := policy.StartDelay{Ladder: policy.Flat(r.StartDelay.Ladder.Delay(k)), Jitter: r.StartDelay.Jitter}
	return max(r.Ladder.Delay(k)+r.Randomized, held.Longest())
}

// deriveRestarts shares the restarts out between the manager and svcrun, and
// computes the start limit.
func deriveRestarts(p Policy, t Target, h Hang) (Restarts, []Warning, error) {
	r := Restarts{Waits: p.Restart.Ladder}
	if !r.Waits.Grows() {
		r.Waits = policy.Flat(r.Waits.Base)
	}
	r.Ladder, r.Rules = r.Waits, rules(p, t)
	if p.Restart.When == never {
		return r, nil, nil
	}
	r.share(p.Restart, t)
	r.stable(p.Restart, t)
	if err := r.setLimit(p, h); err != nil {
		return r, nil, err
	}
	return r, r.warnings(p, t), nil
}

// rules are what the unit says of whether the service is started again.
func rules(p Policy, t Target) policy.Rules {
	rules := policy.Rules{
		Restart: policy.Restart(p.Restart.When),
		Prevent: policy.Statuses(p.Restart.NeverOn),
		Success: policy.Statuses(p.Success),
		Systemd: t.Systemd,
	}
	if p.Restart.When != never {
		rules.Force.Codes = unhealthyCodes
	}
	return rules
}

// managersLeast is what is left to the manager of a wait that svcrun does: not
// nothing, or a command that fails before svcrun starts would be a hot loop.
const managersLeast = 100 * time.Millisecond

// share decides who waits. svcrun does what the manager cannot: a ladder
// before 254; jitter, but for the one number that RestartRandomizedDelaySec=
// adds to every wait, which is a quarter of a wait that never grows; a random
// part of a wait; and the pause of a storm. What the manager has waited counts
// for svcrun.
func (r *Restarts) share(restart Restart, t Target) {
	quarter := restart.Jitter == policy.QuarterJitter
	r.StartDelay.Storm = restart.Storm
	if restart.Storm.Enabled() {
		r.StartDelay.Jitter = restart.Jitter
	}
	switch {
	case restart.Jitter == policy.FullJitter || r.Waits.Grows() && !t.Can(restartLadder):
		r.Ladder = policy.Flat(min(managersLeast, r.Waits.Base))
		if restart.afterSuccess() {
			r.Ladder = policy.Flat(r.Waits.Base)
		}
		r.StartDelay.Ladder, r.StartDelay.Jitter = r.Waits, restart.Jitter
	case quarter && !r.Waits.Grows() && t.Can(restartJitter):
		r.Randomized = (r.Waits.Base / 4).Truncate(time.Microsecond)
	case quarter:
		r.StartDelay.Ladder, r.StartDelay.Jitter = r.Waits, restart.Jitter
	}
}

// afterSuccess says whether a clean end is followed by a restart. svcrun waits
// after failures only, so that all such a restart waits is the manager's part.
func (r Restart) afterSuccess() bool {
	return r.When == string(policy.RestartAlways) || r.When == string(policy.RestartOnSuccess)
}

// stable decides who makes the manager forget failures before a long run, if
// there is anything that it remembers.
func (r *Restarts) stable(restart Restart, t Target) {
	r.Stable.After = restart.StableAfter
	switch {
	case r.Stable.After == 0:
	case t.Can(forgetting):
		r.Stable.Forget = policy.RestartReset
	case r.Ladder.Grows():
		r.Stable.Forget = policy.ResetFailed
	}
}

// preparing is the longest that the commands of start_pre take: to each of
// them TimeoutStartSec= applies anew.
func (r Restarts) preparing(p Policy) time.Duration {
	return time.Duration(len(p.StartPre)) * r.startLimit(p)
}

// startLimit is TimeoutStartSec= but for reloads: the longest that svcrun holds
// a start back, and that the start and the stop after it take.
func (r Restarts) startLimit(p Policy) time.Duration {
	return r.StartDelay.Longest() + p.Ready.StartTimeout + p.Drain.StepsBudget() + margin
}

// setLimit sets the start limit, and makes sure that it can be reached.
func (r *Restarts) setLimit(p Policy, h Hang) error {
	giveUp := p.Restart.GiveUp
	if giveUp.Never() {
		return nil
	}
	if giveUp.After > 0 && giveUp.After < r.Waits.Base {
		return p.errorAt("restart.give_up.after", "restart.give_up.after %s is over before the first restart, which waits %s; write at least %s",
			syntax.FormatDuration(giveUp.After), syntax.FormatDuration(r.Waits.Base), syntax.FormatDuration(r.Waits.Base))
	}
	starts := giveUp.Starts
	if giveUp.After > 0 {
		starts = r.startsIn(giveUp.After)
	}
	if starts > maxStarts {
		return p.errorAt("restart.give_up", "restart.give_up: the ladder makes more than %d starts in that time; raise base or cap, or write give_up: never", maxStarts)
	}
	earliest, smallest := r.waiting(starts)
	r.Limit = policy.Limit{Starts: starts, Within: giveUp.Within}
	switch {
	case giveUp.Within == 0:
		r.Run = r.preparing(p) + p.Ready.StartTimeout + max(h.Gone, p.Drain.StepsBudget())
		r.Limit.Within = roundUp(smallest+time.Duration(starts)*r.Run, time.Second)
	case giveUp.Within < smallest:
		return p.errorAt("restart.give_up.within", "restart.give_up.within %s may never be reached: the first %s %s, and each of systemd's timers may be %s late; write %s or more",
			syntax.FormatDuration(giveUp.Within), restartsWait(starts), about(earliest), about(policy.TimerSlack),
			syntax.FormatDuration(roundUp(smallest, time.Second)))
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

// errorAt is an error about a key that Read has placed.
func (p Policy) errorAt(path, format string, args ...any) error {
	return Errors{{p.where(path, "restart.give_up", "restart"), fmt.Sprintf(format, args...)}}
}
