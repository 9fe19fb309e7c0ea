package machine

import (
	"slices"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/watchdog"
)

// This file is what is written down of the run.

// stateBegins notes that another state has been entered. Draining and Stopping
// are told by their parts: the hook, the delay, each step.
func (m *Machine) stateBegins() {
	switch m.state {
	case Delaying:
		if m.cfg.Hold.Total() > 0 {
			m.record.Held = &history.Held{
				PauseUsec: m.cfg.Hold.Pause.Microseconds(), DelayUsec: m.cfg.Hold.Delay.Microseconds(), Reason: m.cfg.Hold.Reason,
			}
			m.phase(history.Phase{Name: m.state.String(), Reason: m.cfg.Hold.Reason})
		}
	case Starting, Ready, Reloading:
		m.phase(history.Phase{Name: m.state.String()})
	case Draining, Stopping:
	case Ending, Aborting, Killing:
		m.phase(history.Phase{Name: m.state.String(), Reason: m.why()})
	case Done:
		m.closePhase()
	}
}

// The parts of the states Draining and Stopping.
const (
	phasePreStop    = "pre-stop"
	phaseDrainDelay = "drain-delay"
	phaseStop       = "stop"
)

// phase begins a phase of the run, which ends the one before. Beyond the bound
// the phases of a service that reloads for years make room; those of its start
// and of its end stay.
func (m *Machine) phase(p history.Phase) {
	m.closePhase()
	const first = history.MaxPhases / 4
	if len(m.record.Phases) == history.MaxPhases {
		m.record.Phases = slices.Delete(m.record.Phases, first, first+1)
		m.record.More++
	}
	p.Began = m.now
	m.record.Phases = append(m.record.Phases, p)
	m.phaseAt = m.now
	m.noted = false
}

// closePhase says how long the last phase took.
func (m *Machine) closePhase() {
	if n := len(m.record.Phases); n > 0 {
		m.record.Phases[n-1].TookUsec = m.now.Sub(m.phaseAt).Microseconds()
	}
}

// note hands the record to the loop where it has changed. The final one goes
// with the outcome.
func (m *Machine) note() {
	if m.noted || m.state == Done {
		return
	}
	m.noted = true
	m.do(Note{m.snapshot()})
}

// snapshot is the record as it is now; the machine changes its own no more.
func (m *Machine) snapshot() history.Record {
	r := m.record
	r.Phases = slices.Clone(r.Phases)
	return r
}

// closeRecord is the record of a run that has ended so.
func (m *Machine) closeRecord(cause history.Cause) history.Record {
	r := m.snapshot()
	r.Ended = m.now
	r.End = &history.RecordEnd{Cause: cause, Check: m.failedCheck, After: m.failedTimes, Last: m.failedSaid, Left: m.left}
	switch {
	case !m.mainGone:
	case m.status.Signal != 0:
		r.End.Signal, r.End.Core = m.status.Signal.Name(), m.status.Core
	default:
		code := m.status.Code
		r.End.Code = &code
	}
	return r
}

// beStable tells once that health has been unbroken for so long that earlier
// failures are forgotten: from READY=1 on, or from the moment when the last
// check that had reached its threshold passed again. It waits for a check that
// has just failed to pass, or to break the health.
func (m *Machine) beStable() {
	if m.stable || m.cfg.StableAfter == 0 {
		return
	}
	switch {
	case m.state != Ready && m.state != Reloading, m.monitor.Health() == watchdog.Broken:
		m.stableAt = time.Time{}
	case m.stableAt.IsZero():
		m.stableAt = m.now.Add(m.cfg.StableAfter)
	case m.awaitsStability() && !m.now.Before(m.stableAt):
		m.stable, m.stableAt = true, time.Time{}
		m.record.Stable = m.now
		m.noted = false
		m.do(Forget{})
		m.send(restartReset)
	}
}

// awaitsStability says whether only time is wanting.
func (m *Machine) awaitsStability() bool {
	return m.state == Ready && !m.stableAt.IsZero() && m.monitor.Health() == watchdog.Passing
}

// earliest keeps the first time that something happened.
func earliest(before, now time.Time) time.Time {
	if before.IsZero() {
		return now
	}
	return before
}
