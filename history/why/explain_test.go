package why

import (
	"slices"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

var now = time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)

// ago is so many seconds before now.
func ago(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }

// failing is a run that began and ended so many seconds ago, with code 3.
func failing(began, ended int, start history.Start) history.Run {
	return history.Run{
		InvocationID: "A", Start: start, Started: ago(began), Ready: ago(began), Ended: ago(ended), Result: "exit-code",
		End: history.End{Cause: history.ExitCode, Exit: history.Exit{Kind: history.Exited, Status: 3}},
	}
}

// facts are those of a unit that has failed once, with Restart=always.
func facts() Facts {
	return Facts{
		State: &history.State{
			Unit: "x.service", LoadState: "loaded", ActiveState: "failed", SubState: "failed", InvocationID: "A", Result: "exit-code",
			LeftInactive: ago(60), BecameActive: ago(60), BecameInactive: ago(50), Exit: history.Exit{Kind: history.Exited, Status: 3},
		},
		Settings: &Settings{
			Rules: policy.Rules{Restart: policy.RestartAlways, Systemd: 257}, Limit: policy.Limit{Starts: 3, Within: time.Minute},
		},
		Runs: []history.Run{failing(60, 50, history.Requested)}, Now: now,
	}
}

func TestWhyNoRestartCame(t *testing.T) {
	refused := func(cause history.Cause, seconds int) history.Run {
		return history.Run{Start: history.Automatic, Started: ago(seconds), Ended: ago(seconds), End: history.End{Cause: cause}}
	}
	for _, test := range []struct {
		name     string
		change   func(*Facts)
		standing Standing
		reason   Reason
		clause   string
		steps    []Step
	}{
		{"nothing on record explains it, and the limit's window is open", func(f *Facts) { f.Settings.Limit.Within = time.Hour }, Failed, Unknown, "", []Step{ReadLog, ResetFailed, Start}},
		{"nothing on record explains it", func(*Facts) {}, Failed, Unknown, "", []Step{ReadLog, Start}},
		{"Restart= is no", func(f *Facts) { f.Settings.Rules.Restart = policy.RestartNo },
			Failed, BySetting, "Restart=no, result exit-code", []Step{ReadLog, Start}},
		{"the exit status prevents it", func(f *Facts) { f.Settings.Rules.Prevent.Codes = []int{3} },
			Failed, ByPrevent, "RestartPreventExitStatus= has exit code 3", []Step{ReadLog, Start}},
		{"a stop was asked for", func(f *Facts) { f.Runs[0].Stopped = true }, Failed, ByStop, "a stop was asked for", []Step{ReadLog, Start}},
		{"a stop ended the hold-off", func(f *Facts) { f.Runs[0].StoppedWaiting = true }, Failed, ByStopWaiting, "", []Step{ReadLog, Start}},
		{"a stop where no hold-off can have been", func(f *Facts) {
			f.Runs[0].StoppedWaiting, f.Settings.Rules.Restart = true, policy.RestartNo
		}, Failed, ByStop, "", []Step{ReadLog, Start}},
		{"the start limit, in the journal", func(f *Facts) {
			f.Settings.Limit.Starts = 1
			f.Runs = append(f.Runs, refused(history.StartLimit, 40))
		}, Failed, ByStartLimit, "", []Step{ReadLog, Start}},
		{"the start limit, in the journal, and its window is open", func(f *Facts) {
			f.Settings.Limit = policy.Limit{Starts: 1, Within: time.Hour}
			f.Runs = append(f.Runs, refused(history.StartLimit, 40))
		}, Failed, ByStartLimit, "", []Step{ReadLog, ResetFailed, Start}},
		{"the start limit, which the manager has since forgotten", func(f *Facts) {
			f.Settings.Limit = policy.Limit{Starts: 1, Within: time.Hour}
			f.Settings.CountsSince = ago(20)
			f.Runs = append(f.Runs, refused(history.StartLimit, 40))
		}, Failed, ByStartLimit, "", []Step{ReadLog, Start}},
		{"the start limit, and a reset-failed since", func(f *Facts) {
			f.Settings.Limit = policy.Limit{Starts: 1, Within: time.Hour}
			f.State.ActiveState, f.State.SubState = "inactive", "dead"
			f.Runs = append(f.Runs, refused(history.StartLimit, 40))
		}, Down, ByStartLimit, "", []Step{ReadLog, Start}},
		{"the start limit, on D-Bus alone", func(f *Facts) { f.State.Result, f.Runs = "start-limit-hit", nil },
			Failed, ByStartLimit, "", []Step{ResetFailed, Start}},
		{"a dependency", func(f *Facts) { f.Runs = append(f.Runs, refused(history.Dependency, 40)) },
			Failed, ByDependency, "", []Step{ReadLog, ListFailed, Start}},
		{"a condition", func(f *Facts) { f.Settings.Unmet = &Condition{Name: "ConditionHost", At: ago(40)} },
			Failed, ByCondition, "", []Step{ReadLog, ReadCondition, Start}},
		{"a condition, in the journal", func(f *Facts) { f.Skipped = &history.Skip{At: ago(40), Condition: "ConditionHost=a"} },
			Failed, ByCondition, "", []Step{ReadLog, ReadCondition, Start}},
		{"a condition before the run, in the journal", func(f *Facts) { f.Skipped = &history.Skip{At: ago(70)} },
			Failed, Unknown, "", []Step{ReadLog, Start}},
		{"a condition before the run", func(f *Facts) {
			f.Settings.Unmet = &Condition{Name: "ConditionHost", At: ago(70)}
			f.Settings.Rules.Restart = policy.RestartNo
		}, Failed, BySetting, "Restart=no, result exit-code", []Step{ReadLog, Start}},
		{"the manager has forgotten the run", func(f *Facts) {
			*f.State = history.State{Unit: "x.service", LoadState: "loaded", ActiveState: "inactive", SubState: "dead"}
		}, Down, NotSince, "", []Step{ReadLog, Start}},
		{"it never ran", func(f *Facts) {
			*f.State = history.State{Unit: "x.service", LoadState: "loaded", ActiveState: "inactive", SubState: "dead"}
			f.Runs = nil
		}, Never, "", "", []Step{Start}},
		{"its file is gone", func(f *Facts) { f.State.LoadState, f.Settings.Rules.Restart = "not-found", policy.RestartNo },
			Unusable, BySetting, "Restart=no, result exit-code", []Step{ReadLog}},
		{"its file is refused", func(f *Facts) { f.State.LoadState, f.Settings.Rules.Restart = "bad-setting", policy.RestartNo },
			Unusable, BySetting, "Restart=no, result exit-code", []Step{ReadLog, ReadStatus}},
		{"it is masked", func(f *Facts) { f.State.LoadState, f.Settings.Rules.Restart = "masked", policy.RestartNo },
			Unusable, BySetting, "Restart=no, result exit-code", []Step{ReadLog, Unmask}},
		{"its file has changed", func(f *Facts) { f.Settings.Reload, f.Settings.Rules.Restart = true, policy.RestartNo },
			Failed, BySetting, "Restart=no, result exit-code", []Step{ReadLog, DaemonReload, Start}},
		{"a job is queued", func(f *Facts) { f.State.Job = true }, Queued, "", "", []Step{ReadLog, ListJobs}},
		{"no bus", func(f *Facts) { f.State, f.Settings = nil, nil }, Uncertain, Unknown, "", []Step{ReadLog}},
		{"no bus, but a stop is on record", func(f *Facts) { f.State, f.Settings, f.Runs[0].Stopped = nil, nil, true },
			Uncertain, ByStop, "", []Step{ReadLog}},
		{"no bus, and no end on record: it may be up", func(f *Facts) { f.State, f.Settings, f.Runs[0].End = nil, nil, history.End{} },
			Uncertain, "", "", nil},
		{"a command before the main process has failed", func(f *Facts) {
			f.Settings.Rules.Prevent.Codes, f.Settings.Rules.Restart = []int{3}, policy.RestartOnAbort
			f.Runs[0].Detail = []history.Field{{Key: "command", Value: "ExecStartPre"}}
			f.State.Exit = history.Exit{}
		}, Failed, BySetting, "Restart=on-abort, result exit-code", []Step{ReadLog, Start}},
		{"it stays active", func(f *Facts) {
			f.Settings.Rules.RemainAfterExit = true
			f.Runs[0].End, f.Runs[0].Result, f.State.Exit = history.End{Cause: history.Clean}, "success", history.Exit{}
			f.State.ActiveState = "inactive"
		}, Down, ByRemain, "RemainAfterExit=yes keeps it active", []Step{Start}},
		{"it is up", func(f *Facts) { f.State.ActiveState, f.State.SubState = "active", "running" }, Up, "", "", []Step{ReadLog}},
		{"it is up, and its last reload failed", func(f *Facts) {
			f.State.ActiveState, f.State.SubState, f.State.FailedReload = "active", "running", &history.FailedReload{Result: "timeout"}
		}, Up, "", "", []Step{ReadLog, ReloadAgain}},
		{"its restart's job is queued", func(f *Facts) {
			f.State.ActiveState, f.State.SubState, f.State.Changed, f.State.Job = "activating", "auto-restart-queued", ago(40), true
		}, Waiting, "", "", []Step{ReadLog, Start}},
		{"its restart's job has just begun", func(f *Facts) {
			f.State.ActiveState, f.State.SubState, f.State.Changed = "activating", "auto-restart-queued", now
		}, Waiting, "", "", []Step{ReadLog, Start}},
		{"its restart's job has failed", func(f *Facts) {
			f.State.ActiveState, f.State.SubState, f.State.Changed = "activating", "auto-restart-queued", ago(40)
			f.Runs = append(f.Runs, refused(history.Dependency, 40))
		}, Stranded, ByDependency, "", []Step{ReadLog, ListFailed, Start}},
		{"its restart's job has failed, and the journal has nothing of that", func(f *Facts) {
			f.State.ActiveState, f.State.SubState, f.State.Changed = "activating", "auto-restart-queued", ago(40)
		}, Stranded, Unknown, "", []Step{ReadLog, Start}},
		{"it starts", func(f *Facts) { f.State.ActiveState, f.State.SubState = "activating", "start" }, Starting, "", "", []Step{ReadLog}},
		{"it stops", func(f *Facts) { f.State.ActiveState, f.State.SubState = "deactivating", "stop-sigterm" }, Stopping, "", "", []Step{ReadLog}},
	} {
		f := facts()
		test.change(&f)
		a := Explain(f)
		if a.Standing != test.standing || a.Reason != test.reason || a.Clause != test.clause || !slices.Equal(a.Steps, test.steps) {
			t.Errorf("%s: %s, %q, %q, %v; want %s, %q, %q, %v", test.name,
				a.Standing, a.Reason, a.Clause, a.Steps, test.standing, test.reason, test.clause, test.steps)
		}
	}
}

