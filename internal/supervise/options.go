package supervise

import (
	"fmt"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/watchdog"
)

// Options is what Run has to know.
type Options struct {
	Machine machine.Config

	Argv []string // the child's, with its name first
	// Find finds the child's executable, when it is to be started: a start may
	// be held back for minutes, and the file come or go meanwhile.
	Find func() (path string, err error)

	Environ       []string // svcrun's own environment
	Inherited     []int    // descriptors that svcrun was given for the child, beyond the standard streams
	NotifyAddress string   // the manager's socket; "" where nobody listens
	ListenAddress string   // where svcrun's own socket for the child must stand; "" for its own choice
	RuntimeDir    string   // svcrun's own, not the child's business
	StateDir      string   // where the records of the runs are kept; "" for none
	History       int      // how many of them
	Name          string   // the unit's, for the records
	Version       string   // svcrun's, for the records

	Terminal   bool // a person runs this, at a terminal and without a manager
	KillScope  KillScope
	StartDelay policy.StartDelay // after failed runs; the zero one for none
	Log        func(machine.Level, string)
}

// RefusedError is a check that cannot be probed here: it would need what the
// host or the unit does not have.
type RefusedError struct {
	Check  watchdog.Check
	Live   bool // otherwise a ready check
	Reason error
}

// Error names the flag and the check, without its secrets.
func (e *RefusedError) Error() string {
	flag := "--ready"
	if e.Live {
		flag = "--live"
	}
	return fmt.Sprintf("%s: %s: %v", flag, e.Check.Label(), e.Reason)
}

// Unwrap is for errors.Is and errors.As.
func (e *RefusedError) Unwrap() error { return e.Reason }

// KillScope is what SIGKILL, and the wait until nothing is left, reach.
type KillScope string

// The kill scopes.
const (
	ScopeTree  KillScope = "tree"  // every descendant, wherever it has gone
	ScopeGroup KillScope = "group" // the main process's process group
	ScopeMain  KillScope = "main"  // the main process alone: its sessions outlive it
)
