package machine

import (
	"fmt"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// This file is the service's life up to its stop: starting and serving.

// While it starts, the manager is asked for extendBy more every extendEvery,
// so that a TimeoutStartSec= below the start timeout does not cut it short.
const (
	extendEvery = 5 * time.Second
	extendBy    = 15 * time.Second
)

// spawned begins to watch a child that has just been exec'd.
func (m *Machine) spawned(pid int) {
	m.deadline = m.now.Add(m.cfg.StartTimeout)
	m.running, m.main = true, pid
	m.record.Started = m.now
	m.monitor.Start(m.now)
}

// spawnFailed ends as the manager itself would for a command that it cannot
// execute.
func (m *Machine) spawnFailed(reason string) {
	m.log(Error, reason)
	m.mainGone, m.execFailed, m.status = true, true, Status{Code: ExitExec}
	m.finish()
}

// readyNow says whether READY=1 is owed: every ready check of a service that
// starts or reloads holds, and a child that said RELOADING=1 has said READY=1.
func (m *Machine) readyNow() bool {
	waiting := m.state == Starting && m.running || m.state == Reloading && !m.hookRunning
	return waiting && m.monitor.Ready() && !m.childReloading
}

// serve says READY=1.
func (m *Machine) serve() {
	m.enter(Ready, time.Time{})
	m.served = true
	m.record.Ready = earliest(m.record.Ready, m.now)
	m.monitor.Served(m.now)
	m.beat = m.now.Add(m.cfg.WatchdogPeriod / 2)
	m.say(notify.Field{Key: "READY", Value: "1"})
	if m.reloadWanted {
		m.reload()
	}
}

// startTimedOut stops a child that has not become ready in time.
func (m *Machine) startTimedOut() {
	m.reason = startTimeout
	m.failedCheck, m.failedSaid = m.monitor.Pending()
	m.log(Error, fmt.Sprintf("not ready within %s: %s", syntax.FormatDuration(m.cfg.StartTimeout), m.monitor.Summary()))
	m.beginStop()
	m.stopping()
}

// waits says whether the manager waits for READY=1, and could lose patience.
func (m *Machine) waits() bool {
	return (m.state == Delaying || m.state == Starting) && m.cfg.Managed
}

// askForTime keeps the manager from overtaking the start delay and the start
// timeout.
func (m *Machine) askForTime() {
	if !m.waits() || m.now.Before(m.extend) {
		return
	}
	m.extend = m.now.Add(extendEvery)
	m.send(notify.Field{Key: "EXTEND_TIMEOUT_USEC", Value: notify.Microseconds(extendBy)})
}

// beats says whether heartbeats are owed at present.
func (m *Machine) beats() bool {
	return (m.state == Ready || m.state == Reloading) && m.cfg.WatchdogPeriod > 0 && !m.triggered
}

// heartbeat says WATCHDOG=1 at half the manager's period, on fresh evidence.
// A heartbeat that is overdue goes out with the evidence it waited for.
func (m *Machine) heartbeat() {
	if !m.beats() || m.now.Before(m.beat) || !m.monitor.Fresh(m.now) {
		return
	}
	m.beat = m.now.Add(m.cfg.WatchdogPeriod / 2)
	m.send(notify.Field{Key: "WATCHDOG", Value: "1"})
}

// probed takes a probe's answer.
func (m *Machine) probed(p Probed) {
	if p.Unknown {
		m.monitor.Unknown(m.now, p.ID, p.Failure)
		label := m.monitor.Check(p.ID).Label()
		m.warnOnce("unknown "+label, label+": "+p.Failure+"; it counts neither for nor against the service")
		return
	}
	if m.monitor.Done(m.now, p.ID, p.Failure) {
		m.checkUnhealthy(p.ID)
	}
}

// descriptorRead takes what an fd check waits for: it holds, or never will.
func (m *Machine) descriptorRead(read DescriptorRead) {
	if read.Newline {
		m.monitor.ChildReadyOn(read.Descriptor)
		return
	}
	m.monitor.ChildClosed(read.Descriptor)
}

// checkUnhealthy answers a live check that has reached its failure threshold.
func (m *Machine) checkUnhealthy(id watchdog.ID) {
	if m.state != Ready {
		return
	}
	check := m.monitor.Check(id)
	answer := check.OnUnhealthy
	if answer == watchdog.Inherit {
		answer = m.cfg.OnUnhealthy
	}
	label := check.Label()
	times, said := m.monitor.Failure(id)
	m.log(Warning, fmt.Sprintf("unhealthy: %s failed %d times, last: %s; on-unhealthy=%s", label, times, said, answer))
	if answer == watchdog.Report {
		return
	}
	m.failedCheck, m.failedTimes, m.failedSaid = label, times, said
	if answer == watchdog.Abort {
		m.trigger()
		return
	}
	m.reason = unhealthy
	m.beginStop()
	m.draining(0)
}

// trigger has the manager abort the service at once. No heartbeat follows, so
// that a manager too old for the trigger aborts when its watchdog runs out.
// Where there is no manager svcrun does what it would have done.
func (m *Machine) trigger() {
	if !m.cfg.Managed {
		m.abort()
		return
	}
	m.triggered = true
	m.say(notify.Field{Key: "WATCHDOG", Value: "trigger"})
}
