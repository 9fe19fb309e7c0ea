package machine

import (
	"fmt"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
)

// say tells the manager something together with the status of the moment.
func (m *Machine) say(fields ...notify.Field) {
	m.statusSent = m.statusText()
	m.send(append(fields, notify.Field{Key: "STATUS", Value: m.statusSent})...)
}

// tellStatus sends STATUS= when it has changed.
func (m *Machine) tellStatus() {
	if m.state == Done || m.statusText() == m.statusSent {
		return
	}
	m.say()
}

// statusText is svcrun's own status joined with the child's.
func (m *Machine) statusText() string {
	text := m.ownStatus()
	if m.childStatus != "" {
		text += " · child: " + m.childStatus
	}
	return text
}

// ownStatus says in one line where the service is and why.
func (m *Machine) ownStatus() string {
	switch m.state {
	case Delaying:
		return "start held back until " + m.deadline.Format(time.TimeOnly) + ", " + m.cfg.Hold.Reason
	case Starting:
		return join("starting", m.monitor.Summary())
	case Ready:
		return join(join(m.readyStatus(), m.monitor.Summary()), m.reloadStatus())
	case Reloading:
		return join("reloading", m.monitor.Summary())
	case Draining, Stopping, Ending, Killing, Aborting:
		return m.state.String() + ": " + m.why()
	case Done:
	}
	return ""
}

// readyStatus says what readiness rests on.
func (m *Machine) readyStatus() string {
	if n := len(m.cfg.Ready); n > 0 {
		return fmt.Sprintf("ready %d/%d", n, n)
	}
	return "ready"
}

// reloadStatus warns of a reload that failed, until one is done.
func (m *Machine) reloadStatus() string {
	if m.reloadFailed == "" {
		return ""
	}
	return "the last reload failed: " + m.reloadFailed
}

// why says why the service is on its way out.
func (m *Machine) why() string {
	switch m.reason {
	case requested:
		return history.AskedToStop
	case unhealthy:
		return fmt.Sprintf("unhealthy, %s failed %d times (%s)", m.failedCheck, m.failedTimes, m.failedSaid)
	case startTimeout:
		return fmt.Sprintf("not ready within %s", syntax.FormatDuration(m.cfg.StartTimeout))
	case aborted:
		return "watchdog"
	case byItself:
		if m.mainGone {
			return "the main process " + m.status.String()
		}
	}
	return "the service stops by itself"
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}
