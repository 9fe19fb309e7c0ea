package machine

import (
	"fmt"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
)

// This file is the service's way out: draining, stopping, killing.

const (
	// sameStop is how long a repeated request to stop is the same request: a
	// manager and an operator often both send one.
	sameStop = time.Second

	// sweepEvery is how often SIGKILL goes to what has been forked meanwhile.
	sweepEvery = 100 * time.Millisecond

	// stopMargin is what a manager is asked for beyond the plan's own budget.
	stopMargin = 5 * time.Second
)

// signalled takes a signal that svcrun itself got.
func (m *Machine) signalled(s syntax.Signal) {
	switch {
	case s == syntax.SIGTERM, s == syntax.SIGINT && m.cfg.InterruptStops:
		m.stopRequested()
	case s == syntax.SIGABRT:
		m.abort()
	case s == syntax.SIGHUP:
		m.hangUp()
	case !m.mainGone && m.state != Delaying:
		m.do(Signal{s, ToMain})
	}
}

// stopRequested takes a request to stop, the first or a later one.
func (m *Machine) stopRequested() {
	first := m.termAt.IsZero()
	if first {
		m.termAt = m.now
	}
	again := !first && m.now.Sub(m.termAt) >= sameStop
	switch m.state {
	case Delaying:
		m.reason = requested
		m.finish()
	case Starting:
		m.reason = requested
		m.beginStop()
		m.stopping()
	case Ready, Reloading:
		m.reason = requested
		m.beginStop()
		m.draining(m.cfg.Drain.Delay)
	case Draining:
		if again {
			m.stopping()
		}
	case Stopping:
		m.stopAgain(again)
	case Ending:
		if again || m.reason == byItself {
			m.kill()
		}
	case Aborting, Killing, Done:
	}
}

// stopAgain takes a request to stop during the soft phase: the first one that
// a child gets which is stopping by itself, or one that goes on to the next
// step.
func (m *Machine) stopAgain(again bool) {
	switch {
	case m.selfStop:
		m.reason, m.selfStop = requested, false
		m.stopping()
	case again:
		m.nextStep()
	}
}

// beginStop is the way out of every state in which the service runs: probes
// end, and the manager is told first of all. In Starting it would not listen
// to STOPPING=1, but must give the time that the stop takes.
func (m *Machine) beginStop() {
	m.stopAt = m.now
	m.record.Stopping = m.now
	m.stopHook()
	m.monitor.Stop()
	m.do(StopProbes{})
	if m.served {
		m.sayStopping()
		return
	}
	m.send(notify.Field{Key: "EXTEND_TIMEOUT_USEC", Value: notify.Microseconds(m.cfg.Drain.StepsBudget() + stopMargin)})
}

// sayStopping says STOPPING=1, and switches the manager's watchdog off with it.
func (m *Machine) sayStopping() {
	m.send(notify.Field{Key: "STOPPING", Value: "1"}, notify.Field{Key: "WATCHDOG_USEC", Value: "0"})
}

// draining runs the hook, and lets the delay pass, while the service serves.
func (m *Machine) draining(delay time.Duration) {
	if len(m.cfg.Drain.PreStop) > 0 {
		m.enter(Draining, m.now.Add(m.cfg.Drain.PreStopTimeout))
		m.phase(history.Phase{Name: phasePreStop, Reason: m.why()})
		m.hookRunning = true
		m.do(Hook{m.cfg.Drain.PreStop})
		return
	}
	m.drainDelay(delay)
}

// drainDelay lets the delay pass.
func (m *Machine) drainDelay(delay time.Duration) {
	if delay == 0 {
		m.stopping()
		return
	}
	m.enter(Draining, m.now.Add(delay))
	m.phase(history.Phase{Name: phaseDrainDelay, Reason: m.why()})
}

// hookEnded goes on when the hook is over.
func (m *Machine) hookEnded(failure string) {
	if !m.hookRunning {
		return
	}
	if m.state == Reloading {
		m.reloadCommandEnded(failure)
		return
	}
	m.hookRunning = false
	if failure != "" {
		m.log(Warning, "pre-stop hook: "+failure)
	}
	m.afterHook()
}

// afterHook gives the delay to a requested stop only: an unhealthy service has
// nothing to serve.
func (m *Machine) afterHook() {
	delay := m.cfg.Drain.Delay
	if m.reason != requested {
		delay = 0
	}
	m.drainDelay(delay)
}

// drainExpired ends the hook at its timeout, or the delay.
func (m *Machine) drainExpired() {
	if !m.hookRunning {
		m.stopping()
		return
	}
	m.stopHook()
	m.log(Warning, "pre-stop hook: timeout after "+syntax.FormatDuration(m.cfg.Drain.PreStopTimeout)+", killed")
	m.afterHook()
}

// stopHook kills the hook where it still runs.
func (m *Machine) stopHook() {
	if m.hookRunning {
		m.hookRunning = false
		m.do(StopHook{})
	}
}

// stopping begins the soft phase.
func (m *Machine) stopping() {
	m.stopHook()
	m.enter(Stopping, time.Time{})
	m.steps, m.step = m.cfg.Drain.SoftPhase(m.reason == unhealthy), -1
	m.nextStep()
}

