package machine

import (
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// Event is something that happened outside the machine.
type Event interface{ event() }

type (
	// Tick says that the deadline has passed. It is harmless at any time.
	Tick struct{}

	// Spawned says that the child has been exec'd.
	Spawned struct{ PID int }

	// SpawnFailed says that it could not be, and why.
	SpawnFailed struct{ Reason string }

	// MainExited says that the main process has ended and been reaped. Left
	// counts what else is alive in the kill scope.
	MainExited struct {
		Status Status
		Left   int
	}

	// ScopeChanged says how many processes are alive in the kill scope, the
	// main process not counted. It comes in Ending, Aborting and Killing.
	ScopeChanged struct{ Left int }

	// Signalled says that svcrun itself got a signal.
	Signalled struct{ Signal syntax.Signal }

	// Probed is the answer of a probe; Failure is empty where the check holds.
	// Unknown says that the answer is no word about the service, but about what
	// svcrun may not see.
	Probed struct {
		ID      watchdog.ID
		Failure string
		Unknown bool
	}

	// Heard is a message of the child. Descriptors that came with it are kept
	// by the loop while this event is stepped.
	Heard struct{ Said notify.Said }

	// DescriptorRead says that the child has written a newline to the descriptor
	// of an fd check, or has closed it without.
	DescriptorRead struct {
		Descriptor int
		Newline    bool
	}

	// HookEnded says that the hook is over; Failure is empty where it exited 0.
	HookEnded struct{ Failure string }

	// Adopted says that another process is the main one from now on.
	Adopted struct{ PID int }

	// NotAdopted says why it cannot be.
	NotAdopted struct{ Reason string }
)

func (Tick) event()           {}
func (Spawned) event()        {}
func (SpawnFailed) event()    {}
func (MainExited) event()     {}
func (ScopeChanged) event()   {}
func (Signalled) event()      {}
func (Probed) event()         {}
func (Heard) event()          {}
func (DescriptorRead) event() {}
func (HookEnded) event()      {}
func (Adopted) event()        {}
func (NotAdopted) event()     {}
