package policy

import (
	"iter"
	"math"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// Restarts is everything that decides when a service is started again, and
// when no more.
type Restarts struct {
	Rules      Rules
	Ladder     Ladder        // the manager's wait between two runs
	Randomized time.Duration // RestartRandomizedDelaySec=: less than so much is added to it (262)
	Limit      Limit
	StartDelay StartDelay // svcrun's wait, which is part of the start
	Stable     Stable
}

// Stable is what forgets failures when a run has lasted for long enough. What
// svcrun itself remembers is always among it.
type Stable struct {
	After  time.Duration // 0 for never
	Forget Forget        // what the manager forgets
}

// Forget is what the manager forgets of earlier runs.
type Forget int

// The ways to make the manager forget.
const (
	ForgetNothing Forget = iota // it knows none before 254, where svcrun has the ladder
	RestartReset                // RESTART_RESET=1 (258): the restarts counted, but not the start limit's window
	ResetFailed                 // systemctl reset-failed: the restarts counted, and the window is empty again
)

// Run is one run in the script of a simulation.
type Run struct {
	Lasts time.Duration // from the execution of the service until the last of it is gone
	End   End
}

// Conditions are what a simulation cannot know: how late the manager's timers
// are and what jitter draws. Least and Most are the ends of both.
type Conditions struct {
	Late   Random // nil for timers that are on time; up to TimerSlack otherwise
	Jitter Random // nil for the least jitter
}

// Least draws the least that there is.
func Least(int64) int64 { return 0 }

// Most draws the most that there is.
func Most(n int64) int64 { return n - 1 }

// Start is one start of a simulation: what was decided about it, when it
// happened, how it ended, and what follows from that. Its moments count from
// the first start.
type Start struct {
	Number  int           // from 1
	Restart int           // the manager's count: the place in its ladder; 0 for the first
	At      time.Duration // the manager judges the start, before svcrun holds it back
	Verdict Verdict       // all that follows is meaningful only if it allows the start
	Held    Held          // by svcrun
	Begun   time.Duration // the service is executed
	Ended   time.Duration // the last of it is gone
	Next    Decision
	Wait    time.Duration // the manager's until the next start; syntax.Infinity parks the service for good
}

// Simulate runs a script and yields its starts, until the script is over, a
// run is not followed by another, or the start limit refuses one: that one is
// yielded as the last.
func (r Restarts) Simulate(script iter.Seq[Run], c Conditions) iter.Seq[Start] {
	return func(yield func(Start) bool) {
		next := simulation{restarts: r, conditions: c.orOnTime(), at: 0}
		for run := range script {
			start, more := next.start(run)
			if !yield(start) || !more {
				return
			}
		}
	}
}

// Always is the script of a service whose every run is like the other.
func Always(run Run) iter.Seq[Run] {
	return func(yield func(Run) bool) {
		for yield(run) {
		}
	}
}

// simulation is where a script has got to.
type simulation struct {
	restarts   Restarts
	conditions Conditions

	number  int           // of the starts so far
	counted int           // restarts, by the manager
	at      time.Duration // of the next start
	window  Window
	series  Series
}

// start makes one start; more says whether another one follows.
func (s *simulation) start(run Run) (start Start, more bool) {
	s.number++
	start = Start{Number: s.number, Restart: s.counted, At: s.at}
	s.window, start.Verdict = s.window.Attempt(s.restarts.Limit, s.at)
	if !start.Verdict.Allowed() {
		return start, false
	}
	start.Held, s.series = s.restarts.StartDelay.Hold(s.series, s.at, s.conditions.Jitter)
	start.Begun = add(s.at, start.Held.Total())
	start.Ended = add(start.Begun, max(0, run.Lasts))
	if stable := s.restarts.Stable; stable.After > 0 && run.Lasts >= stable.After {
		s.forget(stable.Forget)
	}
	s.remember(run.End, start.Ended)
	if start.Next = s.restarts.Rules.Decide(run.End); !start.Next.Restart {
		return start, false
	}
	s.counted = min(math.MaxInt32, s.counted+1)
	start.Wait = s.wait()
	s.at = add(start.Ended, start.Wait)
	return start, start.Wait != syntax.Infinity
}

// forget is a run's becoming stable.
func (s *simulation) forget(what Forget) {
	s.series = Series{}
	if what == RestartReset || what == ResetFailed {
		s.counted = 0
	}
	if what == ResetFailed {
		s.window = Window{}
	}
}

// remember is svcrun's note of how a run ended.
func (s *simulation) remember(end End, at time.Duration) {
	if end.Stopped || end.Result == Success {
		s.series = Series{}
		return
	}
	s.series = s.series.Failed(at, s.restarts.StartDelay.Storm)
}

// wait is the manager's between the run that has ended and the next start.
func (s *simulation) wait() time.Duration {
	wait := s.restarts.Ladder.Delay(s.counted)
	if n := s.restarts.Randomized.Microseconds(); n > 0 {
		wait = add(wait, time.Duration(s.conditions.Jitter(n))*time.Microsecond)
	}
	return add(wait, upTo(TimerSlack, s.conditions.Late))
}

// orOnTime puts what nil stands for.
func (c Conditions) orOnTime() Conditions {
	if c.Late == nil {
		c.Late = Least
	}
	if c.Jitter == nil {
		c.Jitter = Least
	}
	return c
}