// TestTheReasonIsTheManagersRule: over all rules and ends, a reason is given
// where the rules bring no restart, and none is made up where they do.
func TestTheReasonIsTheManagersRule(t *testing.T) {
	for _, restart := range policy.RestartValues() {
		for _, result := range policy.Results() {
			for _, remain := range []bool{false, true} {
				for _, codes := range [][]int{nil, {3}} {
					f := facts()
					f.Settings.Rules.Restart, f.Settings.Rules.RemainAfterExit, f.Settings.Rules.Prevent.Codes = restart, remain, codes
					f.State.Result, f.Runs[0].Result = string(result), string(result)
					a := Explain(f)
					decision := f.Settings.Rules.Decide(policy.End{Result: result, Main: policy.Exit{How: policy.Exited, Code: 3}})
					if unknown := a.Reason == Unknown; unknown != decision.Restart || a.Reason == "" {
						t.Errorf("Restart=%s, result %s, remain %v, prevent %v: %q, and the rules say %+v", restart, result, remain, codes, a.Reason, decision)
					}
				}
			}
		}
	}
}

// TestWhereNoRecordIsItSaysWhatItMayHaveBeen: the journal cannot be read, or has
// nothing of it any more.
func TestWhereNoRecordIsItSaysWhatItMayHaveBeen(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Facts)
		want   []Reason
	}{
		"failed":          {func(*Facts) {}, []Reason{ByStop, ByStartLimit}},
		"without a limit": {func(f *Facts) { f.Settings.Limit = policy.Never() }, []Reason{ByStop}},
		"not failed":      {func(f *Facts) { f.State.ActiveState = "inactive" }, []Reason{ByStop}},
		"where the manager would tell of the limit": {func(f *Facts) { f.Settings.Rules.Systemd = 260 }, []Reason{ByStop}},
	} {
		f := facts()
		test.change(&f)
		if a := Explain(f); a.Reason != Unknown || !slices.Equal(a.Open, test.want) {
			t.Errorf("%s: %s, open: %v; want %v", name, a.Reason, a.Open, test.want)
		}
	}
}

