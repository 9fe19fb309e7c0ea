package machine

import (
	"slices"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/policy"
)

// This file is what a service says, and its reloads.

// heard takes a message of the main process (systemd: src/core/service.c,
// service_notify_message). Left out is what svcrun never says: another main
// process. What it says of the watchdog's time with its STOPPING=1 is known.
func (u *unit) heard(s notify.Said) {
	if !u.main.asked {
		return
	}
	ready := u.run.ready
	u.heardState(s)
	if s.HasStatus && s.Status != u.run.status {
		u.run.status = s.Status
		if u.run.ready.Equal(ready) { // else it is told with that
			u.tell(timeline.Event{Name: timeline.Status, Text: s.Status})
		}
	}
	if s.Extend > 0 {
		u.extend(u.m.now.Add(s.Extend))
	}
	if s.Alive {
		u.beat()
	}
	if s.Trigger {
		u.watchdogTriggered()
	}
	if s.WatchdogTime > 0 {
		u.run.watchdog = s.WatchdogTime
		u.beat()
	}
	if slices.Contains(s.Forward, notify.Field{Key: "RESTART_RESET", Value: "1"}) && u.state == running && u.knows(258) {
		u.forget("RESTART_RESET=1")
	}
}

// heardState takes READY=1, RELOADING=1 and STOPPING=1. The last wins over the
// others, and is the last word.
func (u *unit) heardState(s notify.Said) {
	switch {
	case s.Stopping:
		u.run.stopping, u.run.watchdog, u.run.watchdogAt = true, 0, time.Time{}
		if u.state == running || u.state == reloadSignal || u.state == reloadNotify {
			u.stopByItself()
		}
	case u.run.stopping:
	case s.Ready:
		u.run.reloading = false
		switch {
		case u.state == start:
			u.becomeActive(s.Status)
		case u.state == reloadNotify, u.state == reloadSignal && s.Reloading:
			u.reloadOver("")
		}
	case s.Reloading:
		u.run.reloading = true
		switch u.state {
		case running:
			u.reloadByItself()
		case reloadSignal:
			u.state = reloadNotify // within the time of the reload
		default:
		}
	}
}

// extend gives the state more time, and the watchdog. It never takes any.
func (u *unit) extend(until time.Time) {
	for _, deadline := range []*time.Time{&u.deadline, &u.run.watchdogAt} {
		if !deadline.IsZero() && until.After(*deadline) {
			*deadline = until
		}
	}
}

// beat is a heartbeat: the watchdog sleeps on. One that comes before READY=1 or
// during a stop wakes it, as systemd has it; once it has barked no more, or a
// stop might have no end.
func (u *unit) beat() {
	u.run.watchdogAt = time.Time{}
	if u.run.watchdog > 0 && u.watched() {
		u.run.watchdogAt = u.m.in(u.run.watchdog)
	}
}

// watched says whether a watchdog can bark.
func (u *unit) watched() bool {
	return u.state == start || u.state.active() || u.state == stopSigterm
}

// watchdogExpired is a heartbeat that did not come.
func (u *unit) watchdogExpired() {
	u.run.watchdogAt = time.Time{}
	u.stopFor("watchdog: no heartbeat for " + syntax.FormatDuration(u.run.watchdog))
	u.enterSignal(stopWatchdog, policy.Watchdog)
}

// watchdogTriggered is a service that asks for the watchdog itself.
func (u *unit) watchdogTriggered() {
	if !u.watched() {
		return
	}
	u.stopFor("watchdog: WATCHDOG=trigger")
	u.enterSignal(stopWatchdog, policy.Watchdog)
}

// settled is the companion timer: systemctl reset-failed, if the service is up.
func (u *unit) settled() {
	u.settleAt = time.Time{}
	if u.state.active() {
		u.window = policy.Window{}
		u.forget("up for " + syntax.FormatDuration(u.plan.Settle) + "; the start limit begins anew as well")
	}
}

// forget begins a new series of restarts.
func (u *unit) forget(why string) {
	u.restarts = 0
	u.tell(timeline.Event{Name: timeline.Forgotten, Text: why})
}

// wantReload asks for a reload. One that comes during a start is one with it,
// as the job of systemctl reload is; one that comes during a reload follows it.
func (u *unit) wantReload() {
	switch {
	case u.plan.Reload == (plan.Reload{}):
		u.note("cannot be reloaded; the policy has no reload")
	case u.job.startWanted || u.state == startPre || u.state == start:
		u.note("is being started; the reload is one with that")
	case u.state == running:
		u.startReload()
	case u.state.reloads():
		u.run.reloadWanted = true
	default:
		u.note("cannot be reloaded, as it is not up")
	}
}

// startReload begins a reload.
func (u *unit) startReload() {
	u.run.reloadWanted, u.run.reloading, u.run.reloadError = false, false, ""
	u.tell(timeline.Event{Name: timeline.Reloading})
	if command := u.plan.Reload.Command; command != nil {
		u.enter(reload, u.plan.StartTimeout)
		u.spawn(Control, command.Argv)
		return
	}
	u.enter(reloadSignal, u.plan.StartTimeout)
	u.do(Signal{u.plan.Name, u.plan.Reload.Signal, ToMain}, Signal{u.plan.Name, syntax.SIGCONT, ToMain})
}

// reloadByItself is a reload that nobody has asked for.
func (u *unit) reloadByItself() {
	u.tell(timeline.Event{Name: timeline.Reloading, Text: "by itself"})
	u.enter(reloadNotify, u.plan.StartTimeout)
}

// reloadTimedOut gives a reload up. A command is killed, and the reload is over
// when it is gone; it dies for sure, and so there is never one beside it.
func (u *unit) reloadTimedOut() {
	u.run.reloadError = "timeout after " + u.lasted()
	switch {
	case u.control.pid != 0:
		u.send(syntax.SIGKILL, ToControl)
	case u.control.asked: // gets it when it runs
	default:
		u.reloadOver(u.run.reloadError)
	}
}

// reloadOver is the end of a reload; failure is empty where it was done. A
// service whose reload fails goes on.
func (u *unit) reloadOver(failure string) {
	u.run.reloading = false
	u.tell(timeline.Event{Name: timeline.Reloaded, After: u.m.now.Sub(u.since), Text: failure})
	u.enterRunning()
}
