package machine

import (
	"fmt"
	"slices"
	"time"

	"github.com/svckit/svckit/notify"
)

// This file is what the child says, and what of it goes on to the manager.

// heard takes a message of the child.
func (m *Machine) heard(s notify.Said) {
	for _, key := range s.Refused {
		m.warnOnce(key, "the service sent "+key+"=, which is not passed on: svcrun stays the unit's main process")
	}
	if s.HasStatus {
		m.childStatus = s.Status
	}
	if s.WatchdogTime > 0 {
		m.monitor.SetChildTimeout(m.now, s.WatchdogTime)
	}
	if s.Alive {
		m.monitor.ChildAlive(m.now)
	}
	m.triggered = m.triggered || s.Trigger
	m.forward(s)
	if s.MainPID > 0 && s.MainPID != m.main && m.running && !m.mainGone {
		m.do(Adopt{s.MainPID})
	}
	if s.Reload {
		m.reloadAsked()
	}
	switch {
	case s.Stopping:
		m.childStopping()
	case s.Ready:
		m.childReloading = false
		m.monitor.ChildReady()
	case s.Reloading:
		m.childReloads()
	}
}

// restartReset has the manager forget earlier failures, from systemd 258 on
// (sd_notify(3)); before, it is of no effect.
var restartReset = notify.Field{Key: "RESTART_RESET", Value: "1"}

// forward passes on what is the manager's to answer.
func (m *Machine) forward(s notify.Said) {
	if !m.cfg.Managed {
		return
	}
	message := s.Forward
	if s.Barrier {
		message = notify.Message{{Key: "BARRIER", Value: "1"}}
	}
	if extend := m.bounded(s.Extend); extend > 0 {
		message = append(message, notify.Field{Key: "EXTEND_TIMEOUT_USEC", Value: notify.Microseconds(extend)})
	}
	if slices.Contains(s.Forward, restartReset) {
		m.do(Forget{})
	}
	if len(message) > 0 {
		m.do(Send{Message: message, Attached: s.Barrier || s.Stores})
	}
}

// bounded limits the child's EXTEND_TIMEOUT_USEC= to what svcrun itself gives
// the phase. While the service serves it is dropped: it would stretch the
// watchdog.
func (m *Machine) bounded(extend time.Duration) time.Duration {
	if m.state == Ready || m.state == Reloading || m.deadline.IsZero() {
		return 0
	}
	return min(extend, m.deadline.Sub(m.now))
}

// adopted takes another process for the main one: a daemon that has executed
// itself anew by forking. The end of the one before is no end of the service.
func (m *Machine) adopted(pid int) {
	m.main = pid
	m.log(Info, fmt.Sprintf("the main process is %d from now on", pid))
}

// warnOnce logs a warning the first time.
func (m *Machine) warnOnce(kind, text string) {
	if !m.warned[kind] {
		m.warned[kind] = true
		m.log(Warning, text)
	}
}
