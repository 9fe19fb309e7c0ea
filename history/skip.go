package history

import (
	"strings"
	"time"
)

// Skip is a start that a Condition…= or an Assert…= kept from happening: no run,
// and no failure but with Assert.
type Skip struct {
	At        time.Time
	Condition string // as in the unit, "ConditionPathExists=/x"; empty where that is not told
	Assert    bool
}

// Skipped is the last start that was; nil for none.
func (f *Fold) Skipped() *Skip { return f.skipped }

// skipOf reads the line about a start job that ended without a start (systemd:
// src/core/job.c, job_emit_done_message). Up to 248 it says the same where
// ExecCondition= was against it, which is a run, and so it counts for nothing.
func skipOf(e Entry) (Skip, bool) {
	skip := Skip{At: e.Time, Assert: e.JobResult == "assert"}
	if skip.Assert {
		return skip, true
	}
	text := e.Message
	if e.JobResult != "done" || hasAnyPrefix(text, "Started ", "Finished ") {
		return skip, false
	}
	for _, form := range []struct{ before, after string }{
		{" was skipped because of an unmet condition check (", ")."}, // 249
		{" skipped, unmet condition check ", ""},                     // 254
	} {
		if _, condition, ok := strings.Cut(text, form.before); ok {
			skip.Condition = clip(strings.TrimSuffix(condition, form.after))
			return skip, true
		}
	}
	return skip, strings.Contains(text, " was skipped because ") || strings.Contains(text, " skipped, ")
}
