package machine

import (
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
)

// This file is the reload: told to the child, and over when it is ready again.

// hangUp takes a SIGHUP, which asks for a reload. A child that starts is spared:
// it may not heed the signal yet, and would die of it. What has not been started,
// or is being stopped, has nothing to reload.
func (m *Machine) hangUp() {
	switch m.state {
	case Starting:
		m.reloadWanted = true
	case Ready, Reloading:
		m.reload()
	case Delaying, Draining, Stopping, Ending, Aborting, Killing, Done:
	}
}

// reloadAsked takes a request of somebody who waits for its end.
func (m *Machine) reloadAsked() {
	m.do(Await{})
	m.awaited = true
	if m.state == Ready || m.state == Reloading {
		m.reload()
		return
	}
	m.answer("the service is " + m.state.String())
}

// reload passes a reload on to a child that may know nothing of the protocol.
// One that is asked for during another is a new one: the manager waits for a
// RELOADING=1 that is younger than its signal (systemd.service(5)).
func (m *Machine) reload() {
	m.reloadWanted = false
	m.stopHook()
	m.enterReloading()
	if len(m.cfg.Reload.Command) > 0 {
		m.hookRunning = true
		m.do(Hook{m.cfg.Reload.Command})
		return
	}
	m.do(Signal{m.cfg.Reload.Signal, ToMain})
}

// enterReloading says RELOADING=1, and has every ready check pass anew.
func (m *Machine) enterReloading() {
	m.enter(Reloading, m.now.Add(m.cfg.Reload.Timeout))
	m.reloadFailed = ""
	m.monitor.Again(m.now)
	if m.cfg.Managed {
		m.do(Send{Message: notify.Message{{Key: "RELOADING", Value: "1"}}, Stamped: true})
	}
}

// reloadCommandEnded has the ready checks asked of what the command has left, or
// ends a reload that failed: the service goes on as it was.
func (m *Machine) reloadCommandEnded(failure string) {
	m.hookRunning = false
	if failure == "" {
		m.monitor.Again(m.now)
		return
	}
	m.failReload(failure)
}

// reloadTimedOut ends a reload that never became ready: RELOADING=1 without
// READY=1 hangs the manager's job.
func (m *Machine) reloadTimedOut() {
	what := "not ready within "
	if m.hookRunning {
		what = "the command was not done within "
		m.stopHook()
	}
	what += syntax.FormatDuration(m.cfg.Reload.Timeout)
	if pending := m.monitor.Summary(); pending != "" {
		what += ": " + pending
	}
	m.failReload(what)
}

// failReload ends a reload with a warning, and with READY=1 all the same.
func (m *Machine) failReload(why string) {
	m.log(Warning, "reload: "+why)
	m.reloadFailed = why
	m.childReloading = false
	m.serve()
}

// childReloads takes the child's own RELOADING=1. During a reload of svcrun's
// it is swallowed, but then the child's READY=1 is waited for.
func (m *Machine) childReloads() {
	switch m.state {
	case Ready:
		m.enterReloading()
		m.childReloading = true
	case Reloading:
		m.childReloading = true
	case Delaying, Starting, Draining, Stopping, Ending, Aborting, Killing, Done:
	}
}

// answerReload tells who waits for a reload that it is over. At a requested stop
// the manager ends who waits itself, and would take a failure that is told now
// for one of the service.
func (m *Machine) answerReload() {
	switch {
	case m.reason == requested && m.state != Done:
	case !m.awaited || m.state == Reloading:
	case m.state == Ready:
		m.answer(m.reloadFailed)
	case m.state == Done:
		m.answer("the service has ended")
	default:
		m.answer("the service is " + m.state.String())
	}
}

func (m *Machine) answer(failure string) {
	m.awaited = false
	m.do(Answer{failure})
}
