package machine

import (
	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// This file is a service's way out: KillMode=mixed, without ExecStop= and
// ExecStopPost=.

// stop runs a stop job (systemd: src/core/service.c, service_stop). One that
// finds the service on its way out joins it.
func (u *unit) stop() {
	u.run.stopped = true
	switch {
	case u.state.down():
		u.jobsOver()
	case u.state == autoRestart || u.state == queued:
		u.stopWaiting()
	case u.state.stops() && u.state != stopWatchdog:
		u.tell(timeline.Event{Name: timeline.Stopping, Text: u.run.why})
	default:
		u.tell(timeline.Event{Name: timeline.Stopping, Text: u.run.why})
		u.enterSignal(stopSigterm, policy.Success)
	}
}

// stopFor notes why the manager stops a service by itself.
func (u *unit) stopFor(why string) {
	u.run.why = why
	u.tell(timeline.Event{Name: timeline.Stopping, Text: why})
}

// stopWaiting ends the wait for a restart.
func (u *unit) stopWaiting() {
	u.tell(timeline.Event{Name: timeline.Stopping, Text: u.run.why + "; the restart that was waited for is off"})
	u.enter(dead, syntax.Infinity)
	u.run.success, u.run.code = true, 0
	u.isDown()
}

// stopByItself takes a service's own STOPPING=1: it gets the time of a stop, and
// no signal.
func (u *unit) stopByItself() {
	u.tell(timeline.Event{Name: timeline.Stopping, Text: "by itself"})
	u.signal = 0
	u.enter(stopSigterm, u.plan.StopTimeout)
}

// hurry takes somebody who does not want to wait for the stop, nor for its turn.
func (u *unit) hurry() {
	if !u.job.stopping {
		u.stopDependents()
		u.stopJob(stopRequested)
		return
	}
	u.hurries++
	switch {
	case u.job.stopWanted:
		u.job.stopWanted = false
		u.stop()
	case u.hurries == 1 && u.state == stopSigterm:
		u.signalEach(u.plan.StopSignal)
	case u.state == finalSigterm || u.state == finalSigkill:
		u.enterSignal(finalSigkill, policy.Success)
	default:
		u.enterSignal(stopSigkill, policy.Success)
	}
}

// enterSignal sends what a state of the way out sends, and waits there for
// processes to end; where there is none it goes on (systemd:
// src/core/service.c, service_enter_signal).
func (u *unit) enterSignal(s state, result policy.Result) {
	u.fail(result)
	limit := u.plan.StopTimeout
	alive := u.main.asked || u.control.asked
	switch s {
	case stopWatchdog:
		limit, u.signal = u.plan.AbortTimeout, syntax.SIGABRT
	case stopSigkill, finalSigkill:
		u.signal, alive = syntax.SIGKILL, alive || u.left > 0
	default:
		u.signal = u.plan.StopSignal
	}
	if alive {
		u.enter(s, limit)
		u.signalEach(u.signal)
		return
	}
	switch s {
	case stopWatchdog, stopSigterm:
		u.enterSignal(stopSigkill, policy.Success)
	case stopSigkill:
		u.enterSignal(finalSigterm, policy.Success)
	case finalSigterm:
		u.enterSignal(finalSigkill, policy.Success)
	default:
		u.enterDead()
	}
}

// signalEach signals both processes of the unit, or with SIGKILL all that there
// is of it. A process that is just being started gets it when it runs.
func (u *unit) signalEach(signal syntax.Signal) {
	if signal == syntax.SIGKILL {
		u.send(signal, ToAll)
		return
	}
	if u.main.pid != 0 {
		u.send(signal, ToMain)
	}
	if u.control.pid != 0 {
		u.send(signal, ToControl)
	}
}

// send sends a signal, and wakes whoever is stopped to take it.
func (u *unit) send(signal syntax.Signal, to Target) {
	u.tell(timeline.Event{Name: timeline.Signalled, Signal: signal.String()})
	u.do(Signal{u.plan.Name, signal, to})
	if signal != syntax.SIGKILL {
		u.do(Signal{u.plan.Name, syntax.SIGCONT, to})
	}
}

// exited takes the end of one of the unit's processes (systemd:
// src/core/service.c, service_sigchld_event).
func (u *unit) exited(e Exited) {
	if p := u.process(e.Role); !p.asked || e.PID != 0 && e.PID != p.pid {
		return
	}
	u.left = e.Left
	if len(e.Tail) > 0 {
		u.run.tail = e.Tail
	}
	if e.Role == Control {
		u.controlExited(e)
		return
	}
	u.main = process{}
	u.run.exit, u.run.line, u.run.stoppedFirst = e.Exit, e.Line, u.run.stopped
	result := u.plan.Restarts.Rules.Result(e.Exit)
	if u.plan.Main.MayErr {
		result = policy.Success
	}
	u.fail(result)
	switch {
	case u.state == start && result == policy.Success:
		u.enterSignal(stopSigterm, policy.Protocol) // it will never have been ready
	case u.state.stops():
		u.goOn(result)
	case u.state == reload && u.control.asked: // which ends the reload first
	default:
		u.enterSignal(stopSigterm, result)
	}
}

// controlExited takes the end of a command beside the main process.
func (u *unit) controlExited(e Exited) {
	u.control = process{}
	switch {
	case u.state == startPre:
		u.commandEnded(e.Exit)
	case u.state == reload && u.run.reloadError != "":
		u.reloadOver(u.run.reloadError)
	case u.state == reload && u.controlResult(e.Exit) != policy.Success && !u.plan.Reload.Command.MayErr:
		u.reloadOver(e.Exit.String())
	case u.state == reload:
		u.reloadOver("")
	case u.state.stops():
		result := u.controlResult(e.Exit)
		if result != policy.Success && u.run.command < len(u.plan.Before) {
			u.commandFailed(u.plan.Before[u.run.command], e.Exit)
		}
		u.goOn(result)
	}
}

// goOn goes on with the way out when both processes are gone.
func (u *unit) goOn(result policy.Result) {
	u.fail(result)
	switch {
	case u.main.asked || u.control.asked:
	case u.state == finalSigkill:
		u.enterDead()
	default:
		u.enterSignal(finalSigterm, policy.Success)
	}
}

// leftChanged goes on when nothing is left at all.
func (u *unit) leftChanged(left int) {
	u.left = left
	if left == 0 && u.state.stops() {
		u.goOn(policy.Success)
	}
}

// timeOut notes which time limit was the first to be reached.
func (u *unit) timeOut(limit history.TimedOut) {
	if u.run.timedOut == history.NoTimeout {
		u.run.timedOut = limit
	}
}
