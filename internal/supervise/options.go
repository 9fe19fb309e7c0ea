package supervise

import (
	"github.com/svckit/svckit/internal/supervise/machine"
)

// Options is what Run has to know.
type Options struct {
	Machine machine.Config

	Path string   // of the child's executable
	Argv []string // the child's, with its name first

	Environ       []string // svcrun's own environment
	Inherited     []int    // descriptors that svcrun was given for the child, beyond the standard streams
	NotifyAddress string   // the manager's socket; "" where nobody listens
	ListenAddress string   // where svcrun's own socket for the child must stand; "" for its own choice
	RuntimeDir    string   // svcrun's own, not the child's business
	StateDir      string

	KillScope KillScope
	Log       func(machine.Level, string)
}

// KillScope is what SIGKILL, and the wait until nothing is left, reach.
type KillScope string

// The kill scopes.
const (
	ScopeTree  KillScope = "tree"  // every descendant, wherever it has gone
	ScopeGroup KillScope = "group" // the main process's process group
	ScopeMain  KillScope = "main"  // the main process alone: its sessions outlive it
)
