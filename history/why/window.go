package why

import (
	"slices"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// replay is the windows that the start limit may have now, as far as the starts
// on record tell: a reset-failed empties a window and leaves no record. The
// longest comes first, which is the one that nothing has emptied.
type replay struct {
	limit  policy.Limit
	origin time.Time // of the clock that policy.Window goes by
	open   []counted
	last   history.Run // that was counted
	lost   bool        // starts were counted that are not on record
}

// counted is one of these windows.
type counted struct {
	memory policy.Window
	Window
}

// replayed judges the starts on record anew. Those before the manager itself had
// forgotten all count for nothing.
func replayed(limit policy.Limit, since time.Time, runs []history.Run) replay {
	r := replay{limit: limit}
	if !limit.Enabled() {
		return r
	}
	for _, run := range runs {
		if run.Started.IsZero() || run.Started.Before(since) || run.Cause == history.Dependency {
			continue // refused before the limit was asked
		}
		if r.origin.IsZero() {
			r.origin = run.Started
		}
		r.attempt(run)
	}
	return r
}

// attempt judges a start under each of the windows. Those under which it would
// have ended in another way were none.
func (r *replay) attempt(run history.Run) {
	refused := run.Cause == history.StartLimit
	var open []counted
	add := func(c counted, verdict policy.Verdict) {
		same := func(other counted) bool { return other.memory == c.memory }
		if verdict.Allowed() != refused && len(open) < mostStarts && !slices.ContainsFunc(open, same) {
			open = append(open, c)
		}
	}
	lost := r.lost
	for i, c := range r.open {
		c, verdict := c.attempt(r.limit, run, r.clock(run.Started))
		lost = lost && !(i == 0 && verdict == policy.Opened)
		add(c, verdict)
	}
	if len(r.open) == 0 || r.mayHaveBeenEmptied(run) {
		add(counted{}.attempt(r.limit, run, r.clock(run.Started)))
	}
	if len(open) == 0 { // how many had come before it is not known
		lost = true
		c, _ := counted{}.attempt(r.limit, run, r.clock(run.Started))
		open = []counted{c}
	}
	r.open, r.last, r.lost = open, run, lost
}

// attempt counts a start.
func (c counted) attempt(limit policy.Limit, run history.Run, at time.Duration) (counted, policy.Verdict) {
	memory, verdict := c.memory.Attempt(limit, at)
	if verdict == policy.Opened {
		c.Window = Window{}
		if limit.Within < history.Endless {
			c.Until = run.Started.Add(limit.Within)
		}
	}
	c.memory = memory
	switch {
	case run.Cause == history.StartLimit:
		c.Hit = true
	case run.Start == history.Automatic:
		c.Automatic++
		c.Used++
	default:
		c.Used++
	}
	return c, verdict
}

// mayHaveBeenEmptied says whether a reset-failed can have come between the last
// start and this one: it sets the restart counter to 0, as a start that is asked
// for does.
func (r *replay) mayHaveBeenEmptied(run history.Run) bool {
	return run.Start != history.Automatic || run.Restarts != r.last.Restarts+1
}

func (r *replay) clock(t time.Time) time.Duration { return max(0, t.Sub(r.origin)) }

// window is the start limit's, nil for none: with the starts of the longest of
// those that it may be, and the end of the shortest, which comes last.
func (r *replay) window() *Window {
	if len(r.open) == 0 {
		return nil
	}
	w := r.open[0].Window
	w.Until = r.open[len(r.open)-1].Until
	w.Sure = len(r.open) == 1 && !r.lost
	return &w
}

// next says whether a start would be refused: under all windows, or under some.
func (r *replay) next(at time.Time) (refused, perhaps bool) {
	for i, c := range r.open {
		_, verdict := c.memory.Attempt(r.limit, r.clock(at))
		refused = !verdict.Allowed() && (refused || i == 0)
		perhaps = perhaps || !verdict.Allowed()
	}
	return refused, (perhaps || r.lost) && !refused
}

// mostStarts bounds the limits of which the outlook is computed, start by start,
// and the windows that are thought of.
const mostStarts = 10_000

// outlookOf is what the start limit does to a service whose every run is like
// its last. What svcrun adds to the waits is not known here.
func outlookOf(f Facts, last *history.Run) *policy.Outlook {
	s := f.Settings
	if last == nil || last.Started.IsZero() || last.Ended.IsZero() || !s.Limit.Enabled() || s.Limit.Starts > mostStarts || heldBack(f, last) {
		return nil
	}
	end, ok := endOf(*last, f.State)
	if !ok {
		return nil
	}
	end.Stopped = false
	restarts := policy.Restarts{Rules: s.Rules, Ladder: s.Ladder, Randomized: s.RandomDelay, Limit: s.Limit}
	outlook := restarts.Outlook(policy.Run{Lasts: max(0, last.Ended.Sub(last.Started)), End: end})
	return &outlook
}
