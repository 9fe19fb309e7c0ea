package policy

import (
	"math"
	"time"
)

// SmallestWithin is the shortest window in which a service that fails at once
// is sure to use up so many starts, although each of the manager's timers may
// be late. A shorter one may be over before the limit is reached, time after
// time. The time that the service runs before each failure comes on top.
func (l Ladder) SmallestWithin(starts int) time.Duration {
	return add(l.Sum(starts), times(starts, TimerSlack))
}

// StartsIn is how many starts the ladder makes in d, the first at 0, when the
// service fails at once and no timer is late.
func (l Ladder) StartsIn(d time.Duration) int {
	starts, left := 1, d
	for k := 1; k <= l.Steps; k++ {
		if left < l.Delay(k) {
			return starts
		}
		left -= l.Delay(k)
		starts++
	}
	if l.Longest() == 0 {
		return math.MaxInt32
	}
	return int(min(math.MaxInt32, time.Duration(starts)+left/l.Longest()))
}
