package history

import (
	"slices"
	"strconv"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// Closed says whether the run that a record tells of is over. Of an open one it
// only says that nobody has closed the record: its svcrun may have been killed.
func (r Record) Closed() bool { return r.End != nil }

// CloseByNextStart closes the record of a run whose svcrun was killed. When and
// why it ended nobody knows; only that it was over before that start.
func (r Record) CloseByNextStart(start time.Time) Record {
	r.End = &RecordEnd{Cause: Unknown, ClosedBy: NextStart, Before: start}
	return r
}

// AsRun is the run as far as its record alone tells of it. What began it, and
// what came before it, no record knows.
func (r Record) AsRun() Run {
	run := Run{
		Unit: r.Name, InvocationID: r.InvocationID, Number: r.Run, Start: UnknownStart,
		Started: r.Begun, Ready: r.Ready, Ended: r.Ended,
	}
	if r.End == nil {
		return run
	}
	if !r.Ended.IsZero() {
		since := r.Begun
		if !r.Ready.IsZero() {
			since = r.Ready
		}
		run.Up = max(0, r.Ended.Sub(since))
	}
	run.End = End{Cause: r.End.Cause, Exit: r.End.exit(), Detail: r.detail()}
	return run
}

// stopped says whether a stop was asked for before svcrun ended, whatever had
// ended the run.
func (r Record) stopped() bool {
	return slices.ContainsFunc(r.Phases, func(p Phase) bool { return p.Reason == AskedToStop })
}

// exit is how the main process ended.
func (e *RecordEnd) exit() Exit {
	signal, err := syntax.ParseSignal(e.Signal)
	switch {
	case e.Code != nil && *e.Code >= 0 && *e.Code <= 255:
		return Exit{Exited, *e.Code}
	case e.Signal == "" || err != nil:
		return Exit{}
	case e.Core:
		return Exit{Dumped, int(signal)}
	}
	return Exit{Killed, int(signal)}
}

// detail is what else is known of the end: what the end line has beside the
// cause, in its order, and whether somebody else closed the record.
func (r Record) detail() []Field {
	var detail []Field
	add := func(key, value string) {
		if value != "" && value != "0" {
			detail = append(detail, Field{key, value})
		}
	}
	add("check", r.End.Check)
	add("after", strconv.Itoa(r.End.After))
	add("last", r.End.Last)
	if !r.Stopping.IsZero() && !r.Ended.IsZero() {
		add("stop", max(0, r.Ended.Sub(r.Stopping)).Truncate(time.Millisecond).String())
	}
	add("left", strconv.Itoa(r.End.Left))
	add("closed-by", r.End.ClosedBy)
	return detail
}
