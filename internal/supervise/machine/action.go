package machine

import (
	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// Action is something for the loop to do, in the order given.
type Action interface{ action() }

type (
	// Spawn starts the child; answered by Spawned or SpawnFailed.
	Spawn struct{}

	// Send tells the manager something. Attached passes on the descriptors that
	// came with the event being stepped; Stamped adds MONOTONIC_USEC=, which a
	// RELOADING=1 must carry (sd_notify(3)).
	Send struct {
		Message  notify.Message
		Attached bool
		Stamped  bool
	}

	// Signal sends a signal.
	Signal struct {
		Signal syntax.Signal
		To     Target
	}

	// Probe starts one probe; answered by Probed.
	Probe struct{ ID watchdog.ID }

	// StopProbes ends all probes that are out; none is answered any more.
	StopProbes struct{}

	// Hook starts the pre-stop hook or the reload command, of which one runs at
	// a time; answered by HookEnded.
	Hook struct{ Argv []string }

	// StopHook kills the hook whole; it is not answered any more.
	StopHook struct{}

	// Adopt makes a descendant that the service names the main process;
	// answered by Adopted or NotAdopted.
	Adopt struct{ PID int }

	// Await keeps the descriptors that came with the event being stepped, of
	// somebody who waits for a reload.
	Await struct{}

	// Answer tells all who wait how the reload ended; Failure is empty where it
	// was done.
	Answer struct{ Failure string }

	// Forget ends the memory of runs that failed: the service has been healthy
	// for long enough, or has said so itself.
	Forget struct{}

	// Note is the record of the run so far, to be written down.
	Note struct{ Record history.Record }

	// Log is a line for the journal.
	Log struct {
		Level Level
		Text  string
	}

	// Exit ends svcrun; nothing follows.
	Exit struct{ Outcome Outcome }
)

func (Spawn) action()      {}
func (Send) action()       {}
func (Signal) action()     {}
func (Probe) action()      {}
func (StopProbes) action() {}
func (Hook) action()       {}
func (StopHook) action()   {}
func (Adopt) action()      {}
func (Await) action()      {}
func (Answer) action()     {}
func (Forget) action()     {}
func (Note) action()       {}
func (Log) action()        {}
func (Exit) action()       {}

// Target is whom a signal is for.
type Target int

const (
	ToMain  Target = iota // the main process
	ToGroup               // its process group
	ToScope               // all that is alive in the kill scope
)

// Level is how loud a line is, as syslog(3) numbers it.
type Level int

const (
	Error   Level = 3
	Warning Level = 4
	Notice  Level = 5
	Info    Level = 6
)
