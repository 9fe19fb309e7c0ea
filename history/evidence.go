package history

import "time"

// stamp is one instant on both clocks.
type stamp struct {
	time      time.Time
	monotonic time.Duration // since the boot of bootID; meaningful only where bootID is set
	bootID    string
	wallOnly  bool // the boot is known, but not when in it
}

func stampOf(e Entry) stamp {
	return stamp{time: e.Time, monotonic: e.Monotonic, bootID: e.BootID}
}

func (s stamp) known() bool { return !s.time.IsZero() }

// since is the time from an earlier stamp to s, or 0 where one is not known.
// It is taken from the monotonic clock where it can be: the other may be set.
func (s stamp) since(earlier stamp) time.Duration {
	switch {
	case !s.known() || !earlier.known():
		return 0
	case s.bootID != "" && s.bootID == earlier.bootID && !s.wallOnly && !earlier.wallOnly:
		return max(0, s.monotonic-earlier.monotonic)
	}
	return max(0, s.time.Sub(earlier.time))
}

// before says whether s is the earlier of two stamps that are known.
func (s stamp) before(later stamp) bool { return later.since(s) > 0 }

// rebooted says whether the two stamps are known to be of different boots.
func rebooted(a, b stamp) bool {
	return a.bootID != "" && b.bootID != "" && a.bootID != b.bootID
}

// phase is the timeout of the manager's that came first in a run.
type phase int

const (
	phaseNone phase = iota
	phaseStart
	phaseStop
	phaseRuntime
)

// controlExit is the end of a process beside the main one.
type controlExit struct {
	command string
	exit    Exit
}

// evidence is all that records tell of one run. The fold fills it in whatever
// order they come; decide reads it.
type evidence struct {
	invocation string
	refused    Cause // the start was refused, for this cause; nothing else is set but started

	// started, ready, mainEnded and dead are the run's course. dead is the
	// end of the unit, after ExecStopPost= and what was left of its processes.
	started, ready, mainEnded, dead stamp
	scheduled                       stamp // the automatic restart that followed
	line                            stamp // when svcrun printed endLine

	start    Start
	restarts int

	startFailed   bool // the start job failed
	finished      bool // it was a oneshot's start job that is done
	stopRequested bool // a stop job began before the end
	stopJob       bool // one began before the unit was dead, whatever had ended the run
	stopWaiting   bool // one ended the hold-off after the run
	byBus         bool // a success comes from D-Bus, which does not tell a stop from a clean end
	unstopped     bool // the manager is about to restart the unit, so nobody asked for a stop
	running       bool
	oom           bool
	timeout       phase
	watchdogLimit string // as the manager writes it

	result  string // UNIT_RESULT=, "success" for a clean end
	main    Exit
	control controlExit
	spawn   string // why the child could not become the service
	endLine *EndLine

	record   *Record // svcrun's own
	byRecord bool    // nothing but the record tells of the run
}

// ended says whether the unit's end is on record.
func (ev *evidence) ended() bool {
	return ev.dead.known()
}

// isOn says whether the run has a begin on record and nothing of an end.
func (ev *evidence) isOn() bool {
	return ev.started.known() && !ev.ended() && !ev.scheduled.known()
}

// end is when the run ended, as well as it is known.
func (ev *evidence) end() stamp {
	switch {
	case ev.mainEnded.known():
		return ev.mainEnded
	case ev.dead.known():
		return ev.dead
	case ev.main == Exit{} && !ev.running:
		return ev.line
	}
	return stamp{}
}

// down is since when the unit has been down.
func (ev *evidence) down() stamp {
	if ev.dead.known() {
		return ev.dead
	}
	return ev.end()
}

// begin is since when the run counts as up.
func (ev *evidence) begin() stamp {
	if ev.ready.known() {
		return ev.ready
	}
	return ev.started
}
