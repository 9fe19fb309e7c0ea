package machine

import (
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// Machine manages services. The loop that owns it calls Step for every event,
// runs the actions, and calls Step with a Tick at Deadline.
type Machine struct {
	units   []*unit
	random  policy.Random
	begun   bool // somebody has asked for something
	done    bool
	origin  time.Time // that start limits count from
	now     time.Time // of the event being stepped
	actions []Action  // of the event being stepped
}

// New is a manager of services, none of which has been started: Requested
// with Start begins. random draws jitter.
func New(services []plan.Service, random policy.Random) *Machine {
	m := &Machine{random: random}
	for _, s := range services {
		m.units = append(m.units, &unit{m: m, plan: s, run: run{result: policy.Success, success: true}})
	}
	return m
}

// Step takes an event that happened at now, and returns what is to be done.
// After Done it returns nothing more.
func (m *Machine) Step(now time.Time, event Event) []Action {
	if m.done {
		return nil
	}
	if m.origin.IsZero() {
		m.origin = now
	}
	m.now, m.actions = now, nil
	m.expire()
	m.take(event)
	m.schedule()
	m.expire() // a time that was over already, such as that of RuntimeMaxSec= after a reload
	m.finish()
	return m.actions
}

// take does what an event asks for.
func (m *Machine) take(event Event) {
	switch event := event.(type) {
	case Tick:
	case Requested:
		m.requested(event)
	case Spawned:
		m.with(event.Unit, func(u *unit) { u.spawned(event) })
	case SpawnFailed:
		m.with(event.Unit, func(u *unit) { u.spawnFailed(event) })
	case Exited:
		m.with(event.Unit, func(u *unit) { u.exited(event) })
	case LeftChanged:
		m.with(event.Unit, func(u *unit) { u.leftChanged(event.Left) })
	case Heard:
		m.with(event.Unit, func(u *unit) { u.heard(event.Said) })
	}
}

// unit is the one of a name, nil where there is none.
func (m *Machine) unit(name string) *unit {
	for _, u := range m.units {
		if u.plan.Name == name {
			return u
		}
	}
	return nil
}

// with does something to the unit of a name, if there is one.
func (m *Machine) with(name string, do func(*unit)) {
	if u := m.unit(name); u != nil {
		do(u)
	}
}

// Deadline is when Step wants a Tick, if ever.
func (m *Machine) Deadline() (time.Time, bool) {
	var next time.Time
	for _, u := range m.units {
		if t, _ := u.due(); !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next, !next.IsZero() && !m.done
}

// expire does what has become due, the earliest first.
func (m *Machine) expire() {
	for {
		var first time.Time
		var act func()
		for _, u := range m.units {
			if t, do := u.due(); !t.IsZero() && !t.After(m.now) && (act == nil || t.Before(first)) {
				first, act = t, do
			}
		}
		if act == nil {
			return
		}
		act()
		m.schedule()
	}
}

// due is the unit's next deadline, zero for none, and what to do then.
func (u *unit) due() (time.Time, func()) {
	next, act := u.deadline, u.expired
	for _, other := range []struct {
		at time.Time
		do func()
	}{{u.run.watchdogAt, u.watchdogExpired}, {u.settleAt, u.settled}} {
		if !other.at.IsZero() && (next.IsZero() || other.at.Before(next)) {
			next, act = other.at, other.do
		}
	}
	return next, act
}

// in is the moment that is so far from now, zero for never.
func (m *Machine) in(d time.Duration) time.Time {
	if d == syntax.Infinity {
		return time.Time{}
	}
	return m.now.Add(d)
}

// finish ends the manager when every unit is down for good.
func (m *Machine) finish() {
	if !m.begun {
		return
	}
	for _, u := range m.units {
		if !u.state.down() || u.job.startWanted {
			return
		}
	}
	m.done = true
	m.actions = append(m.actions, Tell{timeline.Event{Name: timeline.Finished}}, Done{m.code()})
}

// code is what the manager exits with: as the one service did that it is there
// for, or 1 where one of several did not end well. Units that only a failure
// starts are none of them.
func (m *Machine) code() int {
	wanted := m.wanted()
	if len(wanted) == 1 {
		return wanted[0].run.code
	}
	for _, u := range wanted {
		if !u.run.success {
			return 1
		}
	}
	return 0
}
