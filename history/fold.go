package history

import (
	"strconv"
	"strings"
	"time"
)

// Fold turns what is known of one unit into its runs. Journal entries are added
// first, in the journal's order; a line of svcrun's that arrives late still
// finds its run. Records and the manager's state come after them.
type Fold struct {
	unit string
	user string               // the UID whose manager has the unit; "" for the system's
	rows []*evidence          // runs and refused starts, the oldest first
	byID map[string]*evidence // runs by invocation ID
	next *schedule            // an automatic restart that has not begun yet

	skipped *Skip // the last start that was, if any

	sharedIDs bool // runs have lines under the ID of another

	// settled: the manager was asked, so a run that neither it nor the
	// journal has an end for, and that it does not call running, is over.
	settled bool
}

// schedule is an automatic restart of which only the announcement is there.
type schedule struct {
	at       stamp
	restarts int
	byClient bool // a client's start cut the hold-off short (257 and later)
}

// NewFold is a fold for the unit of that full name.
func NewFold(unit string) *Fold {
	return &Fold{unit: unit, byID: make(map[string]*evidence)}
}

// NewUserFold is a fold for a unit of the manager of the user with that UID.
func NewUserFold(unit, uid string) *Fold {
	f := NewFold(unit)
	f.user = uid
	return f
}

// Add takes one entry. Entries of other units, and lines about this one that
// neither the manager nor the unit wrote, count for nothing.
func (f *Fold) Add(e Entry) {
	if f.user != "" {
		e = e.ofUser(f.user)
	}
	switch {
	case e.ByManager() && e.Unit == f.unit:
		f.addManager(e)
	case e.OwnUnit == f.unit:
		f.addOwn(e)
	}
}

// addManager takes a line that the manager wrote about the unit.
func (f *Fold) addManager(e Entry) {
	switch eventOf(e) {
	case evNone:
	case evStarting:
		f.run(e).started = stampOf(e)
	case evStarted:
		f.addStarted(e)
	case evStartFailed:
		f.addStartFailed(e)
	case evTooQuickly:
		f.refuse(e, StartLimit)
	case evFailed, evDeactivated, evSkipped:
		f.addDead(e)
	case evStopped:
		f.addStopped(e)
	case evScheduled:
		f.addScheduled(e)
	default:
		f.addDuring(e)
	}
}

// run is the evidence of the entry's run, begun here if it is new.
func (f *Fold) run(e Entry) *evidence {
	if e.Invocation == "" {
		return &evidence{} // nothing to keep it with: a start that never ran
	}
	if ev := f.byID[e.Invocation]; ev != nil {
		return ev
	}
	ev := &evidence{invocation: e.Invocation}
	begins := e.ByManager() && (eventOf(e) == evStarting || eventOf(e) == evStarted)
	f.append(ev, stampOf(e), begins)
	f.byID[e.Invocation] = ev
	return ev
}

// append adds a row, and says how it came to start. Begins: its begin is on record,
// and so would be the announcement of an automatic restart. Where it is not, both
// may be hidden by LogLevelMax=, or lost.
func (f *Fold) append(ev *evidence, at stamp, begins bool) {
	ev.start = UnknownStart
	switch last := f.last(); {
	case f.next != nil && !rebooted(f.next.at, at):
		ev.start, ev.restarts = Automatic, f.next.restarts
		if f.next.byClient {
			ev.start = Requested
		}
	case begins && last != nil && (last.ended() || rebooted(last.started, at)):
		ev.start = Requested
	}
	f.next = nil
	f.rows = append(f.rows, ev)
}

func (f *Fold) last() *evidence {
	if len(f.rows) == 0 {
		return nil
	}
	return f.rows[len(f.rows)-1]
}

// addStarted takes a start job that is done. The line has the invocation ID
// of the last run also where a condition was not met and nothing started;
// then that run has ended, and the line says nothing of it.
func (f *Fold) addStarted(e Entry) {
	if skip, ok := skipOf(e); ok {
		f.skipped = &skip
		return
	}
	ev := f.run(e)
	if ev.ended() || ev.ready.known() {
		return
	}
	if !ev.started.known() {
		ev.started = stampOf(e)
	}
	ev.ready = stampOf(e)
	ev.finished = strings.HasPrefix(e.Message, "Finished ")
}

func (f *Fold) addStartFailed(e Entry) {
	switch e.JobResult {
	case "dependency":
		f.refuse(e, Dependency)
	case "assert":
		if skip, ok := skipOf(e); ok {
			f.skipped = &skip
		}
	case "failed", "timeout":
		if ev := f.byID[e.Invocation]; ev != nil {
			ev.startFailed = true
		}
	}
}

