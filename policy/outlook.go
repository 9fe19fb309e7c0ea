package policy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// Odds is whether a start limit ends a series of equal runs. Between the sure
// answers lie the limits that late timers and jitter decide about.
type Odds int

// The odds.
const (
	NeverTrips Odds = iota
	MayTrip
	Trips
)

// Outlook is what becomes of a service whose every run is like the other.
type Outlook struct {
	Odds Odds
	// Start is the one that the limit refuses, or that is the first that it
	// may; 0 where no start can be refused. It comes at Earliest if no timer is
	// late and jitter draws the least, and at Latest if all of that is the most.
	Start            int
	Earliest, Latest time.Duration
	Why              string // a clause
}

// Outlook says whether the start limit trips when all runs are like this one.
//
// No window after the first can do what the first cannot: the waits never get
// shorter. So the limit trips for sure if Start comes within the window at the
// latest, and never does if it does not at the earliest. A storm's pauses may
// or may not be there, as the score depends on the waits: at the earliest
// there are none, at the latest all that the number of failures allows.
func (r Restarts) Outlook(run Run) Outlook {
	decision := r.Rules.Decide(run.End)
	switch {
	case !r.Limit.Enabled():
		return Outlook{Why: Unlimited.String()}
	case !decision.Restart:
		return Outlook{Why: "no restart: " + decision.Why}
	case r.Stable.Forget == ResetFailed && r.Stable.After > 0 && run.Lasts >= r.Stable.After:
		return Outlook{Why: fmt.Sprintf("each run lasts the %s after which reset-failed empties the window", about(r.Stable.After))}
	}
	earliest, latest := r.comes(r.Limit.Starts+1, run)
	o := Outlook{Odds: MayTrip, Start: r.Limit.Starts + 1, Earliest: earliest, Latest: latest}
	restarts, window := restartsTake(r.Limit.Starts), about(r.Limit.Within)
	switch {
	case earliest == syntax.Infinity:
		return Outlook{Why: "the manager waits for ever before a restart"}
	case earliest > r.Limit.Within:
		o.Odds, o.Start = NeverTrips, 0
		o.Why = fmt.Sprintf("%s %s at least, more than the window of %s", restarts, about(earliest), window)
	case latest <= r.Limit.Within:
		o.Odds = Trips
		o.Why = fmt.Sprintf("%s %s at most, within the window of %s", restarts, about(latest), window)
	default:
		o.Why = fmt.Sprintf("%s %s to %s, the window is %s: late timers and jitter decide", restarts, about(earliest), about(latest), window)
	}
	return o
}

// restartsTake is "1 restart takes" or "5 restarts take".
func restartsTake(n int) string {
	if n == 1 {
		return "1 restart takes"
	}
	return strconv.Itoa(n) + " restarts take"
}

// comes is when a start comes at the earliest and at the latest, if no limit
// refuses one before it.
func (r Restarts) comes(start int, run Run) (earliest, latest time.Duration) {
	pauses, storm := 0, r.StartDelay.Storm
	if storm.Enabled() {
		// The pause before this very start is not over before its attempt.
		pauses = (start - 2) / storm.Failures
	}
	pause := r.StartDelay.Jitter.longest(storm.Pause)
	r.Limit, r.StartDelay.Storm = Never(), Storm{}
	earliest = r.attempt(start, run, Conditions{Least, Least})
	latest = r.attempt(start, run, Conditions{Most, Most})
	return earliest, add(latest, times(pauses, pause))
}

// attempt is when one start is attempted, if there are no storms; never, if the
// service parks before. When the waits have stopped to grow, one cycle is like
// the next, so that no number is too high to be reckoned.
func (r Restarts) attempt(number int, run Run, c Conditions) time.Duration {
	settled := max(r.Ladder.Steps, r.StartDelay.Ladder.Steps) + 3
	before := time.Duration(0)
	for start := range r.Simulate(Always(run), c) {
		switch {
		case start.Number == number:
			return start.At
		case start.Number > settled:
			return add(start.At, times(number-start.Number, start.At-before))
		}
		before = start.At
	}
	return syntax.Infinity
}