// nextStep sends the next step's signal, or goes on to the hard phase.
func (m *Machine) nextStep() {
	m.step++
	if m.step >= len(m.steps) {
		m.kill()
		return
	}
	step := m.steps[m.step]
	m.deadline = m.now.Add(step.Wait)
	m.phase(history.Phase{Name: phaseStop, Signal: step.Signal.Name(), Reason: m.why()})
	m.sent = append(m.sent, step.Signal)
	to := ToGroup
	if step.MainOnly {
		to = ToMain
	}
	fromManager := m.cfg.ManagerSignalsAll && m.reason == requested && m.step == 0 && step.Signal == syntax.SIGTERM
	if !fromManager {
		m.do(Signal{step.Signal, to})
	}
	m.do(Signal{syntax.SIGCONT, to})
}

// childStopping takes the child's own STOPPING=1: it gets the steps' time, and
// no signal.
func (m *Machine) childStopping() {
	if m.state != Ready && m.state != Reloading {
		return
	}
	m.beginStop()
	m.selfStop = true
	m.steps = nil
	m.step = 0
	wait := m.cfg.Drain.StepsBudget() - 2*m.cfg.Drain.KillWait
	m.enter(Stopping, m.now.Add(wait))
	m.phase(history.Phase{Name: phaseStop, Reason: m.why()})
}

// mainExited takes the end of the main process.
func (m *Machine) mainExited(e MainExited) {
	if m.mainGone {
		return
	}
	before := m.state
	m.mainGone, m.status, m.left = true, e.Status, e.Left
	m.mainKilled = m.mainKilled && e.Status.Signal == syntax.SIGKILL
	m.stopHook()
	if before == Starting && e.Status == (Status{}) && m.cfg.EarlyExit == EarlyExitSuccess {
		m.served = true
		m.send(notify.Field{Key: "READY", Value: "1"})
	}
	switch {
	case e.Left == 0:
		m.finish()
	case before == Killing:
	default:
		m.endOthers(before)
	}
}

// endOthers gives the last stop signal to what has outlived the main process.
func (m *Machine) endOthers(before State) {
	if before == Ready || before == Reloading || before == Starting {
		m.beginStop()
	}
	m.enter(Ending, m.now.Add(m.cfg.Drain.KillWait))
	last := syntax.SIGTERM
	if steps := m.cfg.Drain.SoftPhase(m.reason == unhealthy); len(steps) > 0 {
		last = steps[len(steps)-1].Signal
	}
	m.do(Signal{last, ToScope}, Signal{syntax.SIGCONT, ToScope})
}

// scopeChanged goes on when nothing is left.
func (m *Machine) scopeChanged(left int) {
	if !m.CountsScope() {
		return
	}
	m.left = left
	if left == 0 && m.mainGone {
		m.finish()
	}
}

// abort passes the watchdog's SIGABRT on to the child, whose core is the one
// that a hang is debugged with.
func (m *Machine) abort() {
	if m.state == Aborting || m.state == Killing || m.state == Done {
		return
	}
	m.reason = aborted
	if m.mainGone || m.state == Delaying {
		m.kill()
		return
	}
	m.log(Error, "watchdog: aborting the service")
	if m.stopAt.IsZero() {
		m.beginStop()
	}
	m.stopHook()
	m.enter(Aborting, m.now.Add(m.cfg.AbortWait))
	m.do(Signal{syntax.SIGABRT, ToGroup}, Signal{syntax.SIGCONT, ToGroup})
}

// kill begins the hard phase.
func (m *Machine) kill() {
	m.stopHook()
	if m.state == Delaying {
		m.finish()
		return
	}
	if !m.mainGone {
		m.mainKilled = true
		m.log(Warning, "the main process did not end in time: SIGKILL to all that is left")
	} else {
		m.log(Notice, fmt.Sprintf("%d processes outlived the main process by %s: SIGKILL", m.left, syntax.FormatDuration(m.cfg.Drain.KillWait)))
	}
	m.killUntil = m.now.Add(m.cfg.Drain.KillWait)
	m.enter(Killing, m.now)
	m.sweep()
}

// sweep sends SIGKILL to all that is in scope now.
func (m *Machine) sweep() {
	m.do(Signal{syntax.SIGKILL, ToScope})
	next := m.now.Add(sweepEvery)
	if m.killUntil.Before(next) {
		next = m.killUntil
	}
	m.deadline = next
}

// killExpired sweeps again, or gives up at the end of the kill wait: what
// cannot be killed is the manager's.
func (m *Machine) killExpired() {
	if m.now.Before(m.killUntil) {
		m.sweep()
		return
	}
	count := m.left
	if !m.mainGone {
		count++
	}
	m.log(Error, fmt.Sprintf("%d processes would not die; left to the manager", count))
	m.finish()
}

// finish ends svcrun.
func (m *Machine) finish() {
	m.monitor.Stop()
	m.enter(Done, time.Time{})
	m.answerReload()
	m.do(Exit{m.outcome()})
}
