package policy

import (
	"math"
	"strconv"
	"time"
)

// Series is what is remembered of failed runs from one to the next. The zero
// Series has nothing to remember: it is what a clean end, a requested stop,
// stable health for long enough, or a request to forget leaves behind.
//
// Its moments are of one monotonic clock, which the caller chooses, and which
// must outlive the runs. Integers all through: it survives JSON unchanged.
type Series struct {
	Failures int           `json:"failures"`               // failed runs in a row
	EndedAt  time.Duration `json:"ended_at_nsec"`          // when the last of them ended
	Score    Score         `json:"storm_score_trillionth"` // the storm's score at that moment
}

// maxFailures bounds the failures in a row; no ladder has so many steps.
const maxFailures = math.MaxInt32

// Failed is the Series after one more failed run, that ended at a moment.
func (s Series) Failed(at time.Duration, storm Storm) Series {
	s = s.sane()
	score := Score(0)
	if storm.Enabled() {
		score = min(maxScore, s.Score.after(elapsed(s.EndedAt, at), storm.HalfLife)+whole(1))
	}
	return Series{Failures: min(maxFailures, s.Failures+1), EndedAt: at, Score: score}
}

// sane is the Series without what no run can have left, but a damaged file or
// a careless hand can.
func (s Series) sane() Series {
	s.Failures = min(maxFailures, max(0, s.Failures))
	s.Score = min(maxScore, max(0, s.Score))
	return s
}

// Score counts failures that fade, in trillionths. It is rounded down, so
// that a score which only comes ever nearer to a threshold never goes above it;
// what is lost of one that does is so fine a count that to round has the effect
// of failures less than a microsecond apart from where they were.
type Score int64

// maxStormFailures bounds a storm's threshold, and maxScore what is counted:
// a float64 still has whole trillionths there.
const maxStormFailures = 1000

const maxScore Score = (maxStormFailures + 1) * trillion

const trillion = 1_000_000_000_000

// whole is the score of so many failures at once.
func whole(failures int) Score { return Score(failures) * trillion }

// after is what is left of the score when some time has passed.
func (s Score) after(passed, halfLife time.Duration) Score {
	left := math.Exp2(-float64(passed) / float64(halfLife))
	return Score(float64(s) * left)
}

// String is the score in failures, to two digits and rounded down as it is.
func (s Score) String() string {
	hundredths := int64(s / (trillion / 100))
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64)
}
