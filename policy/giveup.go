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

// hotDelay is the shortest flat delay for a service that is restarted for
// ever: at 1 s a broken one would start 86,400 times a day.
const hotDelay = 10 * time.Second

// Flattened is the one delay that stands for the ladder where the manager has
// none (systemd before 254), and why. With a limit it is the mean of the waits
// up to the limit, so that the service gives up after the same time. Without
// one it is the ladder's value nearest to 10 s: a shorter one would be a hot
// loop for ever, a longer one would punish the first failure.
func (l Ladder) Flattened(limit Limit) (delay time.Duration, why string) {
	if !limit.Enabled() {
		return min(l.Longest(), max(l.Base, hotDelay)), "as near to 10s as base and cap allow"
	}
	mean := l.Sum(limit.Starts) / time.Duration(limit.Starts)
	const grain = 100 * time.Millisecond
	rounded := add(mean, grain-1) / grain * grain
	return min(rounded, l.Longest()), "the mean of the ladder up to the start limit"
}
