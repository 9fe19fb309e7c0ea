package history

// Runs are the runs as the pieces so far tell them, the oldest first.
func (f *Fold) Runs() []Run {
	filled := make([]*evidence, len(f.rows), len(f.rows)+1)
	for i, ev := range f.rows {
		filled[i] = ev.filled()
	}
	filled = append(filled, nil)
	runs := make([]Run, 0, len(f.rows))
	for i, ev := range f.rows {
		run := f.describe(filled[i], filled[i+1], decide(ev))
		run.Number = i + 1
		runs = append(runs, run)
	}
	markBursts(runs)
	return runs
}

// describe makes a run of its evidence, of how it ended and of what followed it.
func (f *Fold) describe(ev, next *evidence, end End) Run {
	run := Run{
		Unit: f.unit, InvocationID: ev.invocation, Start: ev.start, Restarts: ev.restarts,
		Started: ev.started.time, Ready: ev.ready.time, Ended: ev.end().time, Running: ev.running, Restarted: ev.scheduled.time,
		Up:     ev.end().since(ev.begin()),
		Result: ev.result, Stopped: ev.stopJob, StoppedWaiting: ev.stopWaiting,
		Record: ev.record, End: end,
	}
	switch {
	case ev.scheduled.known():
		run.Delay = ev.scheduled.since(ev.down())
	case next != nil && ev.adjoins(next):
		run.Delay = next.started.since(ev.down())
	}
	if run.Cause == "" && !run.Running && (next != nil || f.settled) {
		run.Cause = Unknown
		if next != nil && rebooted(ev.started, next.started) {
			run.Detail = messageField("the machine went down without a record of the end")
		}
	}
	return run
}
