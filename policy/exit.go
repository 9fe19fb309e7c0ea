package policy

import (
	"fmt"
	"slices"

	"github.com/svckit/svckit/internal/syntax"
)

// Exit is how the main process ended, as ExecMainCode= and ExecMainStatus= say
// it. The zero Exit is of a service that never had a main process, because a
// command before it failed; no list of exit statuses matches it.
type Exit struct {
	How    ExitKind
	Code   int           // of Exited
	Signal syntax.Signal // of Killed and Dumped
}

// ExitKind is the way in which a process ends.
type ExitKind int

// The ways, numbered as waitid(2) does (CLD_EXITED and so on).
const (
	NoExit ExitKind = iota // there was no process
	Exited                 // by itself, with a code
	Killed                 // by a signal
	Dumped                 // by a signal, with a core dump
)

// String is the exit in a few words.
func (e Exit) String() string {
	switch e.How {
	case NoExit:
		return "no main process"
	case Exited:
		return fmt.Sprintf("exit code %d", e.Code)
	case Killed:
		return "SIG" + e.Signal.Name()
	case Dumped:
		return "SIG" + e.Signal.Name() + " with a core dump"
	}
	return fmt.Sprintf("exit kind %d", int(e.How))
}

// Statuses is a list of exit codes and signals, as SuccessExitStatus= and
// RestartPreventExitStatus= have it. 15 is a code there, never SIGTERM.
type Statuses struct {
	Codes   []int
	Signals []syntax.Signal
}

// Matches says whether the main process ended in a way that the list has.
// It makes no difference whether a signal left a core dump.
func (s Statuses) Matches(e Exit) bool {
	switch e.How {
	case NoExit:
	case Exited:
		return slices.Contains(s.Codes, e.Code)
	case Killed, Dumped:
		return slices.Contains(s.Signals, e.Signal)
	}
	return false
}

// daemonSignals end a daemon cleanly, though not a command that was to finish
// something (systemd.service(5), SuccessExitStatus=).
var daemonSignals = []syntax.Signal{syntax.SIGHUP, syntax.SIGINT, syntax.SIGTERM, syntax.SIGPIPE}

// Clean says whether the main process ended as a success. An end with a core
// dump is none, whatever SuccessExitStatus= says (systemd:
// src/shared/exit-status.c, is_clean_exit).
func (r Rules) Clean(e Exit) bool {
	switch e.How {
	case NoExit, Dumped:
		return false
	case Exited:
		return e.Code == 0 || r.Success.Matches(e)
	case Killed:
		return !r.Oneshot && slices.Contains(daemonSignals, e.Signal) || r.Success.Matches(e)
	}
	return false
}

// Result is the Result= of a service of which nothing but its main process's
// end is known: no timeout, no watchdog, no failed command around it.
func (r Rules) Result(e Exit) Result {
	switch {
	case e.How == NoExit || r.Clean(e):
		return Success
	case e.How == Exited:
		return ExitCode
	case e.How == Killed:
		return KilledBySignal
	}
	return CoreDump
}
