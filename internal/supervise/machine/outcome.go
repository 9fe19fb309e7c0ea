package machine

import (
	"strconv"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// Status is how a process ended: by exit with Code, or by Signal.
type Status struct {
	Code   int
	Signal syntax.Signal // 0 after an exit
	Core   bool          // the kernel wrote a core
}

// String tells the status as people say it.
func (s Status) String() string {
	switch {
	case s.Core:
		return "died of " + s.Signal.String() + ", core dumped"
	case s.Signal != 0:
		return "died of " + s.Signal.String()
	}
	return "exited " + strconv.Itoa(s.Code)
}

// The exit codes that are svcrun's own.
const (
	ExitUnhealthy    = 69  // EX_UNAVAILABLE: unhealthy, and drained
	ExitStartTimeout = 70  // EX_SOFTWARE: READY=1 never came
	ExitExec         = 203 // EXIT_EXEC of systemd.exec(5): the command cannot be executed
)

// Outcome is how svcrun itself ends, and what it says of it.
type Outcome struct {
	Status    Status
	End       history.EndLine
	Record    history.Record // of the whole run
	Failed    bool           // as the manager sees it; a later start may be held back
	Requested bool           // a stop was asked for: whatever failed before is forgotten
}

// reason is why the service is on its way out. The first one stays, but for the
// watchdog's: an abort is what the core and the history must show.
type reason int

const (
	byItself     reason = iota // the child ended, or said STOPPING=1
	requested                  // TERM, or INT where that stops
	unhealthy                  // a live check reached its threshold
	startTimeout               // READY=1 did not come in time
	aborted                    // the watchdog's SIGABRT
)

// outcome is how svcrun ends.
func (m *Machine) outcome() Outcome {
	status, cause := m.ending()
	return Outcome{
		Status: status, End: m.endLine(cause), Record: m.closeRecord(cause),
		Failed: cause != history.Clean && cause != history.StopRequested, Requested: !m.termAt.IsZero(),
	}
}

// ending computes how svcrun ends, from why the service is on its way out and
// how the main process ended.
func (m *Machine) ending() (Status, history.Cause) {
	switch m.reason {
	case unhealthy:
		return Status{Code: ExitUnhealthy}, history.Unhealthy
	case startTimeout:
		return Status{Code: ExitStartTimeout}, history.StartTimeout
	case aborted:
		core := m.status.Core && m.status.Signal == syntax.SIGABRT
		return Status{Signal: syntax.SIGABRT, Core: core}, history.Watchdog
	case requested, byItself:
	}
	switch {
	case m.mainKilled:
		return Status{Signal: syntax.SIGKILL}, history.StopTimeout
	case m.reason == requested && (!m.mainGone || m.cfg.clean(m.status, m.sent)):
		return Status{}, history.StopRequested
	case m.execFailed:
		return m.status, history.Exec
	case !m.status.succeeds():
		return m.status, failure(m.status)
	case m.reason == requested:
		return m.status, history.StopRequested
	case m.cfg.Managed && !m.served: // for the manager that is a failure
		return m.status, history.Protocol
	}
	return m.status, history.Clean
}

// succeeds says whether the manager takes the end for a success, where
// SuccessExitStatus= does not tell it of more: death by some signals is one.
func (s Status) succeeds() bool {
	return policy.Rules{}.Clean(s.Exit())
}

// Exit is the status in the terms of package policy.
func (s Status) Exit() policy.Exit {
	switch {
	case s.Signal == 0:
		return policy.Exit{How: policy.Exited, Code: s.Code}
	case s.Core:
		return policy.Exit{How: policy.Dumped, Signal: s.Signal}
	}
	return policy.Exit{How: policy.Killed, Signal: s.Signal}
}

// failure names the end of a process that was none of svcrun's doing.
func failure(s Status) history.Cause {
	switch {
	case s.Core:
		return history.CoreDump
	case s.Signal != 0:
		return history.Signal
	}
	return history.ExitCode
}

// endLine is the fixed line that svcstat reads: the cause, how the main
// process ended, and the check that had the last word.
func (m *Machine) endLine(cause history.Cause) history.EndLine {
	line := history.EndLine{Cause: cause}
	add := func(key, value string) { line.Fields = append(line.Fields, history.Field{Key: key, Value: value}) }
	if m.mainGone && m.status.Signal != 0 {
		add("signal", m.status.Signal.Name())
	} else if m.mainGone {
		add("code", strconv.Itoa(m.status.Code))
	}
	if m.failedCheck != "" {
		add("check", m.failedCheck)
		if m.failedTimes > 0 {
			add("after", strconv.Itoa(m.failedTimes))
		}
		if m.failedSaid != "" {
			add("last", m.failedSaid)
		}
	}
	if !m.stopAt.IsZero() {
		add("stop", m.now.Sub(m.stopAt).Truncate(time.Millisecond).String())
	}
	if m.left > 0 {
		add("left", strconv.Itoa(m.left))
	}
	return line
}
