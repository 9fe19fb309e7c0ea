package history

import (
	"slices"
	"time"
)

// AddRecords takes svcrun's records of the unit's runs, in the order of the
// runs, after the journal was read. A record joins its run by the invocation ID.
// One of a run that nothing else tells of becomes a run in its place: after the
// run of the record before it, ahead of that of the record after it, and between
// those by the time.
func (f *Fold) AddRecords(records []Record) {
	for i := range records {
		if ev := f.byID[records[i].InvocationID]; ev != nil {
			ev.record = &records[i]
		}
	}
	merged := make([]*evidence, 0, len(f.rows)+len(records))
	rows := f.rows
	for i := range records {
		r := &records[i]
		n := slices.IndexFunc(rows, func(ev *evidence) bool { return ev.record != nil || r.Begun.Before(ev.at()) })
		if ev := f.byID[r.InvocationID]; ev != nil {
			n = slices.Index(rows, ev) + 1 // 0 where an earlier record took it along
		} else if n < 0 {
			n = len(rows)
		}
		merged, rows = append(merged, rows[:n]...), rows[n:]
		if f.byID[r.InvocationID] == nil {
			merged = append(merged, f.rowOf(r))
		}
	}
	f.rows = append(merged, rows...)
}

// rowOf makes a run of a record.
func (f *Fold) rowOf(r *Record) *evidence {
	ev := &evidence{invocation: r.InvocationID, start: UnknownStart, record: r, byRecord: true}
	if r.InvocationID != "" {
		f.byID[r.InvocationID] = ev
	}
	return ev
}

// at is the first moment that is known of a run, to tell what it comes after.
func (ev *evidence) at() time.Time {
	for _, s := range []stamp{ev.started, ev.ready, ev.mainEnded, ev.dead, ev.line} {
		if s.known() {
			return s.time
		}
	}
	return time.Time{}
}

// told is what svcrun itself says of the end: in its record, which has all of
// it, or else in its line. A record that the next start has closed says least.
func (ev *evidence) told() (End, bool) {
	r := ev.record
	switch {
	case r != nil && r.Closed() && r.End.ClosedBy == "":
		return r.AsRun().End.measured(ev.endLine), true
	case ev.endLine != nil:
		return ev.endLine.end(), true
	case r != nil && r.Closed():
		return r.AsRun().End, true
	}
	return End{}, false
}

// measured has the time of the stop from svcrun's line, where there is one: it
// was measured, while a record's is the difference of two times of day.
func (e End) measured(line *EndLine) End {
	if line == nil {
		return e
	}
	isStop := func(f Field) bool { return f.Key == "stop" }
	in, by := slices.IndexFunc(e.Detail, isStop), slices.IndexFunc(line.Fields, isStop)
	if in >= 0 && by >= 0 {
		e.Detail[in] = line.Fields[by]
	}
	return e
}

// filled is the run with the times that only the record has: of one that has
// fallen out of the journal, that cannot be read, or that LogLevelMax= hides.
// Where the manager tells of the start, it tells too whether the start was done.
func (ev *evidence) filled() *evidence {
	out := *ev
	out.stopJob = ev.stopJob || ev.wasAskedToStop()
	r := ev.record
	if r == nil {
		return &out
	}
	fill := func(s *stamp, t time.Time) {
		if !s.known() && !t.IsZero() {
			*s = stamp{time: t, bootID: r.BootID, wallOnly: true}
		}
	}
	if !ev.started.known() && !ev.startFailed {
		fill(&out.ready, r.Ready)
	}
	fill(&out.started, r.Begun)
	fill(&out.line, r.Ended)
	return &out
}

// wasAskedToStop says whether svcrun tells of a stop that was asked for. It
// cannot tell an operator's from one of the manager's own, for a timeout or for
// lack of memory, nor from a kill(1): where the journal has the run's begin, it
// would have the stop.
func (ev *evidence) wasAskedToStop() bool {
	if ev.started.bootID != "" { // no other source has it
		return false
	}
	switch ev.result {
	case "", "success", "exit-code", "signal", "core-dump":
		said, ok := ev.told()
		return ok && said.Cause == StopRequested || ev.record != nil && ev.record.stopped()
	}
	return false
}

// adjoins says whether no run can have been between two that stand side by side.
// Between two records it can: the second number tells.
func (ev *evidence) adjoins(next *evidence) bool {
	if !ev.byRecord && !next.byRecord {
		return true
	}
	return ev.record != nil && next.record != nil && next.record.Run == ev.record.Run+1
}
