package machine

import (
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// unit is one service and all that the machine knows of it.
type unit struct {
	m    *Machine
	plan plan.Service

	state    state
	since    time.Time // when it was entered
	deadline time.Time // the state's own, set anew by every transition; zero for none

	job jobs
	run run

	main, control process
	left          int           // what else of it is alive, as last told
	signal        syntax.Signal // what the way out has sent last; owed to a process that is just being started
	hurries       int           // Ctrl-C since the stop began

	number   int           // of the runs so far
	restarts int           // automatic ones in a row, as NRestarts= has them
	window   policy.Window // of the start limit
	settleAt time.Time     // when the companion timer elapses; zero where it does not run
}

// process is one of a unit's two.
type process struct {
	asked bool // a Spawn is out, or the process runs
	pid   int  // 0 until it runs
}

// run is what is known of the run that there is, or was last.
type run struct {
	begun, ready time.Time // ready is zero until READY=1
	command      int       // of the plan's Before, the one that runs
	result       policy.Result
	exit         policy.Exit // of the main process
	line         *history.EndLine
	tail         []string
	env          []string // that only this start has

	failedCommand string // the directive of a command that failed before the main process, and
	failedExit    policy.Exit
	message       string // why something could not be executed

	why          string // why it is stopped
	stopped      bool   // a stop that was asked for has begun
	stoppedFirst bool   // and it did before the main process ended
	timedOut     history.TimedOut
	watchdog     time.Duration // its limit; 0 for none
	watchdogAt   time.Time     // when it barks; zero while it sleeps

	status       string
	stopping     bool // it has said STOPPING=1
	reloading    bool // it has said RELOADING=1, and not yet READY=1
	reloadWanted bool // somebody asked for a reload that could not begin yet
	reloadError  string
	refused      bool // a start after it has been, for want of another unit
	code         int  // what it ended with, as a shell has it; meaningful when down
	success      bool // it ended well; meaningful when down
}

// fail notes what went wrong. The first thing that did is the unit's Result=.
func (u *unit) fail(result policy.Result) {
	if u.run.result == policy.Success {
		u.run.result = result
	}
}

// enter goes to a state that may last for so long.
func (u *unit) enter(s state, limit time.Duration) {
	u.state, u.since, u.deadline = s, u.m.now, u.m.in(limit)
	if !s.active() {
		u.run.watchdogAt = time.Time{}
	}
}

// lasted is how long the unit has been in its state, for people.
func (u *unit) lasted() string { return syntax.FormatDuration(u.m.now.Sub(u.since)) }

// knows says whether the manager that is played is of that version or newer.
func (u *unit) knows(version int) bool {
	systemd := u.plan.Restarts.Rules.Systemd
	return systemd == 0 || systemd >= version
}

// do appends actions to what this event asks for.
func (u *unit) do(actions ...Action) { u.m.actions = append(u.m.actions, actions...) }

// spawn starts a process.
func (u *unit) spawn(role Role, argv []string, env ...string) {
	*u.process(role) = process{asked: true}
	u.do(Spawn{Unit: u.plan.Name, Role: role, Argv: argv, Env: env})
}

// process is the one of a role.
func (u *unit) process(role Role) *process {
	if role == Control {
		return &u.control
	}
	return &u.main
}

// tell tells of an event; what is the same for all of them is filled in.
func (u *unit) tell(e timeline.Event) {
	e.Unit, e.Run, e.Restarts, e.PID = u.plan.Name, u.number, u.restarts, u.main.pid
	u.do(Tell{e})
}

// note tells of something that has no name.
func (u *unit) note(text string) { u.tell(timeline.Event{Name: timeline.Note, Text: text}) }
