package history

import (
	"strconv"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// Start is what began a run.
type Start string

// The ways in which a run begins.
const (
	UnknownStart Start = "unknown"   // what came before is not known
	Automatic    Start = "automatic" // Restart= did, after the hold-off
	Requested    Start = "requested" // an operator, the boot, a dependency, a timer or a socket
)

// Run is one start of a unit and what became of it. Zero times and durations
// are not known, or have not come to pass.
type Run struct {
	Unit         string
	InvocationID string // empty where the start was refused, and where svcrun ran without systemd
	Number       int    // 1 is the oldest run that is known
	Start        Start
	Restarts     int // the manager's restart counter at an automatic start; else 0

	Started time.Time // of a refused start, when it was refused
	Ready   time.Time // when the start job was done; with Type=simple that is at once
	Ended   time.Time // when the main process ended, or else the unit
	Running bool      // the manager says that it has not ended

	Restarted time.Time // when its automatic restart was announced, at the end of the hold-off

	// Up is how long it ran: since Ready, or where it never was ready since
	// Started. Delay is how long the unit was down until the hold-off was
	// over, or else until the next start. Both leave out suspended time, as
	// systemd's own timers do, where the journal allows it.
	Up    time.Duration
	Delay time.Duration

	// Result is the manager's word for the end (Result= of systemd.service(5)),
	// empty where it is not on record. Stopped: a stop job came before the unit
	// was dead, whatever had ended it. StoppedWaiting: one ended the hold-off.
	Result         string
	Stopped        bool
	StoppedWaiting bool

	FirstFailure bool // the first of a burst of failures, each restarted automatically

	Record *Record // what svcrun wrote down of the run; nil for none
	End
}

// End is why and how a run ended.
type End struct {
	Cause  Cause // empty while no end is known
	Exit   Exit
	Detail []Field // what else is known, in the order in which it was told
}

// ReadyAfter is how long the start took; no where it never was ready.
func (r Run) ReadyAfter() (time.Duration, bool) {
	if r.Started.IsZero() || r.Ready.IsZero() {
		return 0, false
	}
	return max(0, r.Ready.Sub(r.Started)), true
}

// ExitKind is how a process ended, by systemd's word for it.
type ExitKind string

// The ways in which a process ends. A clean end leaves no record in the
// journal, so that the empty kind is the usual one there.
const (
	NoExit ExitKind = ""
	Exited ExitKind = "exited"
	Killed ExitKind = "killed"
	Dumped ExitKind = "dumped"
)

// Exit is how a process ended: the main process, or where Detail has a
// command, the process of that directive.
type Exit struct {
	Kind   ExitKind
	Status int // the exit status, or the signal's number
}

// Code is the exit status; no where it is not known or a signal killed it.
func (e Exit) Code() (int, bool) {
	return e.Status, e.Kind == Exited
}

// Signal is the signal that killed the process.
func (e Exit) Signal() (syntax.Signal, bool) {
	return syntax.Signal(e.Status), e.Kind == Killed || e.Kind == Dumped
}

// is says whether the process exited with that status.
func (e Exit) is(code int) bool {
	return e == Exit{Exited, code}
}

// parseExit reads EXIT_CODE= and EXIT_STATUS=.
func parseExit(kind, status string) Exit {
	n, err := strconv.Atoi(status)
	switch k := ExitKind(kind); {
	case err != nil || n < 0 || n > 255:
	case k == Exited, k == Killed, k == Dumped:
		return Exit{k, n}
	}
	return Exit{}
}
