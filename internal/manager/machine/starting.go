package machine

import (
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// This file is a service's way up.

// begin begins a run, if the start limit has room for it. A start that is no
// automatic one begins a new series.
func (u *unit) begin() {
	var verdict policy.Verdict
	u.window, verdict = u.window.Attempt(u.plan.Restarts.Limit, u.m.now.Sub(u.m.origin))
	if !verdict.Allowed() {
		u.limitHit()
		return
	}
	if u.state != queued {
		u.restarts = 0
	}
	env := u.job.env
	if u.state == queued && env == nil {
		env = u.run.env // who failed is the same after a restart
	}
	u.number++
	u.run = run{begun: u.m.now, result: policy.Success, env: env, watchdog: u.plan.Watchdog}
	u.job.starting, u.job.env, u.hurries = true, nil, 0
	u.tell(timeline.Event{Name: timeline.Starting})
	u.nextCommand()
}

// nextCommand starts what is next to be executed.
func (u *unit) nextCommand() {
	if u.run.command < len(u.plan.Before) {
		u.enter(startPre, u.plan.StartTimeout)
		u.spawn(Control, u.plan.Before[u.run.command].Argv, u.run.env...)
		return
	}
	u.enter(start, u.plan.StartTimeout)
	u.spawn(Main, u.plan.Main.Argv, u.run.env...)
}

// spawned notes that a process runs. One that comes late gets the signal that
// it has missed.
func (u *unit) spawned(e Spawned) {
	p := u.process(e.Role)
	if !p.asked {
		return
	}
	p.pid = e.PID
	to := [...]Target{Main: ToMain, Control: ToControl}[e.Role]
	switch {
	case u.state.stops() && u.signal != 0:
		u.send(u.signal, to)
	case u.state == reload && u.run.reloadError != "":
		u.send(syntax.SIGKILL, to)
	}
}

// spawnFailed takes a process that could not be started. systemd's child would
// have ended by itself, with a code of its own, where it got so far.
func (u *unit) spawnFailed(e SpawnFailed) {
	if !u.process(e.Role).asked {
		return
	}
	u.run.message = e.Reason
	if e.Status != 0 {
		u.exited(Exited{Unit: e.Unit, Role: e.Role, Exit: policy.Exit{How: policy.Exited, Code: e.Status}, Left: u.left})
		return
	}
	*u.process(e.Role) = process{}
	switch {
	case u.state == reload:
		u.reloadOver(e.Reason)
	case u.state.stops():
		u.goOn(policy.Resources)
	default:
		u.enterSignal(stopSigterm, policy.Resources)
	}
}

// commandEnded takes the end of a command before the main process.
func (u *unit) commandEnded(exit policy.Exit) {
	command := u.plan.Before[u.run.command]
	result := u.controlResult(exit)
	switch {
	case result == policy.Success:
	case command.MayErr:
		result = policy.Success
	case command.Condition && result == policy.ExitCode && exit.Code < 255:
		result = policy.ExecCondition
	default:
		u.commandFailed(command, exit)
	}
	if result != policy.Success {
		u.enterSignal(stopSigterm, result)
		return
	}
	u.run.command++
	u.nextCommand()
}

// commandFailed notes which command before the main process has failed.
func (u *unit) commandFailed(command plan.Command, exit policy.Exit) {
	u.run.failedCommand, u.run.failedExit = "ExecStartPre", exit
	if command.Condition {
		u.run.failedCommand = "ExecCondition"
	}
}

// controlResult is what the end of a command means: unlike a daemon's, death by
// SIGTERM is a failure (systemd.service(5), SuccessExitStatus=).
func (u *unit) controlResult(exit policy.Exit) policy.Result {
	return policy.Rules{Oneshot: true, Success: u.plan.Restarts.Rules.Success}.Result(exit)
}

// becomeActive takes the READY=1 of a start, and the status that came with it.
func (u *unit) becomeActive(status string) {
	u.run.ready, u.job.starting = u.m.now, false
	if u.plan.Settle > 0 {
		u.settleAt = u.m.in(u.plan.Settle)
	}
	u.tell(timeline.Event{Name: timeline.Ready, After: u.m.now.Sub(u.run.begun), Text: status})
	u.beat()
	u.enterRunning()
}

// enterRunning goes to where a service is that serves, unless something is in
// the way.
func (u *unit) enterRunning() {
	switch {
	case u.run.result != policy.Success || !u.main.asked:
		u.enterSignal(stopSigterm, policy.Success)
	case u.run.stopping:
		u.stopByItself()
	case u.run.reloading:
		u.reloadByItself()
	default:
		u.enter(running, syntax.Infinity)
		if u.plan.RuntimeMax > 0 {
			u.deadline = u.run.ready.Add(u.plan.RuntimeMax)
		}
		if u.run.reloadWanted {
			u.startReload()
		}
	}
}

// limitHit is a start that the start limit refuses. It is the last one: the
// unit has failed, which OnFailure= is for unless it had before.
func (u *unit) limitHit() {
	before, exit, why := u.state, u.run.exit, limitText(u.plan.Restarts.Limit)
	if u.run.result == policy.Success || u.knows(260) { // before, the last run's failure stays the unit's
		u.run.result = policy.StartLimitHit
	}
	u.job.env = nil
	u.enter(failed, syntax.Infinity)
	u.refuse(history.StartLimit, why)
	if code := exitStatus(exit); before == queued && code != 0 {
		u.run.code = code
	}
	u.tell(timeline.Event{Name: timeline.GivenUp, Text: why})
	u.failDependents()
	if before != failed {
		u.triggerOnFail()
	}
	u.jobsOver()
}

// expired does what the end of a state's time asks for.
func (u *unit) expired() {
	u.deadline = time.Time{}
	switch u.state {
	case startPre, start:
		u.timeOut(history.StartTimed)
		u.stopFor("it was not started in " + u.lasted())
		u.enterSignal(stopSigterm, policy.Timeout)
	case running:
		u.timeOut(history.RuntimeTimed)
		u.stopFor("it has run for the " + syntax.FormatDuration(u.plan.RuntimeMax) + " of RuntimeMaxSec=")
		u.enterSignal(stopSigterm, policy.Timeout)
	case reload, reloadSignal, reloadNotify:
		u.reloadTimedOut()
	case stopWatchdog, stopSigterm:
		u.timeOut(history.StopTimed)
		u.enterSignal(stopSigkill, policy.Timeout)
	case stopSigkill:
		u.timeOut(history.StopTimed)
		u.enterSignal(finalSigterm, policy.Timeout)
	case finalSigterm:
		u.enterSignal(finalSigkill, policy.Timeout)
	case finalSigkill:
		u.main, u.control = process{}, process{} // which the kernel itself cannot end
		u.fail(policy.Timeout)
		u.enterDead()
	case autoRestart:
		if !u.job.stopping { // a stop that waits for others will end this
			u.restartNow()
		}
	case dead, failed, queued:
	}
}