// refuse adds a start that never ran.
func (f *Fold) refuse(e Entry, cause Cause) {
	at, last := stampOf(e), f.last()
	f.append(&evidence{refused: cause, started: at, dead: at}, at, last != nil && last.started.known())
}

// addDead takes the end of the unit. After a refused start there is one more,
// with the ID of the run before: the refused start has none. Up to 259 it may
// repeat that run's result too, where 260 and later say start-limit-hit.
func (f *Fold) addDead(e Entry) {
	switch {
	case f.justRefused(stampOf(e)):
		return
	case e.UnitResult == resultStartLimit:
		f.refuse(e, StartLimit)
		return
	}
	ev := f.run(e)
	if ev.ended() {
		return
	}
	ev.dead = stampOf(e)
	ev.result = e.UnitResult
	if eventOf(e) == evDeactivated {
		ev.result = "success"
	}
}

// justRefused says whether the line about the start limit has been taken,
// which comes right before the unit's end.
func (f *Fold) justRefused(at stamp) bool {
	last := f.last()
	return last != nil && last.refused == StartLimit && at.since(last.started) < time.Second
}

// addStopped takes a stop job that is done. Where the service was still
// starting, or had no process, no line told that the job began: then this
// one does. Up to 253 every automatic restart has such a line too, but after
// the one that announces it.
func (f *Fold) addStopped(e Entry) {
	ev := f.byID[e.Invocation]
	if f.user != "" && ev != nil && !ev.ended() && ev.stopJob {
		ev.dead = stampOf(e)
		ev.succeedQuietly()
	}
	if ev == nil || !ev.ended() || ev.scheduled.known() {
		return
	}
	ev.stopWaiting = !ev.stopJob
	if ev.startFailed {
		return
	}
	neverReady := !ev.ready.known() && ev.started.known()
	if ev.result != "exec-condition" && (neverReady || ev.finished) {
		ev.stopRequested, ev.stopJob, ev.stopWaiting = true, true, false
	}
}

func (f *Fold) addScheduled(e Entry) {
	ev := f.run(e)
	if f.user != "" {
		ev.succeedQuietly()
	}
	ev.scheduled = stampOf(e)
	n, err := strconv.Atoi(e.NRestarts)
	if err != nil || n < 0 {
		n = 0
	}
	f.next = &schedule{ev.scheduled, n, strings.Contains(e.Message, "on client request")}
}

// succeedQuietly takes the end of a run of which only a failure would have been
// told: a user's manager does not log a unit's end with success (since 249).
func (ev *evidence) succeedQuietly() {
	if ev.result == "" && ev.main.Kind == NoExit && ev.timeout == phaseNone {
		ev.result = "success"
	}
}

// addDuring takes what happens between a run's start and its end.
func (f *Fold) addDuring(e Entry) {
	ev := f.run(e)
	if ev.ended() {
		return
	}
	switch eventOf(e) {
	case evStopping:
		ev.stopJob = true
		// A stop that comes when the main process is dead is not its cause.
		if ev.main.Kind == NoExit && ev.timeout == phaseNone {
			ev.stopRequested = true
		}
	case evProcessExit:
		f.addExit(ev, e)
	case evOOM:
		ev.oom = true
	case evWatchdog:
		_, limit, _ := strings.Cut(e.Message, "(limit ")
		ev.watchdogLimit, _, _ = strings.Cut(limit, ")")
	case evStartTimeout:
		ev.setTimeout(phaseStart)
	case evStopTimeout:
		ev.setTimeout(phaseStop)
	case evRuntimeMax:
		ev.setTimeout(phaseRuntime)
	default: // addManager keeps the others to itself
	}
}

// addExit takes the end of a process. Only ExecStart= is the main process;
// of the others the first to fail is kept.
func (f *Fold) addExit(ev *evidence, e Entry) {
	exit := parseExit(e.ExitCode, e.ExitStatus)
	switch {
	case e.Command == "ExecStart":
		ev.main, ev.mainEnded = exit, stampOf(e)
	case strings.HasPrefix(e.Command, "ExecReload"): // ends no run, and is no part of its result
	case ev.control.command == "":
		ev.control = controlExit{e.Command, exit}
	}
}

// setTimeout keeps the first timeout: Result= is about that one.
func (ev *evidence) setTimeout(p phase) {
	if ev.timeout == phaseNone {
		ev.timeout = p
	}
}
