package machine

import (
	"slices"
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// Config is what svcrun was asked to do, validated.
type Config struct {
	Ready, Live  []watchdog.Check
	OnUnhealthy  watchdog.OnUnhealthy // of checks that name none of their own
	Hold         Hold                 // before the child is started
	StartTimeout time.Duration        // for READY=1
	StableAfter  time.Duration        // of unbroken health until earlier failures are forgotten; 0 for never
	EarlyExit    EarlyExit            // of a child that exits 0 before READY=1
	Drain        drain.Plan
	AbortWait    time.Duration
	Reload       Reload
	Success      Success // what counts as a clean end of a requested stop

	Managed           bool          // there is a manager that listens
	WatchdogPeriod    time.Duration // the manager's WatchdogSec=; 0 where it expects no heartbeats
	InterruptStops    bool          // SIGINT is a request to stop: on a terminal, or as PID 1
	ManagerSignalsAll bool          // KillMode=control-group: the child gets the manager's TERM as well
}

// Hold is for how long a start is held back, and why.
type Hold struct {
	Pause  time.Duration // for a storm of failures
	Delay  time.Duration // of the ladder; after the pause
	Reason string
}

// Total is how long the child waits.
func (h Hold) Total() time.Duration { return h.Pause + h.Delay }

// EarlyExit is what a child's exit 0 before READY=1 means.
type EarlyExit string

const (
	EarlyExitFail    EarlyExit = "fail"    // the manager calls it protocol, a failure
	EarlyExitSuccess EarlyExit = "success" // READY=1 goes out first
)

// Reload is how the child is told to reload, and how long it may take.
type Reload struct {
	Signal  syntax.Signal // to the main process, where there is no Command
	Command []string      // run like a hook
	Timeout time.Duration
}

// Success lists the exit codes and signals that are a clean end of a requested
// stop, beside exit 0 and the stop signals themselves.
type Success struct {
	Codes   []int
	Signals []syntax.Signal
}

// clean says whether status is a clean end of a stop that sent the signals of
// steps: exit 0, death by one of them, a shell's 128+it, or what Success lists.
func (c Config) clean(status Status, sent []syntax.Signal) bool {
	if status.Signal != 0 {
		return !status.Core && (slices.Contains(sent, status.Signal) || slices.Contains(c.Success.Signals, status.Signal))
	}
	return status.Code == 0 || slices.Contains(c.Success.Codes, status.Code) ||
		status.Code > 128 && slices.Contains(sent, syntax.Signal(status.Code-128))
}
