package machine

import (
	"slices"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/timeline"
)

// This file is what is asked of units, and the order among them. A request is
// a job that waits for those of other units (systemd: src/core/job.c); a unit
// has one to start, one to stop, or, to be restarted, both.
type jobs struct {
	startWanted bool     // a start waits: for other units, or for this one to be down
	starting    bool     // a start runs: until the unit is active, or has failed
	stopWanted  bool     // a stop waits for the units that came after this one
	stopping    bool     // a stop waits or runs: until the unit is down
	env         []string // for the start
}

// requested takes what a person asks for.
func (m *Machine) requested(r Requested) {
	m.begun = m.begun || r.Unit == "" || m.unit(r.Unit) != nil
	units := m.wanted()
	if r.Verb != Start {
		units = m.units
	}
	if r.Unit != "" {
		units = nil
		if u := m.unit(r.Unit); u != nil {
			units = []*unit{u}
		}
	}
	for _, u := range units {
		switch r.Verb {
		case Start:
			u.wantStart(nil)
		case Stop:
			if r.Unit != "" {
				u.stopDependents()
			}
			u.stopJob(stopRequested)
		case Reload:
			u.wantReload()
		case Hurry:
			u.hurry()
		}
	}
}

// wanted are the units that there is a manager for: all but those that wait
// for the failure of another one.
func (m *Machine) wanted() []*unit {
	var wanted []*unit
	for _, u := range m.units {
		if !slices.ContainsFunc(m.units, func(other *unit) bool {
			return other != u && slices.Contains(other.plan.OnFail, u.plan.Name)
		}) {
			wanted = append(wanted, u)
		}
	}
	if len(wanted) == 0 {
		return m.units
	}
	return wanted
}

// wantStart makes a job of a start, and of those of the units that it needs. A
// stop that has not begun is off, and the start that there was goes on.
func (u *unit) wantStart(env []string) {
	if u.job.stopWanted {
		u.job.stopWanted, u.job.stopping = false, false
		u.job.starting = u.state == startPre || u.state == start
	}
	isUp := u.state == startPre || u.state == start || u.state.active()
	if isUp || u.job.startWanted {
		return
	}
	u.job.startWanted, u.job.env = true, env
	u.pullIn()
}

// pullIn makes jobs of the starts of the units that this one needs or wants.
func (u *unit) pullIn() {
	for _, name := range slices.Concat(u.plan.Requires, u.plan.Wants) {
		u.m.with(name, func(other *unit) {
			if !other.job.startWanted { // as of one that is restarted, and stops first
				other.wantStart(nil)
			}
		})
	}
}

// stopDependents makes jobs of the stops of units that cannot be without this
// one (systemd.unit(5), Requires= and PartOf=).
func (u *unit) stopDependents() {
	for _, other := range u.dependents(func(*unit) bool { return true }) {
		other.stopJob(u.plan.Name + ", which it depends on, stops")
	}
}

// stopJob makes a job of a stop; a start that waits is off.
func (u *unit) stopJob(why string) {
	waited := u.job.startWanted
	u.job.startWanted, u.job.env = false, nil
	switch {
	case u.job.stopping:
	case !u.state.down():
		u.job.stopWanted, u.job.stopping, u.job.starting = true, true, false
		u.run.why = why
	case waited:
		u.refuse(history.StopRequested, why)
	}
}

// wantRestart stops and starts the units that depend on this one and are up
// (systemd: src/core/transaction.c, where a start propagates as a restart). One
// that is not passes it on to nobody.
func (u *unit) wantRestart() {
	up := func(other *unit) bool { return !other.state.down() && !other.state.stops() && !other.job.stopping }
	all := u.dependents(up)
	for _, other := range all {
		other.stopJob(u.plan.Name + ", which it depends on, is restarted")
		other.job.startWanted = true
	}
	for _, other := range all {
		other.pullIn()
	}
}

