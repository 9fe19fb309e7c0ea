package why

import (
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// Explain explains a service.
func Explain(f Facts) Answer {
	var a Answer
	a.addRuns(f.Runs)
	a.Standing = standing(f, a.Last)
	if a.Standing == Up {
		a.FailedReload = f.State.FailedReload
	}
	if f.Settings != nil {
		a.addWindow(f)
		if a.Standing == Waiting && !a.NextRefused {
			a.Outlook = outlookOf(f, a.Last)
		}
	}
	if a.Standing.IsDown() || a.Standing == Uncertain {
		a.explainNoRestart(f)
	}
	a.Steps = a.steps(f)
	return a
}

// addRuns finds the runs that matter: the last one and, while that is on, the
// one before it; the first failure of the burst that brought it about; a start
// after it that was refused.
func (a *Answer) addRuns(runs []history.Run) {
	i := len(runs) - 1
	for ; i >= 0 && runs[i].Cause.Refused(); i-- {
		if a.Refused == nil {
			a.Refused = &runs[i]
		}
	}
	if i < 0 {
		return
	}
	a.Last = &runs[i]
	if i > 0 && a.Last.Running && !runs[i-1].Cause.Refused() {
		i--
		a.Before = &runs[i]
	}
	for j := i - 1; j >= 0 && runs[i].Failed() && runs[j+1].Start == history.Automatic; j-- {
		if runs[j].FirstFailure {
			a.First = &runs[j]
			return
		}
	}
}

// Ended is the run whose end there is to explain: the last that has ended; nil
// for none.
func (a *Answer) Ended() *history.Run {
	if a.Before != nil || a.Last == nil || a.Last.Running {
		return a.Before
	}
	return a.Last
}

// standing is what the service does now.
func standing(f Facts, last *history.Run) Standing {
	s := f.State
	switch {
	case s == nil:
		return Uncertain
	case stranded(f):
		return Stranded
	case s.WaitsForRestart():
		return Waiting
	case s.ActiveState == "activating":
		return Starting
	case s.ActiveState == "deactivating":
		return Stopping
	case s.Up():
		return Up
	case s.LoadState != "loaded":
		return Unusable
	case s.Job:
		return Queued
	case s.ActiveState == "failed":
		return Failed
	case last == nil && s.LeftInactive.IsZero():
		return Never
	}
	return Down
}

// stranded says whether the restart will not come, but for the instant that may lie
// between the end of its job and the start.
func stranded(f Facts) bool {
	return f.State.Stranded() && f.Now.Sub(f.State.Changed) > time.Second
}

// addWindow tells how far the start limit is used, and what that means for the
// restart that is pending.
func (a *Answer) addWindow(f Facts) {
	a.Forgotten = a.Refused != nil && a.Refused.Started.Before(f.Settings.CountsSince)
	if a.Reset = !a.Forgotten && wasReset(f.State, a.Refused); a.Reset {
		a.Forgotten = true
		return
	}
	starts := replayed(f.Settings.Limit, f.Settings.CountsSince, f.Runs)
	a.Window = starts.window()
	next, ok := f.State.NextRestart()
	if !ok {
		return
	}
	a.Next = next
	a.NextRefused, a.NextDoubtful = starts.next(next)
}

// wasReset says whether a reset-failed has come since the start limit refused a
// start: that leaves the unit failed (systemd: src/core/service.c,
// service_can_start), and little else takes a failure back (CollectMode=, which
// forgets all of the unit).
func wasReset(s *history.State, refused *history.Run) bool {
	return refused != nil && refused.Cause == history.StartLimit && s.ActiveState == "inactive"
}

// explainNoRestart finds out why the service is down and stays so. What came
// last counts: a start after the last run that was refused or skipped, then what
// the manager decided when that run ended.
func (a *Answer) explainNoRestart(f Facts) {
	unmet := unmetSince(f, a.Last, a.Refused)
	switch {
	case unmet != nil:
		a.Reason, a.Unmet = ByCondition, unmet
	case a.Refused != nil && a.Refused.Cause == history.StartLimit, f.State != nil && f.State.Result == string(policy.StartLimitHit):
		a.Reason = ByStartLimit
	case a.Refused != nil:
		a.Reason = ByDependency
	case a.Standing == Stranded:
		a.Reason, a.Open = Unknown, []Reason{ByDependency}
	case a.Last == nil, a.Last.Cause == "": // it has not ended, as far as is known
	case f.Settings == nil && a.Last.StoppedWaiting:
		a.Reason = ByStopWaiting
	case f.Settings == nil && a.Last.Stopped:
		a.Reason = ByStop
	case f.Settings == nil:
		a.Reason = Unknown
	default:
		a.decide(f)
	}
}

// unmetSince is the condition that has kept the service from the start after
// its last run: as the manager tells it, or where it has forgotten that with the
// unit, the journal.
func unmetSince(f Facts, last, refused *history.Run) *Condition {
	var unmet *Condition
	switch {
	case f.Settings != nil && f.Settings.Unmet != nil:
		unmet = f.Settings.Unmet
	case f.Skipped != nil:
		unmet = conditionOf(*f.Skipped)
	default:
		return nil
	}
	for _, r := range []*history.Run{last, refused} {
		if r != nil && (r.Running || r.Started.After(unmet.At) || r.Ended.After(unmet.At)) {
			return nil
		}
	}
	return unmet
}

func conditionOf(skip history.Skip) *Condition {
	c := &Condition{Name: "Condition…=", At: skip.At, Assert: skip.Assert}
	if skip.Assert {
		c.Name = "Assert…="
	}
	if name, value, ok := strings.Cut(skip.Condition, "="); ok {
		c.Name, c.Value = name, value
	}
	return c
}

// decide asks the manager's rules.
func (a *Answer) decide(f Facts) {
	end, ok := endOf(*a.Last, f.State)
	if !ok {
		a.Reason = Unknown
		if f.Settings.Rules.Restart == policy.RestartNo {
			a.Reason, a.Clause = BySetting, "Restart=no"
		}
		return
	}
	rules := f.Settings.Rules
	decision := rules.Decide(end)
	switch {
	case decision.Restart && a.Last.StoppedWaiting:
		a.Reason = ByStopWaiting
		return
	case decision.Restart:
		a.unexplained(f)
		return
	case a.Last.StoppedWaiting: // there was no hold-off: it came while the service ended
		a.Reason = ByStop
		return
	}
	a.Clause = decision.Why
	switch decision.By {
	case policy.ByStartLimit:
		a.Reason = ByStartLimit
	case policy.ByStop:
		a.Reason = ByStop
	case policy.ByRemain:
		a.Reason = ByRemain
	case policy.ByPrevent:
		a.Reason = ByPrevent
	case policy.ByForce:
		a.Reason = ByForce
	case policy.BySetting:
		a.Reason, a.Would = BySetting, wouldRestart(rules, end)
	}
}

// wouldRestart is the setting of Restart= under which the service had been
// restarted, the one that covers least first.
func wouldRestart(rules policy.Rules, end policy.End) policy.Restart {
	for _, setting := range []policy.Restart{policy.RestartOnFailure, policy.RestartAlways} {
		rules.Restart = setting
		if rules.Decide(end).Restart && !(rules.Oneshot && setting == policy.RestartAlways) {
			return setting
		}
	}
	return ""
}

// unexplained is where the rules would have restarted the service.
func (a *Answer) unexplained(f Facts) {
	a.Reason = NotSince
	if f.State == nil || f.State.LeftInactive.IsZero() {
		return
	}
	a.Reason, a.Open = Unknown, []Reason{ByStop}
	// A stop in the hold-off leaves nothing failed. From 260 on the manager itself
	// tells of a start that was refused.
	if f.Settings.Limit.Enabled() && f.State.ActiveState == "failed" && f.Settings.Rules.Systemd < tellsLimit {
		a.Open = append(a.Open, ByStartLimit)
	}
}

// tellsLimit is the version from which on a start that was refused for the start
// limit sets the unit's result.
const tellsLimit = 260

// endOf is the end of the last run as the manager judged it; no where that is
// not known.
func endOf(r history.Run, state *history.State) (policy.End, bool) {
	end := policy.End{Result: policy.Result(r.Result), Main: exitOf(r.Exit), Stopped: r.Stopped}
	if named := slices.ContainsFunc(r.Detail, func(f history.Field) bool { return f.Key == "command" }); named {
		end.Main = policy.Exit{}
	}
	if state != nil && state.InvocationID == r.InvocationID && state.InvocationID != "" && !state.Up() {
		if end.Main.How == policy.NoExit {
			end.Main = exitOf(state.Exit)
		}
		if end.Result == "" {
			end.Result = policy.Result(state.Result)
		}
	}
	if end.Result == "" {
		end.Result = resultOf(r)
	}
	return end, slices.Contains(policy.Results(), end.Result) || end.Stopped
}

// resultOf is the manager's word for a run of which only svcrun tells: svcrun
// ends as the service did, and with codes of its own where it had to end it.
func resultOf(r history.Run) policy.Result {
	switch r.Cause {
	case history.Clean, history.StopRequested:
		return policy.Success
	case history.ExitCode, history.Unhealthy, history.Exec:
		return policy.ExitCode
	case history.StartTimeout:
		if _, ok := r.Exit.Code(); ok {
			return policy.ExitCode
		}
		return policy.Timeout
	case history.Signal:
		return policy.KilledBySignal
	case history.CoreDump:
		return policy.CoreDump
	case history.Watchdog:
		return policy.Watchdog
	case history.OOM:
		return policy.OOMKill
	case history.Protocol:
		return policy.Protocol
	default:
		return ""
	}
}

// exitOf is a process's end in the terms of package policy.
func exitOf(e history.Exit) policy.Exit {
	signal, _ := e.Signal()
	switch e.Kind {
	case history.NoExit:
	case history.Exited:
		return policy.Exit{How: policy.Exited, Code: e.Status}
	case history.Killed:
		return policy.Exit{How: policy.Killed, Signal: signal}
	case history.Dumped:
		return policy.Exit{How: policy.Dumped, Signal: signal}
	}
	return policy.Exit{}
}
