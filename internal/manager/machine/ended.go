package machine

import (
	"slices"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// This file is the end of a run, and what comes of it.

// enterDead ends a run, and decides about the next one (systemd:
// src/core/service.c, service_enter_dead). A stop that has been asked for
// meanwhile is not undone by a restart.
func (u *unit) enterDead() {
	stopped := u.job.stopping
	decision := u.plan.Restarts.Rules.Decide(policy.End{Result: u.run.result, Main: u.run.exit, Stopped: stopped})
	failure := u.run.result != policy.Success && u.run.result != policy.ExecCondition
	u.run.success = !failure
	u.run.code = u.exitCode(stopped)
	u.enter(dead, syntax.Infinity)
	u.tell(timeline.Event{Name: timeline.Ended, After: u.m.now.Sub(u.run.begun), End: u.ending(decision)})
	if decision.Restart {
		u.waitForRestart(decision.Why, failure)
		return
	}
	if failure {
		u.state = failed
		if !stopped {
			u.tell(timeline.Event{Name: timeline.GivenUp, Text: decision.Why})
		}
		u.startFailed()
		u.triggerOnFail()
	}
	u.isDown()
}

// isDown ends what a unit has that is down, but for one that is started again.
func (u *unit) isDown() {
	u.jobsOver()
	if !u.job.startWanted {
		u.do(Release{u.plan.Name})
	}
}

// waitForRestart begins the wait for the next run. A start job is over with the
// failure, unless RestartMode=direct hides that.
func (u *unit) waitForRestart(why string, failure bool) {
	if !u.plan.Direct {
		if failure {
			u.startFailed()
		}
		u.job.starting = false
	}
	if failure && u.plan.EachFail {
		u.triggerOnFail()
	}
	delay := u.plan.Restarts.Ladder.Delay(u.restarts + 1)
	if n := u.plan.Restarts.Randomized.Microseconds(); n > 0 && delay != syntax.Infinity {
		delay += time.Duration(u.m.random(n)) * time.Microsecond
	}
	u.enter(autoRestart, delay)
	u.tell(timeline.Event{Name: timeline.Restarting, Delay: delay, Text: why})
}

// restartNow ends the wait: the start is a job, which takes along the starts
// that it needs, and restarts the units that depend on this one unless
// RestartMode=direct spares them (systemd: src/core/service.c,
// service_enter_restart).
func (u *unit) restartNow() {
	u.restarts++
	u.enter(queued, syntax.Infinity)
	u.job.startWanted = true
	u.pullIn()
	if !u.plan.Direct {
		u.wantRestart()
	}
}

// jobsOver ends the jobs of a unit that is down, but for a start that waited
// for that.
func (u *unit) jobsOver() {
	u.job.starting, u.job.stopWanted, u.job.stopping = false, false, false
}

// triggerOnFail starts the units of OnFailure=.
func (u *unit) triggerOnFail() {
	for _, name := range u.plan.OnFail {
		if handler := u.m.unit(name); handler != nil {
			handler.wantStart(u.monitored(handler))
		} else {
			u.note("OnFailure=: " + name + " is not in this file, and is not started")
		}
	}
}

// monitored is what a unit of OnFailure= finds in its environment of the one
// that has failed, where it can only be that one (systemd.exec(5),
// $MONITOR_SERVICE_RESULT and so on). There are no invocation IDs here.
func (u *unit) monitored(handler *unit) []string {
	for _, other := range u.m.units {
		if other != u && slices.Contains(other.plan.OnFail, handler.plan.Name) {
			return nil
		}
	}
	env := []string{"MONITOR_SERVICE_RESULT=" + string(u.run.result)}
	if kind, status := exitWords(u.run.exit); kind != "" {
		env = append(env, "MONITOR_EXIT_CODE="+kind, "MONITOR_EXIT_STATUS="+status)
	}
	return append(env, "MONITOR_UNIT="+u.plan.Name)
}

// ending is the end of the run as the time line tells it.
func (u *unit) ending(d policy.Decision) *timeline.End {
	judged := history.Seen{
		Result: string(u.run.result), Main: historyExit(u.run.exit),
		Command: u.run.failedCommand, Control: historyExit(u.run.failedExit),
		Started: u.run.begun, Ready: u.run.ready, Ended: u.m.now,
		Stopped:  u.run.stoppedFirst || u.run.stopped && u.run.exit.How == policy.NoExit,
		TimedOut: u.run.timedOut, Watchdog: u.watchdogLimit(), Message: u.run.message, Line: u.run.line,
	}.Judge()
	if u.run.result == policy.Resources && u.run.message != "" {
		judged.Detail = append(judged.Detail, history.Field{Key: "message", Value: u.run.message})
	}
	return &timeline.End{
		Cause: judged.Cause, Result: u.run.result, Exit: u.run.exit, Detail: judged.Detail,
		Restart: d.Restart, Why: d.Why, Tail: u.run.tail,
	}
}

// watchdogLimit is the watchdog's time as a person reads it.
func (u *unit) watchdogLimit() string {
	if u.run.watchdog == 0 {
		return ""
	}
	return syntax.FormatDuration(u.run.watchdog)
}

// exitCode is what a shell would have of the run: the main process's code, 128
// and the signal that killed it, nothing of either after a stop that ended well,
// and 1 where something else went wrong.
func (u *unit) exitCode(stopped bool) int {
	code := exitStatus(u.run.exit)
	switch {
	case stopped && u.run.success:
		return 0
	case code == 0 && !u.run.success:
		return 1
	}
	return code
}
