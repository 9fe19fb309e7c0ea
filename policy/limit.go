package policy

import (
	"fmt"
	"time"
)

// Limit is a unit's start limit. The zero Limit never refuses.
type Limit struct {
	Starts int           // StartLimitBurst=: the starts that one window allows
	Within time.Duration // StartLimitIntervalSec=: the window; syntax.Infinity never ends
}

// Never is the limit of a service that is restarted for ever.
func Never() Limit { return Limit{} }

// Enabled says whether the limit can refuse any start.
func (l Limit) Enabled() bool { return l.Starts > 0 && l.Within > 0 }

// Window is what the manager remembers about a unit's starts. It is anchored
// at its first start and does not slide. The zero Window has seen none.
type Window struct {
	begin    time.Duration
	attempts int
}

// Verdict is the answer to an attempt to start, with its reason.
type Verdict int

// The verdicts. All but Refused allow the start.
const (
	// Unlimited: the unit has no start limit.
	Unlimited Verdict = iota
	// Opened: the start is the first of a new window.
	Opened
	// Counted: the window has room for it.
	Counted
	// Refused: the window has had all its starts; the unit fails with
	// "Start request repeated too quickly."
	Refused
)

// Allowed says whether the start happens.
func (v Verdict) Allowed() bool { return v != Refused }

// String says why.
func (v Verdict) String() string {
	switch v {
	case Unlimited:
		return "no start limit"
	case Opened:
		return "the first start of a window"
	case Counted:
		return "within the start limit"
	case Refused:
		return "start limit hit"
	}
	return fmt.Sprintf("verdict %d", int(v))
}

// Attempt judges one attempt to start at a time that counts from any fixed
// origin, and returns the window to judge the next one with. Refused attempts
// count as well, and never move the window (systemd: src/basic/ratelimit.c,
// ratelimit_below).
func (w Window) Attempt(l Limit, at time.Duration) (Window, Verdict) {
	switch {
	case !l.Enabled():
		return w, Unlimited
	case w.attempts == 0 || at-w.begin > l.Within:
		return Window{begin: at, attempts: 1}, Opened
	}
	w.attempts++
	if w.attempts > l.Starts {
		return w, Refused
	}
	return w, Counted
}
