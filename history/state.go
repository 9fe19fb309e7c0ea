package history

import (
	"strings"
	"time"
)

// State is what the manager says of a service now. It tells the current run,
// or the end of the last one until the next start resets it.
type State struct {
	Unit         string
	InvocationID string
	LoadState    string // loaded, not-found, masked, …
	ActiveState  string // active, inactive, failed, activating, …
	SubState     string // running, dead, auto-restart, …
	Job          bool   // one of the unit's is queued or running
	Result       string
	StatusText   string
	NRestarts    int
	Exit         Exit // of the main process of the last run

	// Command is the directive of the process beside the main one that failed first,
	// such as ExecStartPre, and Control how it ended.
	Command string
	Control Exit

	// The unit's course, each the last time it happened.
	LeftInactive   time.Time // the start began, or the hold-off did, which counts as activating
	BecameActive   time.Time // the start was done
	BecameInactive time.Time
	Changed        time.Time // the last change of any state
	MainExited     time.Time
	FirstCommand   time.Time // when the first process of the last run was started
	LastExit       time.Time // when the last of those that start it, or are it, ended

	// RestartDelay is the hold-off before the pending or the next automatic
	// restart, without what the manager's own jitter adds (262).
	RestartDelay time.Duration

	Svcrun       *Svcrun       // the one in ExecStart=; nil for none
	FailedReload *FailedReload // where the last reload of the run failed

	// DirectRestart: the unit has RestartMode=direct, so that journald may have lines of
	// a run under the invocation ID of an earlier one (see Lines).
	DirectRestart bool

	// HidesHistory: the unit's LogLevelMax= keeps the manager's lines about its
	// starts, or even about its ends, out of the journal.
	HidesHistory bool
}

// FailedReload is a reload that failed. The manager leaves the service running.
type FailedReload struct {
	Result string    // as Result= is of a run
	Exit   Exit      // of the command of ExecReload= that failed
	Ended  time.Time // when that was; both are unknown once the unit is loaded anew
}

// WaitsForRestart says whether the unit is in the hold-off before an
// automatic restart.
func (s State) WaitsForRestart() bool {
	return strings.HasPrefix(s.SubState, "auto-restart")
}

// Stranded says whether the unit waits for a restart that will not come: its job
// has failed, as a unit that it needs did, and is gone. From 254 on the manager
// leaves the service as it was then.
func (s State) Stranded() bool { return s.SubState == "auto-restart-queued" && !s.Job }

// Up says whether a run is on: the unit is neither down nor waiting.
func (s State) Up() bool {
	switch s.ActiveState {
	case "inactive", "failed", "maintenance", "":
		return false
	}
	return !s.WaitsForRestart()
}

// Endless is a span that nobody sees the end of, such as systemd's infinity.
const Endless = 100 * 365 * 24 * time.Hour

// NextRestart is when the hold-off ends, as well as it is known.
func (s State) NextRestart() (time.Time, bool) {
	if s.SubState != "auto-restart" || s.Changed.IsZero() || s.RestartDelay >= Endless {
		return time.Time{}, false
	}
	return s.Changed.Add(s.RestartDelay), true
}

// LastEnd is the end of the last run, as far as the manager's state tells:
// nothing while a run is on, and nothing after a success, which may have been
// a stop that somebody asked for. Where the start limit hides the run before
// it, it is the refused start.
func (s State) LastEnd() (End, bool) {
	switch {
	case s.Up():
		return End{}, false
	case s.Result == resultStartLimit:
		return End{Cause: StartLimit}, true
	case s.LeftInactive.IsZero():
		return End{}, false
	}
	end := decide(s.evidence())
	return end, end.Cause != Unknown || s.Result != "success"
}

// Began is when the last run began, zero where that is not known. LeftInactive is
// that only where no hold-off came before, or after it: of a run that is on, and has
// had no process yet.
func (s State) Began() time.Time {
	if s.FirstCommand.IsZero() && s.Up() {
		return s.LeftInactive
	}
	return s.FirstCommand
}

// evidence is the state in the terms of a run.
func (s State) evidence() *evidence {
	began := s.Began()
	ev := &evidence{invocation: s.InvocationID, start: UnknownStart, started: stamp{time: began}}
	switch {
	case !began.IsZero() && !s.BecameActive.Before(began):
		ev.ready = stamp{time: s.BecameActive}
	case s.WaitsForRestart() && s.BecameActive.IsZero(): // nor was any run before it: no other time limit can have been reached
		ev.timeout = phaseStart
	}
	if s.Up() {
		ev.running = true
		return ev
	}
	s.endInto(ev)
	return ev
}

// endInto fills in the end of a run.
func (s State) endInto(ev *evidence) {
	ev.unstopped = s.WaitsForRestart()
	ev.byBus = !ev.unstopped
	ev.dead = stamp{time: s.BecameInactive}
	if !s.LastExit.IsZero() && s.LeftInactive.After(s.LastExit) { // into the hold-off; inactive once more it may be by a start that was refused
		ev.dead.time = s.LeftInactive
	}
	ev.result, ev.main, ev.control = s.Result, s.Exit, controlExit{s.Command, s.Control}
	if s.Exit.Kind != NoExit {
		ev.mainEnded = stamp{time: s.MainExited}
	}
}

// AddState takes what the manager says now, asked after the journal was read.
// It marks the run that is still on, adds the run that the journal does not
// know, and ends the one whose end the journal does not have.
func (f *Fold) AddState(s State) {
	f.settled = true
	ev := f.byID[s.InvocationID]
	switch {
	case s.InvocationID == "" || s.LeftInactive.IsZero():
	case ev == nil:
		ev = s.evidence()
		f.append(ev, ev.started, false)
		f.byID[s.InvocationID] = ev
	case ev.ended():
	case s.Up():
		ev.running = true
	case ev.main.Kind == NoExit:
		s.endInto(ev)
	}
}

// UpSince is since when the unit is active, while it is.
func (s State) UpSince() (time.Time, bool) {
	switch s.ActiveState {
	case "active", "reloading", "refreshing":
		return s.BecameActive, !s.BecameActive.IsZero()
	}
	return time.Time{}, false
}
