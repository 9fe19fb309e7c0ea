package why

import (
	"slices"
	"time"

	"github.com/svckit/svckit/history"
)

// hurries is the version from which on a start in the hold-off ends it.
const hurries = 257

// steps are what to do, in this order.
func (a *Answer) steps(f Facts) []Step {
	var steps []Step
	add := func(when bool, step Step) {
		if when {
			steps = append(steps, step)
		}
	}
	down := a.Standing.IsDown()
	failed := a.Ended() != nil && a.Ended().Failed()
	add(failed, ReadLog)
	add(f.Settings != nil && f.Settings.Reload, DaemonReload)
	if a.Standing == Unusable {
		add(f.State.LoadState == "masked", Unmask)
		add(f.State.LoadState != "masked" && f.State.LoadState != "not-found", ReadStatus)
	}
	add(a.Standing == Queued, ListJobs)
	add(a.Reason == ByDependency, ListFailed)
	add(a.Reason == ByCondition, ReadCondition)
	add(a.FailedReload != nil, ReloadAgain)
	add(a.NextRefused || a.mayBeLimited(f.Now), ResetFailed)
	add(heldBack(f, a.Last) && a.Standing != Up && a.Standing != Stopping, ForgetSvcrun)
	switch {
	case a.Standing == Waiting && f.Settings != nil && f.Settings.Rules.Systemd > 0 && f.Settings.Rules.Systemd < hurries:
		steps = append(steps, RestartNow)
	case a.Standing == Waiting, down && a.Standing != Unusable:
		steps = append(steps, Start)
	}
	return steps
}

// mayBeLimited says whether the start limit may refuse a start of what is down.
func (a *Answer) mayBeLimited(now time.Time) bool {
	hit := a.Reason == ByStartLimit && !a.Forgotten || slices.Contains(a.Open, ByStartLimit)
	return hit && (a.Window == nil || now.Before(a.Window.Until) || a.Window.Until.IsZero())
}

// heldBack says whether the unit's svcrun holds starts back after failures.
func heldBack(f Facts, last *history.Run) bool {
	return f.State != nil && f.State.Svcrun != nil && f.State.Svcrun.RuntimeDir != "" &&
		last != nil && last.Record != nil && last.Record.Held != nil
}