// dependents are the units that are stopped and restarted with this one, and
// those that are with them, as far as they are concerned.
func (u *unit) dependents(concerned func(*unit) bool) []*unit {
	all := []*unit{u}
	for i := 0; i < len(all); i++ {
		for _, other := range u.m.units {
			needed := slices.Concat(other.plan.Requires, other.plan.PartOf)
			if slices.Contains(needed, all[i].plan.Name) && !slices.Contains(all, other) && concerned(other) {
				all = append(all, other)
			}
		}
	}
	return all[1:]
}

// schedule runs every job that nothing holds back any more.
func (m *Machine) schedule() {
	for again := true; again; {
		again = false
		for _, u := range m.units {
			if u.job.stopWanted && !m.holdsStop(u) {
				u.job.stopWanted, again = false, true
				u.stop()
			}
			if u.job.startWanted && !m.holdsStart(u) && u.canStart() {
				again = true
				u.startNow()
			}
		}
	}
}

// canStart says whether a start can happen now. One that finds the unit in its
// wait for a restart ends that wait, from 257 on (systemd: src/core/service.c,
// service_start).
func (u *unit) canStart() bool {
	waits := u.state == queued || u.state == autoRestart && u.knows(257)
	return u.state.down() || waits && !u.job.stopping
}

// startNow runs a start job.
func (u *unit) startNow() {
	if u.state == autoRestart {
		u.restartNow() // which may have stopped others that this one has to wait for
		return
	}
	u.job.startWanted = false
	u.begin()
}

// holdsStart says whether a start has to wait: for the units that come before
// this one until they are up or have failed, and for every stop of a unit that
// it is ordered with.
func (m *Machine) holdsStart(u *unit) bool {
	return slices.ContainsFunc(m.units, func(other *unit) bool {
		before := other != u && slices.Contains(u.plan.After, other.plan.Name)
		behind := other != u && slices.Contains(other.plan.After, u.plan.Name)
		return before && (other.job.startWanted || other.job.starting) || (before || behind) && other.job.stopping
	})
}

// holdsStop says whether a stop has to wait for the units that came after this
// one, which stop before it.
func (m *Machine) holdsStop(u *unit) bool {
	return slices.ContainsFunc(m.units, func(other *unit) bool {
		return other != u && slices.Contains(other.plan.After, u.plan.Name) && other.job.stopping
	})
}

// startFailed ends a start job that has failed.
func (u *unit) startFailed() {
	if u.job.starting {
		u.job.starting = false
		u.failDependents()
	}
}

// failDependents refuses the starts that have waited for this unit's, of those
// that require it, and of those that require them. That is a failure to their
// OnFailure=, but one and the same until they have run again: or units that
// require what they are to be started for would start each other for ever.
func (u *unit) failDependents() {
	gone := []*unit{u}
	for i := 0; i < len(gone); i++ {
		for _, other := range u.m.units {
			if other.job.startWanted && other.state.down() && slices.Contains(other.plan.Requires, gone[i].plan.Name) {
				other.job.startWanted = false
				other.refuse(history.Dependency, gone[i].plan.Name+", which it requires, failed to start")
				gone = append(gone, other)
			}
		}
	}
	for _, other := range gone[1:] {
		if !other.run.refused {
			other.run.refused = true
			other.triggerOnFail()
		}
	}
}

// refuse is a start that does not happen. It is a failure, unless somebody
// wanted to stop.
func (u *unit) refuse(cause history.Cause, why string) {
	end := &timeline.End{Cause: cause, Why: why}
	u.run.success, u.run.code = true, 0
	if cause != history.StopRequested {
		u.run.success, u.run.code = false, 1
	}
	if cause == history.StartLimit {
		end.Result = u.run.result
	}
	u.tell(timeline.Event{Name: timeline.Refused, Text: why, End: end})
	u.do(Release{u.plan.Name}) // of what may have been kept for this start
}
