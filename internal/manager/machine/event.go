package machine

import (
	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/policy"
)

// Event is something that happened outside the machine.
type Event interface{ event() }

// Role is what a process is to its unit.
type Role int

// The roles.
const (
	Main    Role = iota // of ExecStart=
	Control             // of ExecStartPre=, ExecReload=
)

// Tick says that the deadline has passed. It is harmless at any time.
type Tick struct{}

// Requested is what a person asks for. An empty Unit means all of them.
type Requested struct {
	Verb Verb
	Unit string
}

// Verb is what can be asked for.
type Verb int

// The verbs. A second Stop is one with the first, as that of systemctl is.
const (
	Start Verb = iota
	Stop
	Reload
	// Hurry is somebody who does not want to wait for a stop: the main process
	// is signalled once more, so that svcrun goes on to its next step; the next
	// Hurry is SIGKILL to all. Where nothing stops it is a Stop.
	Hurry
)

// Spawned says that the process of a Spawn runs.
type Spawned struct {
	Unit string
	Role Role
	PID  int
}

// SpawnFailed says that it could not be started: for want of something that the
// unit asks for, or because the program cannot be executed.
type SpawnFailed struct {
	Unit   string
	Role   Role
	Reason string
	// Status is what a child of systemd's would exit with, such as 203 where the
	// program cannot be executed (systemd.exec(5)); 0 where systemd would not have
	// got as far as a child.
	Status int
}

// Exited says that a process has ended and been reaped. Line is what svcrun
// printed last, where it did; Tail the last lines of the run. Left counts what
// else of the unit is alive. PID tells a process from one before it that would
// not die; 0 is taken for the one that there is.
type Exited struct {
	Unit string
	Role Role
	PID  int
	Exit policy.Exit
	Line *history.EndLine
	Tail []string
	Left int
}

// LeftChanged says how many processes of a unit are alive, the main and the
// control process not counted.
type LeftChanged struct {
	Unit string
	Left int
}

// Heard is a message of the main process.
type Heard struct {
	Unit string
	Said notify.Said
}

func (Tick) event()        {}
func (Requested) event()   {}
func (Spawned) event()     {}
func (SpawnFailed) event() {}
func (Exited) event()      {}
func (LeftChanged) event() {}
func (Heard) event()       {}

// Action is something for the loop to do, in the order given.
type Action interface{ action() }

// Spawn starts a process; answered by Spawned or SpawnFailed. Environment
// is what only this start has, such as MONITOR_UNIT=.
type Spawn struct {
	Unit string
	Role Role
	Argv []string
	Env  []string
}

// Signal sends a signal to a process, or to all that is alive of the unit.
type Signal struct {
	Unit   string
	Signal syntax.Signal
	To     Target
}

// Target is whom a signal is for.
type Target int

// The targets.
const (
	ToMain Target = iota
	ToControl
	ToAll
)

// Tell is an event for the time line; its time is that of the event stepped, which the loop sets.
type Tell struct{ Event timeline.Event }

// Release ends what a unit has beside its processes, such as its runtime
// directory: it is down, and no start of it is on its way. It may come more
// than once.
type Release struct{ Unit string }

// Done ends the manager: every unit is down for good. Code is what it exits
// with.
type Done struct{ Code int }

func (Spawn) action()   {}
func (Signal) action()  {}
func (Tell) action()    {}
func (Release) action() {}
func (Done) action()    {}
