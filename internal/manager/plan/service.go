package plan

import (
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// Service is one unit as a manager runs it.
type Service struct {
	Name string // worker.service

	Before   []Command // ExecCondition= and ExecStartPre=, one after the other
	Main     Command   // ExecStart=
	Reload   Reload
	OnFail   []string // OnFailure=: units to start when it is left down, or at each failure
	EachFail bool     // OnFailure= is for each failure: no RestartMode=direct
	Direct   bool     // RestartMode=direct: a restart is no failure to other units

	After, Requires, Wants, PartOf []string // by unit name; those of other files are in Ignored

	Restarts policy.Restarts // but for StartDelay, which is svcrun's own
	Settle   time.Duration   // the companion timer's OnActiveSec=: then reset-failed; 0 without one

	StartTimeout time.Duration // TimeoutStartSec=; syntax.Infinity for none
	StopTimeout  time.Duration // TimeoutStopSec=
	AbortTimeout time.Duration // TimeoutAbortSec=
	Watchdog     time.Duration // WatchdogSec=; 0 for none
	RuntimeMax   time.Duration // RuntimeMaxSec=; 0 for none
	StopSignal   syntax.Signal // KillSignal=

	Surroundings Surroundings

	// Ignored are the directives that only systemd can honour, by name.
	Ignored []string
}

// Command is one command line.
type Command struct {
	Argv      []string
	MayErr    bool // "-": its failure counts for nothing
	Condition bool // of ExecCondition=: exit 1 to 254 skips the start
}

// Reload is how a reload is asked for: by a signal to the main process
// (Type=notify-reload), or by a command (ExecReload=); the zero Reload is none.
type Reload struct {
	Signal  syntax.Signal
	Command *Command
}

// Surroundings are what a process of the service finds when it starts.
type Surroundings struct {
	User, Group string
	WorkingDir  string
	Env         []string // NAME=value
	EnvFiles    []string // a - before one that may be missing
	Dirs        []Dir
	Sockets     []Socket
	Credentials []Credential
	NoFile      uint64 // LimitNOFILE=; 0 for as it is
}

// Dir is a directory that the manager makes, with the variable that names it
// to the service, such as STATE_DIRECTORY.
type Dir struct {
	Path, Variable string
	Runtime        bool // it goes when the service has ended for good
}

// Socket is one that the manager listens on for the service.
type Socket struct {
	Address     string // as ListenStream= and the like have it
	Kind        string // stream, datagram or seqpacket
	Name        string // FileDescriptorName=
	Mode        uint32 // of a path
	User, Group string // of a path
}

// Credential is a secret: a file that is copied for the service's eyes.
type Credential struct{ Name, Path string }
