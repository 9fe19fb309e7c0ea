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
