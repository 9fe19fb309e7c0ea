package timeline

import (
	"time"

	"github.com/svckit/svckit/history"
)

// sum is what is told of a service at the end.
type sum struct {
	unit   string
	runs   int
	causes map[history.Cause]int
	last   history.Cause
	up     time.Duration // ready, of all runs
	ready  time.Time     // since when it is; zero where it is not
}

// sums are those of all services, in the order in which they were first named.
type sums struct{ all []*sum }

// of is the sum of a unit, begun where there is none.
func (s *sums) of(unit string) *sum {
	for _, one := range s.all {
		if one.unit == unit {
			return one
		}
	}
	one := &sum{unit: unit, causes: map[history.Cause]int{}}
	s.all = append(s.all, one)
	return one
}

// add counts an event.
func (s *sums) add(e Event) {
	if e.Unit == "" {
		return
	}
	one := s.of(e.Unit)
	switch e.Name {
	case Starting:
		one.runs++
	case Ready:
		one.ready = e.Time
	case Ended, Refused:
		if !one.ready.IsZero() {
			one.up += e.Time.Sub(one.ready)
			one.ready = time.Time{}
		}
		if e.End != nil {
			one.causes[e.End.Cause]++
			one.last = e.End.Cause
		}
	default:
	}
}
