package machine

import (
	"strings"

	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// verdict is the result of a run, found a second way: not by states, but by
// what can be seen of it from outside. The first thing that goes wrong is it.
type verdict struct {
	result   policy.Result
	commands int  // of ExecStartPre= and the like that have been started
	ready    bool // READY=1 was taken
	pushed   bool // the manager has sent something that ends processes
	killed   bool // and that was SIGKILL
	blind    bool // time has passed without effect, as no process is there yet to be signalled
}

func newVerdict() verdict { return verdict{result: policy.Success} }

// wrong is something that goes wrong.
func (v *verdict) wrong(r policy.Result) {
	if v.result == policy.Success {
		v.result = r
	}
}

// seesExit takes the end of a process of the unit.
func (v *verdict) seesExit(u *actual, role Role, exit policy.Exit) {
	rules := u.plan.Restarts.Rules
	result := rules.Result(exit)
	if role == Control {
		result = policy.Rules{Oneshot: true, Success: rules.Success}.Result(exit)
	}
	switch {
	case v.pushed:
	case role == Control && v.ready: // a reload's
		return
	case role == Control:
		before := u.plan.Before[v.commands-1]
		switch {
		case before.MayErr:
			return
		case before.Condition && result == policy.ExitCode && exit.Code < 255:
			result = policy.ExecCondition
		}
	case result == policy.Success && !v.ready:
		result = policy.Protocol
	}
	v.wrong(result)
}

// seesFailure takes a process that could not be started.
func (v *verdict) seesFailure(u *actual, e SpawnFailed) {
	switch {
	case e.Status != 0:
		v.seesExit(u, e.Role, policy.Exit{How: policy.Exited, Code: e.Status})
	case e.Role == Main || !v.ready || v.pushed:
		v.wrong(policy.Resources)
	}
}

// seesAction takes what the machine does; inTime says that nothing but time has
// made it do so.
func (v *verdict) seesAction(action Action, inTime bool) {
	switch a := action.(type) {
	case Spawn:
		if a.Role == Control && !v.ready {
			v.commands++
		}
	case Signal:
		ends := a.Signal == syntax.SIGTERM || a.Signal == syntax.SIGABRT || a.Signal == syntax.SIGKILL
		if ends && !(a.Signal == syntax.SIGKILL && a.To == ToControl) {
			v.pushed = true
		}
		if inTime && (a.Signal == syntax.SIGKILL && a.To == ToAll || v.killed && ends) {
			v.wrong(policy.Timeout)
		}
		v.killed = v.killed || a.Signal == syntax.SIGKILL && a.To == ToAll
	case Tell:
		v.seesTold(a.Event, inTime)
	}
}

func (v *verdict) seesTold(e timeline.Event, inTime bool) {
	switch e.Name {
	case timeline.Ready:
		v.ready = true
	case timeline.Stopping:
		v.pushed = true
		switch {
		case strings.HasPrefix(e.Text, "it was not started"), strings.HasPrefix(e.Text, "it has run"):
			v.wrong(policy.Timeout)
		case strings.HasPrefix(e.Text, "watchdog"):
			v.wrong(policy.Watchdog)
		}
	case timeline.Ended:
		if inTime {
			v.wrong(policy.Timeout)
		}
	}
}
