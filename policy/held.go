package policy

import (
	"strconv"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// Held is why a start is held back, and for how long. The zero Held is not.
type Held struct {
	Pause time.Duration // for a storm of failures
	Delay time.Duration // then, what is left of Wait

	Failures  int           // in a row: the number of the restart in its series
	Wait      time.Duration // the ladder's wait, which began when the last run ended
	Jitter    Jitter        // that is in Pause and Wait
	Score     Score         // with a storm: what it had reached
	Threshold int           // and what brings the pause
}

// Total is how long the start is held back from now on.
func (h Held) Total() time.Duration { return add(h.Pause, h.Delay) }

// String says why the start is held back, as in "restart 4: 8s, of which
// 100ms have passed".
func (h Held) String() string {
	jitter := ""
	if h.Jitter != NoJitter {
		jitter = " with " + h.Jitter.String() + " jitter"
	}
	storm := "storm: failure score " + h.Score.String() + " of " + strconv.Itoa(h.Threshold) + ", pause " + about(h.Pause) + jitter
	restart := "restart " + strconv.Itoa(h.Failures) + ": " + about(h.Wait) + jitter
	switch passed := h.Wait - h.Delay; {
	case h.Wait > 0 && h.Delay == 0:
		restart += ", all of it passed"
	case passed > 0:
		restart += ", of which " + about(passed) + " have passed"
	}
	switch {
	case h.Threshold > 0 && h.Wait > 0:
		return storm + "; " + restart
	case h.Threshold > 0:
		return storm
	case h.Wait > 0:
		return restart
	}
	return "not held back"
}

// about is a wait as a person wants to read it: no microseconds but in what is
// shorter than a millisecond.
func about(d time.Duration) string {
	if d != syntax.Infinity && d >= time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return syntax.FormatDuration(d)
}
