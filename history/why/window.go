package why

import (
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// windowOf replays the starts on record against the limit. It returns the
// window of the last start as well, to judge the next with, on a clock that
// begins at origin.
func windowOf(limit policy.Limit, runs []history.Run) (w *Window, memory policy.Window, origin time.Time) {
	if !limit.Enabled() {
		return nil, policy.Window{}, time.Time{}
	}
	for _, r := range runs {
		if r.Started.IsZero() || r.Cause == history.Dependency {
			continue // refused before the limit was asked
		}
		if origin.IsZero() {
			origin = r.Started
		}
		var verdict policy.Verdict
		memory, verdict = memory.Attempt(limit, max(0, r.Started.Sub(origin)))
		refused := r.Cause == history.StartLimit
		if verdict == policy.Opened && !refused || w == nil {
			w = &Window{}
			if limit.Within < history.Endless {
				w.Until = r.Started.Add(limit.Within)
			}
		}
		switch {
		case refused:
			w.Hit = true
		case r.Start == history.Automatic:
			w.Automatic++
			w.Used++
		default:
			w.Used++
		}
	}
	return w, memory, origin
}

// mostStarts bounds the limits of which the outlook is computed, start by start.
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
