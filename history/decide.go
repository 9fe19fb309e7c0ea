package history

import (
	"github.com/svckit/svckit/internal/syntax"
)

// Exit statuses that mean more than failure: systemd.exec(5) "Process exit
// codes" for exec's, svcrun(1) for its own.
const (
	statusUnhealthy    = 69
	statusStartTimeout = 70
	statusExec         = 203
	statusSetupFirst   = 200 // up to statusSetupLast the manager keeps for failures before the program runs
	statusSetupLast    = 245
)

// resultStartLimit is the Result= of a start that the start limit has refused. From
// 260 on it takes the place of that of the run before.
const resultStartLimit = "start-limit-hit"

// decide names the cause of a run's end. The manager's verdict comes first;
// what svcrun says then refines it.
func decide(ev *evidence) End {
	switch {
	case ev.refused != "":
		return End{Cause: ev.refused}
	case ev.running:
		return End{}
	case ev.result == "" && ev.main == Exit{}:
		return bySvcrunAlone(ev)
	}
	end := End{Exit: ev.main}
	if isExitResult(ev.result) || ev.result == resultStartLimit { // which hides the run's own
		end.Exit, end.Detail = ev.blamed()
	}
	cause, detail := byResult(ev, end.Exit)
	end.Cause, end.Detail = cause, append(end.Detail, detail...)
	return refine(end, ev)
}

// blamed is the end of the process that the result is about: the main one, or
// a control process, which is then named. What does not match the result is
// not shown as its reason.
func (ev *evidence) blamed() (Exit, []Field) {
	switch {
	case matches(ev.result, ev.main):
		return ev.main, nil
	case matches(ev.result, ev.control.exit):
		return ev.control.exit, []Field{{"command", ev.control.command}}
	}
	return Exit{}, nil
}

// matches says whether a process that ended so can be the reason for a result.
func matches(result string, exit Exit) bool {
	switch result {
	case "exit-code":
		return exit.Kind == Exited && exit.Status != 0
	case "signal":
		return exit.Kind == Killed
	case "core-dump":
		return exit.Kind == Dumped
	}
	return exit.Kind != NoExit
}

// byResult goes by the unit's Result=, which tells the first thing that went
// wrong in the run and is kept from then on (systemd: src/core/service.c).
func byResult(ev *evidence, exit Exit) (Cause, []Field) {
	switch ev.result {
	case "success":
		return bySuccess(ev), nil
	case "exit-code", "signal", "core-dump", "", resultStartLimit:
		return byExit(ev, exit)
	case "timeout":
		return byTimeout(ev)
	case "watchdog":
		if ev.watchdogLimit != "" {
			return Watchdog, []Field{{"limit", ev.watchdogLimit}}
		}
		return Watchdog, nil
	case "oom-kill":
		return OOM, nil
	case "protocol":
		return Protocol, nil
	case "resources":
		return Exec, []Field{{"result", ev.result}}
	case "exec-condition":
		return Clean, []Field{{"result", ev.result}}
	}
	return Unknown, []Field{{"result", ev.result}}
}

// bySuccess tells a stop that was asked for from a clean end. Without the
// run's begin on record, the stop job's may be missing, too.
func bySuccess(ev *evidence) Cause {
	switch {
	case ev.stopRequested:
		return StopRequested
	case ev.unstopped:
		return Clean
	case ev.byBus, !ev.started.known():
		return Unknown
	}
	return Clean
}

// byExit goes by how a process ended. start-limit-hit comes here as well: it
// is on D-Bus after a refused start and says nothing of the run before it.
func byExit(ev *evidence, exit Exit) (Cause, []Field) {
	sigkill := exit == Exit{Killed, int(syntax.SIGKILL)}
	switch {
	case ev.oom && sigkill:
		return OOM, nil
	case ev.stopRequested && sigkill:
		return StopTimeout, nil
	case ev.stopRequested:
		return StopRequested, nil
	case exit.is(0):
		return bySuccess(ev), nil
	case exit.Kind == Exited && exit.Status >= statusSetupFirst && exit.Status <= statusSetupLast:
		return Exec, messageField(ev.spawn)
	case exit.Kind == Exited, ev.result == "exit-code":
		return ExitCode, nil
	case exit.Kind == Dumped, ev.result == "core-dump":
		return CoreDump, nil
	case exit.Kind == Killed, ev.result == "signal":
		return Signal, nil
	}
	return Unknown, nil
}

// byTimeout tells the timeouts apart, which all have the same Result=. The
// first one counts; that it was the first is sure only if the run's begin is
// on record, or if no other can come before it.
func byTimeout(ev *evidence) (Cause, []Field) {
	isFirst := ev.started.known() || ev.stopRequested
	switch {
	case ev.timeout == phaseStart:
		return StartTimeout, nil
	case ev.timeout == phaseRuntime:
		return Unknown, []Field{{"result", "timeout"}, {"message", "RuntimeMaxSec= was reached"}}
	case ev.timeout == phaseStop && isFirst, ev.timeout == phaseNone && ev.stopRequested:
		return StopTimeout, nil
	case ev.timeout == phaseNone && ev.started.known() && !ev.ready.known() && (ev.startFailed || ev.unstopped):
		return StartTimeout, nil
	}
	return Unknown, []Field{{"result", "timeout"}}
}

// bySvcrunAlone goes by what svcrun says where the manager's records are gone,
// or were never written (LogLevelMax= filters them too).
func bySvcrunAlone(ev *evidence) End {
	end, ok := ev.told()
	switch {
	case !ok && ev.ended():
		return End{Cause: Unknown}
	case !ok:
		return End{}
	}
	// The main process is svcrun, whose exit is its own word for these two.
	switch end.Cause {
	case Unhealthy:
		end.Exit = Exit{Exited, statusUnhealthy}
	case StartTimeout:
		end.Exit = Exit{Exited, statusStartTimeout}
	default: // it ends as the service did
	}
	return end
}

// refine takes what svcrun says where it agrees with how the manager saw the
// main process end. A child that prints such a line of its own changes nothing
// unless the end that it claims did happen.
func refine(end End, ev *evidence) End {
	told, ok := ev.told()
	if !ok {
		return end
	}
	agrees := told.Cause == end.Cause
	success := end.Cause == Clean || end.Cause == Unknown && ev.result == "success"
	switch told.Cause {
	case Unhealthy:
		agrees = end.Exit.is(statusUnhealthy)
	case StartTimeout:
		agrees = agrees || end.Exit.is(statusStartTimeout)
	case StopTimeout:
		agrees = agrees || end.Exit == Exit{Killed, int(syntax.SIGKILL)}
	case Clean, StopRequested:
		agrees = agrees || success
	case Exec:
		agrees = agrees || end.Exit.is(statusExec)
	default: // svcrun adds its fields to what both see alike
	}
	if agrees {
		end.Cause = told.Cause
		end.Detail = append(end.Detail, told.Detail...)
	}
	return end
}

// isExitResult says whether a result is about how a process ended.
func isExitResult(result string) bool {
	switch result {
	case "exit-code", "signal", "core-dump":
		return true
	}
	return false
}

func messageField(message string) []Field {
	if message == "" {
		return nil
	}
	return []Field{{"message", clip(message)}}
}
