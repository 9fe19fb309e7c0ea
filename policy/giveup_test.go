package policy

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
)

// firstRefused runs a service that fails at once and returns the number of
// the start that is refused, or 0 if none of the first limit is. late is how
// late each of the manager's timers fires.
func firstRefused(l Ladder, limit Limit, late time.Duration, starts int) int {
	var w Window
	var at time.Duration
	for start := 1; start <= starts; start++ {
		var v Verdict
		if w, v = w.Attempt(limit, at); !v.Allowed() {
			return start
		}
		at += l.Delay(start) + late
	}
	return 0
}

func TestSmallestWithinIsReachedHoweverLateTheTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ladders(t)
		starts := rapid.IntRange(1, 40).Draw(t, "starts")
		late := usec(rapid.Int64Range(0, TimerSlack.Microseconds()).Draw(t, "late"))
		limit := Limit{starts, l.SmallestWithin(starts)}
		if got := firstRefused(l, limit, late, starts+1); got != starts+1 {
			t.Fatalf("start %d is refused, want %d", got, starts+1)
		}
	})
}

func TestSmallerWithinIsMissedByLateTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ladders(t)
		starts := rapid.IntRange(1, 40).Draw(t, "starts")
		limit := Limit{starts, l.SmallestWithin(starts) - time.Microsecond}
		if got := firstRefused(l, limit, TimerSlack, 5*starts); got != 0 {
			t.Fatalf("start %d is refused, want none", got)
		}
	})
}

func TestStartsInCountsTheFirstStart(t *testing.T) {
	doubling := Ladder{time.Second, 8 * time.Second, 3} // starts at 0 1 3 7 15 23 31 ...
	for _, test := range []struct {
		ladder Ladder
		in     time.Duration
		want   int
	}{
		{doubling, 0, 1},
		{doubling, time.Second - 1, 1},
		{doubling, time.Second, 2},
		{doubling, 3 * time.Second, 3},
		{doubling, 7 * time.Second, 4},
		{doubling, 15*time.Second - 1, 4},
		{doubling, 15 * time.Second, 5},
		{doubling, 31 * time.Second, 7},
		{Flat(5 * time.Second), 14 * time.Second, 3},
		{Flat(0), time.Second, math.MaxInt32},
		{Flat(1), syntax.Infinity, math.MaxInt32},
	} {
		if got := test.ladder.StartsIn(test.in); got != test.want {
			t.Errorf("%+v makes %d starts in %s, want %d", test.ladder, got, test.in, test.want)
		}
	}
}

func TestStartsInIsTheReverseOfSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ladders(t)
		n := rapid.IntRange(1, 100).Draw(t, "restarts")
		if got := l.StartsIn(l.Sum(n)); got != n+1 {
			t.Fatalf("%d restarts take %s, in which there are %d starts", n, l.Sum(n), got)
		}
		if got := l.StartsIn(l.Sum(n) - time.Microsecond); got != n {
			t.Fatalf("just before restart %d there were %d starts", n, got)
		}
	})
}
