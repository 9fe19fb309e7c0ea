package policy

import (
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// TimerSlack is how late each of the manager's timers may fire: sd-event's
// default accuracy (sd_event_add_time(3)).
const TimerSlack = 250 * time.Millisecond

// Ladder is the growing wait before automatic restarts, by the names that
// systemd.service(5) has for its parts. Everything is truncated to
// microseconds, as the manager counts them.
type Ladder struct {
	Base  time.Duration // RestartSec=
	Cap   time.Duration // RestartMaxDelaySec=
	Steps int           // RestartSteps=; 0 for a wait that never grows
}

// Flat is a ladder that always waits d.
func Flat(d time.Duration) Ladder { return Ladder{Base: d, Cap: d} }

// Grows says whether a later restart waits longer than the first one. A base
// of 0 never grows, whatever the cap.
func (l Ladder) Grows() bool {
	return l.Steps > 0 && l.Base > 0 && l.Cap != syntax.Infinity && l.Base < l.Cap
}

// Delay is the wait before restart k of a series, counted from 1: restart 1
// waits Base, restart Steps+1 is the first to wait Cap, and those between grow
// by an equal ratio (systemd: src/core/service.c, service_restart_usec_next).
// The timer that ends the wait may be late by TimerSlack.
func (l Ladder) Delay(k int) time.Duration {
	switch {
	case k <= 1 || !l.Grows():
		return microseconds(l.Base)
	case k > l.Steps:
		return microseconds(l.Cap)
	}
	usec := geometric(uint64(l.Base.Microseconds()), uint64(l.Cap.Microseconds()), k-1, l.Steps)
	return time.Duration(usec) * time.Microsecond
}

// Delays are the waits before restarts 1 to n.
func (l Ladder) Delays(n int) []time.Duration {
	delays := make([]time.Duration, n)
	for i := range delays {
		delays[i] = l.Delay(i + 1)
	}
	return delays
}

// Longest is the wait that the ladder ends in.
func (l Ladder) Longest() time.Duration { return l.Delay(l.Steps + 1) }

// Sum is the time that restarts 1 to n wait in all.
func (l Ladder) Sum(n int) time.Duration {
	var total time.Duration
	growing := min(n, l.Steps)
	for k := 1; k <= growing; k++ {
		total = add(total, l.Delay(k))
	}
	return add(total, times(n-growing, l.Longest()))
}

// microseconds truncates as the manager does, to whom Infinity is no number.
func microseconds(d time.Duration) time.Duration {
	if d == syntax.Infinity {
		return d
	}
	return d.Truncate(time.Microsecond)
}

// add and times saturate at Infinity. No argument is negative.
func add(a, b time.Duration) time.Duration {
	if a > syntax.Infinity-b {
		return syntax.Infinity
	}
	return a + b
}

func times(n int, d time.Duration) time.Duration {
	if n <= 0 || d == 0 {
		return 0
	}
	if d > syntax.Infinity/time.Duration(n) {
		return syntax.Infinity
	}
	return time.Duration(n) * d
}
