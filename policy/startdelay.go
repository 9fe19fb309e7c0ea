package policy

import (
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// StartDelay is how svcrun holds a start back after failed runs, where the
// manager cannot. Each part may be missing: the zero Ladder waits for nothing,
// the zero Storm never pauses.
type StartDelay struct {
	Ladder Ladder // by the failures in a row, from the end of the last run on
	Jitter Jitter // of the ladder's wait and of the pause, each for itself
	Storm  Storm  // the pause comes first, then what is left of the wait
}

// Enabled says whether any start can be held back.
func (d StartDelay) Enabled() bool { return d != StartDelay{} }

// Longest is the most that a start may be held back.
func (d StartDelay) Longest() time.Duration {
	pause := time.Duration(0)
	if d.Storm.Enabled() {
		pause = d.Jitter.longest(d.Storm.Pause)
	}
	return add(pause, d.Jitter.longest(d.Ladder.Longest()))
}

// Storm is a pause after failures that come too fast. Every failed run adds 1
// to a score, which halves with each HalfLife. The pause comes with the failure
// that takes the score above Failures-1, and resets it: failures in quick
// succession bring it with the one numbered Failures, those that are spread out
// later or never. With a half-life of 30s five failures a second apart score
// 4.77, and a pause at 5 comes with the fifth.
type Storm struct {
	Failures int
	HalfLife time.Duration
	Pause    time.Duration
}

// Enabled says whether there can be a pause.
func (s Storm) Enabled() bool { return s.Failures > 0 && s.HalfLife > 0 && s.Pause > 0 }

// reached says whether the score calls for a pause.
func (s Storm) reached(score Score) bool { return s.Enabled() && score > whole(s.Failures-1) }

// Hold decides how long a start is held back, and what is to be remembered
// then. now is of the clock that the Series was told. It draws from random
// once for the pause and once for the wait, where there is jitter in them.
//
// What has passed since the last run ended counts for the wait, so the
// manager's own hold-off is part of it. A clock that went backwards counts as
// no time passed.
func (d StartDelay) Hold(s Series, now time.Duration, random Random) (Held, Series) {
	s = s.sane()
	if s.Failures == 0 {
		return Held{}, s
	}
	held := Held{Failures: s.Failures, Jitter: d.Jitter}
	if d.Storm.reached(s.Score) {
		held.Score, held.Threshold = s.Score, d.Storm.Failures
		held.Pause = d.Jitter.of(d.Storm.Pause, random)
		s.Score = 0
	}
	held.Wait = d.Jitter.of(d.Ladder.Delay(s.Failures), random)
	held.Delay = max(0, held.Wait-elapsed(s.EndedAt, now))
	return held, s
}

// elapsed is the time from one moment to a later one in whole microseconds,
// and none where they seem the other way round.
func elapsed(from, to time.Duration) time.Duration {
	switch {
	case to <= from:
		return 0
	case from < 0 && to > from+syntax.Infinity:
		return syntax.Infinity
	}
	return microseconds(to - from)
}