func TestRecordsAloneDecideAsTheManagerDid(t *testing.T) {
	for cause, want := range map[history.Cause]policy.Result{
		history.Clean: policy.Success, history.StopRequested: policy.Success, history.Unhealthy: policy.ExitCode, history.Exec: policy.ExitCode,
		history.ExitCode: policy.ExitCode, history.Signal: policy.KilledBySignal, history.CoreDump: policy.CoreDump, history.Watchdog: policy.Watchdog,
		history.OOM: policy.OOMKill, history.Protocol: policy.Protocol, history.StartTimeout: policy.Timeout, history.Unknown: "", "": "",
	} {
		if got := resultOf(history.Run{End: history.End{Cause: cause}}); got != want {
			t.Errorf("%s: %q, want %q", cause, got, want)
		}
	}
}

func TestARestartThatWaitsIsTold(t *testing.T) {
	waiting := func() Facts {
		f := facts()
		f.State.ActiveState, f.State.SubState = "activating", "auto-restart"
		f.State.Changed, f.State.RestartDelay = ago(5), 10*time.Second
		return f
	}
	f := waiting()
	if a := Explain(f); a.Standing != Waiting || !a.Next.Equal(now.Add(5*time.Second)) || a.NextRefused || !slices.Equal(a.Steps, []Step{ReadLog, Start}) {
		t.Errorf("%+v", a)
	}
	f.Settings.Rules.Systemd = 252
	if a := Explain(f); !slices.Equal(a.Steps, []Step{ReadLog, RestartNow}) {
		t.Errorf("on 252: %v", a.Steps)
	}
	f.Settings.Limit.Starts = 1
	f.Settings.Limit.Within = time.Hour
	if a := Explain(f); !a.NextRefused || !slices.Contains(a.Steps, ResetFailed) {
		t.Errorf("with one start allowed: %+v", a)
	}
	f.State.RestartDelay = syntax.Infinity / 2
	if a := Explain(f); !a.Next.IsZero() {
		t.Errorf("for ever: %+v", a)
	}
}

