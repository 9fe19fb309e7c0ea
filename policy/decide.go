package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

// Restart is a value of Restart=.
type Restart string

// The values of Restart= (systemd.service(5)).
const (
	RestartNo         Restart = "no"
	RestartAlways     Restart = "always"
	RestartOnSuccess  Restart = "on-success"
	RestartOnFailure  Restart = "on-failure"
	RestartOnAbnormal Restart = "on-abnormal"
	RestartOnAbort    Restart = "on-abort"
	RestartOnWatchdog Restart = "on-watchdog"
)

// RestartValues are all values of Restart=.
func RestartValues() []Restart {
	return []Restart{
		RestartNo, RestartAlways, RestartOnSuccess, RestartOnFailure, RestartOnAbnormal, RestartOnAbort, RestartOnWatchdog,
	}
}

// ParseRestart reads a value of Restart=.
func ParseRestart(s string) (Restart, error) {
	values := RestartValues()
	if slices.Contains(values, Restart(s)) {
		return Restart(s), nil
	}
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = string(value)
	}
	if near, ok := syntax.Nearest(s, words); ok {
		return "", fmt.Errorf("%.40q is no value of Restart=; did you mean %s", s, near)
	}
	return "", fmt.Errorf("%.40q is no value of Restart=; they are %s", s, strings.Join(words, ", "))
}

// Result is a unit's property of that name: the first thing that went wrong
// in a run.
type Result string

// The results of a service.
const (
	Success        Result = "success"
	ExitCode       Result = "exit-code" // of the main process or of any command around it
	KilledBySignal Result = "signal"
	CoreDump       Result = "core-dump"
	Timeout        Result = "timeout" // of start or stop, or RuntimeMaxSec=
	Watchdog       Result = "watchdog"
	OOMKill        Result = "oom-kill"
	Protocol       Result = "protocol"  // no READY=1, no PID file
	Resources      Result = "resources" // no fork, no cgroup
	ExecCondition  Result = "exec-condition"
	StartLimitHit  Result = "start-limit-hit"
)

// Results are all results of a service.
func Results() []Result {
	return []Result{
		Success, ExitCode, KilledBySignal, CoreDump, Timeout, Watchdog, OOMKill, Protocol, Resources, ExecCondition, StartLimitHit,
	}
}

// Rules is what a unit says of whether it is started again.
type Rules struct {
	Restart         Restart
	Prevent         Statuses // RestartPreventExitStatus=
	Force           Statuses // RestartForceExitStatus=
	Success         Statuses // SuccessExitStatus=
	Oneshot         bool     // Type=oneshot
	RemainAfterExit bool
	Systemd         int // the manager's version; 0 for the newest
}

// End is how a run of a service ended.
type End struct {
	Result Result
	Main   Exit
	// Stopped: a stop was asked for, by a person, a dependency or the shutdown.
	Stopped bool
}

// Test is one of the tests that decide about a restart.
type Test int

// The tests in the order in which the manager makes them (systemd:
// src/core/service.c, service_shall_restart).
const (
	ByStartLimit Test = iota // a refused start ends the series
	ByStop                   // so does a stop
	ByRemain                 // RemainAfterExit=: after a success the unit stays active
	ByPrevent                // RestartPreventExitStatus= has the main process's exit
	ByForce                  // RestartForceExitStatus= has it
	BySetting                // Restart= against Result=
)

// Decision is whether the manager starts the service again, and why.
type Decision struct {
	Restart bool
	By      Test
	Why     string // a clause such as "Restart=on-failure, result success"
}

// Decide decides about a restart when a run has ended.
func (r Rules) Decide(end End) Decision {
	switch {
	case end.Result == StartLimitHit:
		return Decision{false, ByStartLimit, "the start limit is hit"}
	case end.Stopped:
		return Decision{false, ByStop, "a stop was asked for"}
	case r.RemainAfterExit && end.Result == Success:
		return Decision{false, ByRemain, "RemainAfterExit=yes keeps it active"}
	case r.Prevent.Matches(end.Main):
		return Decision{false, ByPrevent, "RestartPreventExitStatus= has " + end.Main.String()}
	case r.Force.Matches(end.Main):
		return r.forced(end)
	}
	why := fmt.Sprintf("Restart=%s, result %s", r.Restart, end.Result)
	return Decision{r.settingRestarts(end.Result), BySetting, why}
}

// forced is the decision where RestartForceExitStatus= matches: a oneshot that
// has succeeded is not forced to do it again, since the list may be given to
// one at all (256).
func (r Rules) forced(end End) Decision {
	why := "RestartForceExitStatus= has " + end.Main.String()
	if r.Oneshot && end.Result == Success && r.since(256) {
		return Decision{false, ByForce, why + ", but a oneshot has succeeded"}
	}
	return Decision{true, ByForce, why}
}

// settingRestarts is the table of systemd.service(5), Restart=.
func (r Rules) settingRestarts(result Result) bool {
	skipped := result == ExecCondition
	switch r.Restart {
	case RestartNo:
	case RestartAlways:
		return !skipped || !r.since(251)
	case RestartOnSuccess:
		return result == Success
	case RestartOnFailure:
		return result != Success && (!skipped || !r.since(246))
	case RestartOnAbnormal:
		return result != Success && result != ExitCode && (!skipped || !r.since(246))
	case RestartOnAbort:
		return result == KilledBySignal || result == CoreDump
	case RestartOnWatchdog:
		return result == Watchdog
	}
	return false
}

// since says whether the manager is of that version or newer.
func (r Rules) since(version int) bool { return r.Systemd == 0 || r.Systemd >= version }
