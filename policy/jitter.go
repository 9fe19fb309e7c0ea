package policy

import (
	"fmt"
	"time"
)

// Jitter is how waits are spread, so that services which failed together do
// not come back together.
type Jitter int

// The jitters.
const (
	NoJitter      Jitter = iota // none
	QuarterJitter               // up to a quarter more
	FullJitter                  // anything from nothing to all of it
)

// Random gives a whole number from 0 to n-1, each as likely: rand.Int64N.
type Random func(n int64) int64

// ParseJitter reads none, 25% or full.
func ParseJitter(s string) (Jitter, error) {
	for j := NoJitter; j <= FullJitter; j++ {
		if s == j.String() {
			return j, nil
		}
	}
	return 0, fmt.Errorf("%.40q is no jitter; write none, 25%% (up to so much is added) or full (random between 0 and the delay)", s)
}

// String is the jitter as ParseJitter reads it.
func (j Jitter) String() string {
	switch j {
	case NoJitter:
		return "none"
	case QuarterJitter:
		return "25%"
	case FullJitter:
		return "full"
	}
	return fmt.Sprintf("jitter %d", int(j))
}

// of is a wait with its jitter, in whole microseconds. Every value within the
// bounds comes up, and both of them.
func (j Jitter) of(wait time.Duration, random Random) time.Duration {
	wait = microseconds(max(0, wait))
	switch {
	case wait == 0 || j == NoJitter:
		return wait
	case j == FullJitter:
		return upTo(wait, random)
	}
	return add(wait, upTo(wait/4, random))
}

// longest is the most that a wait may be with its jitter.
func (j Jitter) longest(wait time.Duration) time.Duration {
	if j == QuarterJitter {
		return add(wait, microseconds(wait/4))
	}
	return wait
}

// upTo is random between 0 and top, both included.
func upTo(top time.Duration, random Random) time.Duration {
	return time.Duration(random(top.Microseconds()+1)) * time.Microsecond
}