// TestWhatBecomesOfItIsTheSimulatorsWord: where it waits, and where all that
// counts is known.
func TestWhatBecomesOfItIsTheSimulatorsWord(t *testing.T) {
	waiting := func(change func(*Facts)) *policy.Outlook {
		f := facts()
		f.State.ActiveState, f.State.SubState = "activating", "auto-restart"
		f.State.Changed, f.State.RestartDelay = ago(5), 10*time.Second
		f.Settings.Ladder = policy.Flat(10 * time.Second)
		change(&f)
		return Explain(f).Outlook
	}
	if o := waiting(func(f *Facts) { f.Settings.Ladder = policy.Flat(time.Millisecond); f.Settings.Limit.Within = time.Hour }); o.Odds != policy.Trips {
		t.Errorf("restarts at once, three an hour allowed: %+v", o)
	}
	if o := waiting(func(f *Facts) { f.Settings.Limit.Within = time.Second }); o.Odds != policy.NeverTrips {
		t.Errorf("restarts after 10s, three a second allowed: %+v", o)
	}
	for name, change := range map[string]func(*Facts){
		"it is down":            func(f *Facts) { f.State.ActiveState, f.State.SubState = "failed", "failed" },
		"no limit":              func(f *Facts) { f.Settings.Limit = policy.Never() },
		"a limit beyond bounds": func(f *Facts) { f.Settings.Limit.Starts = 1 << 31 },
		"no run on record":      func(f *Facts) { f.Runs = nil },
	} {
		if o := waiting(change); o != nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestTheFirstFailureOfTheBurstIsFound(t *testing.T) {
	f := facts()
	f.Runs = []history.Run{failing(90, 80, history.Requested), failing(60, 55, history.Requested), failing(50, 45, history.Automatic), failing(40, 35, history.Automatic)}
	f.Runs[1].FirstFailure = true
	if a := Explain(f); a.First != &f.Runs[1] || a.Last != &f.Runs[3] {
		t.Errorf("first %+v, last %+v", a.First, a.Last)
	}
	f.Runs = f.Runs[:2]
	if a := Explain(f); a.First != nil {
		t.Errorf("the last is the first: %+v", a.First)
	}
}

// TestWhatIsUpIsExplainedByTheRunBefore: that is the one that was restarted.
func TestWhatIsUpIsExplainedByTheRunBefore(t *testing.T) {
	f := facts()
	f.State.ActiveState, f.State.SubState = "active", "running"
	on := failing(30, 30, history.Automatic)
	on.Running, on.End, on.Ended = true, history.End{}, time.Time{}
	f.Runs = []history.Run{failing(60, 55, history.Requested), failing(50, 45, history.Automatic), on}
	f.Runs[0].FirstFailure = true
	a := Explain(f)
	if a.Last != &f.Runs[2] || a.Before != &f.Runs[1] || a.First != &f.Runs[0] || a.Ended() != a.Before || !slices.Equal(a.Steps, []Step{ReadLog}) {
		t.Errorf("%+v", a)
	}
	f.Runs = f.Runs[2:]
	if a := Explain(f); a.Before != nil || a.Ended() != nil || len(a.Steps) > 0 {
		t.Errorf("with one run on record: %+v", a)
	}
}
