package machine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// expect checks state, outcome and messages of a rig in one go.
func expect(t *testing.T, r *rig, state State, want ...string) {
	t.Helper()
	if r.m.State() != state {
		t.Errorf("state is %v; want %v\n%s", r.m.State(), state, strings.Join(r.log, "\n"))
	}
	for _, text := range want {
		if !r.did(text) {
			t.Errorf("%q was not done\n%s", text, strings.Join(r.log, "\n"))
		}
	}
}

func ends(t *testing.T, r *rig, status Status, cause history.Cause) {
	t.Helper()
	got, ok := r.outcome()
	if !ok || got.Status != status || got.End.Cause != cause {
		t.Errorf("ended %v with %+v, %s; want %+v, %s\n%s", ok, got.Status, got.End.Cause, status, cause, strings.Join(r.log, "\n"))
	}
}

func TestReadyGoesOutWhenEveryReadyCheckHolds(t *testing.T) {
	r := newRig(typical()).started()
	expect(t, r, Starting, "Spawn")
	r.wait(10 * time.Millisecond).do(Probed{ID: 0, Failure: "connection refused"})
	expect(t, r, Starting, "STATUS=starting, ready 0/1, waiting for tcp:127.0.0.1:1 (connection refused)")
	r.do(Probed{ID: 0})
	expect(t, r, Ready, "READY=1 STATUS=ready 1/1, live 1/1")
}

func TestWithoutReadyChecksTheChildsExecIsReadiness(t *testing.T) {
	cfg := typical()
	cfg.Ready = nil
	r := newRig(cfg).do(Tick{})
	if r.did("READY=1") {
		t.Error("READY=1 went out before the child was exec'd")
	}
	expect(t, r.do(Spawned{}), Ready, "READY=1")
}

func TestChildsReadyAndChecksMustHoldTogether(t *testing.T) {
	cfg := typical()
	cfg.Ready = append(cfg.Ready, watchdog.Check{Kind: watchdog.Notify, Interval: time.Second, Timeout: time.Second})
	r := newRig(cfg).started().wait(10 * time.Millisecond).do(Probed{ID: 0})
	expect(t, r, Starting)
	expect(t, r.do(Heard{notify.Said{Ready: true}}), Ready, "READY=1")
}

func TestChildsReadyAloneDoesNotCountWhereChecksDecide(t *testing.T) {
	r := newRig(typical()).started().do(Heard{notify.Said{Ready: true}})
	expect(t, r, Starting)
}

func TestHeartbeatGoesOutAtHalfThePeriodOnFreshEvidenceOnly(t *testing.T) {
	r := newRig(typical()).ready()
	for range 6 { // a minute of probes that are answered
		r.wait(10 * time.Second).do(Probed{ID: 1})
	}
	if got := slices.DeleteFunc(r.sends(), func(s string) bool { return s != "WATCHDOG=1" }); len(got) != 2 {
		t.Errorf("%d heartbeats in a minute of WatchdogSec=60; want 2\n%s", len(got), strings.Join(r.log, "\n"))
	}
	before := len(r.sends())
	r.wait(5 * time.Minute) // the probe that is out never comes back
	if got := r.sends()[before:]; len(got) > 0 {
		t.Errorf("sent %v without evidence", got)
	}
	r.do(Probed{ID: 1, Failure: "timeout"}) // completed, though it failed
	if got := r.sends()[before:]; !slices.Equal(got, []string{"WATCHDOG=1"}) {
		t.Errorf("sent %v with the evidence that an overdue heartbeat waited for; want one WATCHDOG=1", got)
	}
}

func TestNoHeartbeatIsSentBeforeReady(t *testing.T) {
	r := newRig(typical()).started().wait(89 * time.Second)
	if r.did("WATCHDOG=1") {
		t.Error("a heartbeat before READY=1 would arm the watchdog")
	}
}

func TestManagerIsAskedForTimeWhileStarting(t *testing.T) {
	r := newRig(typical()).started().wait(12 * time.Second)
	if got := r.sends(); !slices.Equal(got, slices.Repeat([]string{"EXTEND_TIMEOUT_USEC=15000000"}, 3)) {
		t.Errorf("sent %v in 12 s of starting; want a request at once and every 5 s", got)
	}
}

func TestStartTimeoutStopsTheChildAndEndsWith70(t *testing.T) {
	r := newRig(typical()).started().wait(10 * time.Millisecond).do(Probed{ID: 0, Failure: "status 503"}).wait(90 * time.Second)
	expect(t, r, Stopping, "log not ready within 1min 30s: ready 0/1, waiting for tcp:127.0.0.1:1 (status 503)", "INT main")
	if r.did("Hook") || r.did("STOPPING=1") {
		t.Error("a service that never served has nothing to drain and the manager nothing to hear of it")
	}
	r.do(MainExited{})
	ends(t, r, Status{Code: 70}, history.StartTimeout)
	if out, _ := r.outcome(); out.End.Format() != `svcrun: end cause=start-timeout code=0 check=tcp:127.0.0.1:1 last="status 503" stop=10ms` {
		t.Errorf("end line is %s", out.End.Format())
	}
}

func TestChildsOwnEndIsPassedOnUnchanged(t *testing.T) {
	for status, cause := range map[Status]history.Cause{
		{}:                                   history.Clean,
		{Signal: syntax.SIGHUP}:              history.Clean,
		{Signal: syntax.SIGTERM}:             history.Clean,
		{Code: 1}:                            history.ExitCode,
		{Code: 69}:                           history.ExitCode,
		{Signal: syntax.SIGKILL}:             history.Signal,
		{Signal: syntax.SIGABRT, Core: true}: history.CoreDump,
		{Signal: syntax.SIGTERM, Core: true}: history.CoreDump,
	} {
		r := newRig(typical()).ready().do(MainExited{Status: status})
		ends(t, r, status, cause)
		if out, _ := r.outcome(); out.Failed != (cause != history.Clean) {
			t.Errorf("%v: failed is %v, and the cause %s", status, out.Failed, cause)
		}
		if r.did("STOPPING=1") {
			t.Errorf("%v: nothing is left to stop, so there is nothing to say", status)
		}
		if cause == history.Clean {
			continue
		}
		ends(t, newRig(typical()).started().do(MainExited{Status: status}), status, cause)
	}
}

// TestEndBeforeReadinessFailsAsItDoesForTheManager: that calls it protocol, and
// restarts the service as it does after a failure.
func TestEndBeforeReadinessFailsAsItDoesForTheManager(t *testing.T) {
	for _, status := range []Status{{}, {Signal: syntax.SIGTERM}} {
		r := newRig(typical()).started().do(MainExited{Status: status})
		ends(t, r, status, history.Protocol)
		if out, _ := r.outcome(); !out.Failed {
			t.Errorf("%v before READY=1 is no failure", status)
		}
	}
	cfg := typical()
	cfg.Managed = false
	ends(t, newRig(cfg).started().do(MainExited{}), Status{}, history.Clean)
	cfg = typical()
	cfg.EarlyExit = EarlyExitSuccess
	ends(t, newRig(cfg).started().do(MainExited{}), Status{}, history.Clean)
}

func TestCommandThatCannotBeExecutedEndsWith203(t *testing.T) {
	r := newRig(typical()).do(Tick{}, SpawnFailed{"cannot execute /nope: no such file or directory"})
	expect(t, r, Done, "log cannot execute /nope: no such file or directory")
	ends(t, r, Status{Code: 203}, history.Exec)
}

func TestEarlyExitMeansWhatItIsToldToMean(t *testing.T) {
	cfg := typical()
	r := newRig(cfg).started().do(MainExited{})
	if r.did("READY=1") {
		t.Error("early-exit=fail: READY=1 went out")
	}
	cfg.EarlyExit = EarlyExitSuccess
	if r = newRig(cfg).started().do(MainExited{}); !r.did("READY=1") {
		t.Error("early-exit=success: no READY=1")
	}
	if r = newRig(cfg).started().do(MainExited{Status: Status{Code: 1}}); r.did("READY=1") {
		t.Error("early-exit=success: READY=1 went out for a failure")
	}
}

func TestRequestedStopDrainsInItsOrder(t *testing.T) {
	r := newRig(typical()).ready().wait(time.Second)
	start := len(r.log)
	r.do(Signalled{syntax.SIGTERM})
	expect(t, r, Draining, "STOPPING=1 WATCHDOG_USEC=0", "Hook")
	r.wait(2 * time.Second).do(HookEnded{}).wait(4 * time.Second)
	expect(t, r, Draining)
	r.wait(time.Second)
	expect(t, r, Stopping)
	r.wait(5 * time.Second).wait(20 * time.Second)
	expect(t, r, Killing)
	r.wait(time.Second).do(MainExited{Status: Status{Signal: syntax.SIGKILL}})
	ends(t, r, Status{Signal: syntax.SIGKILL}, history.StopTimeout)
	var order []string
	for _, line := range r.log[start:] {
		_, what, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(what, "send STATUS") && !strings.HasPrefix(what, "KILL") && !strings.HasPrefix(what, "exit") {
			order = append(order, what)
		}
	}
	want := []string{
		"StopProbes", "send STOPPING=1 WATCHDOG_USEC=0", "Hook",
		"INT main", "CONT main", "TERM group", "CONT group",
		"log the main process did not end in time: SIGKILL to all that is left",
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("the order of a stop (-want +got):\n%s", diff)
	}
}

func TestHookThatHangsIsKilledAtItsTimeout(t *testing.T) {
	r := newRig(typical()).ready().do(Signalled{syntax.SIGTERM}).wait(10 * time.Second)
	expect(t, r, Draining, "StopHook", "log pre-stop hook: timeout after 10s, killed")
	r.do(HookEnded{"late"}) // void
	expect(t, r.wait(5*time.Second), Stopping)
}

func TestStopThatEndsAsAskedIsClean(t *testing.T) {
	for status, want := range map[Status]Status{
		{}:                                   {},
		{Signal: syntax.SIGTERM}:             {},
		{Signal: syntax.SIGINT}:              {},
		{Code: 143}:                          {},
		{Code: 130}:                          {},
		{Code: 42}:                           {},
		{Code: 3}:                            {Code: 3},
		{Code: 129}:                          {Code: 129},
		{Signal: syntax.SIGQUIT}:             {Signal: syntax.SIGQUIT},
		{Signal: syntax.SIGTERM, Core: true}: {Signal: syntax.SIGTERM, Core: true},
	} {
		cfg := plain()
		cfg.Success = Success{Codes: []int{42}}
		r := newRig(cfg).ready().do(Signalled{syntax.SIGTERM}).wait(6 * time.Second).do(MainExited{Status: status})
		if got, _ := r.outcome(); got.Status != want {
			t.Errorf("a stop by INT and TERM that the child ends with %v ends with %v; want %v", status, got.Status, want)
		}
	}
}

func TestSignalThatWasNeverSentIsPassedOn(t *testing.T) {
	r := newRig(plain()).ready().do(Signalled{syntax.SIGTERM}, MainExited{Status: Status{Signal: syntax.SIGTERM}})
	ends(t, r, Status{Signal: syntax.SIGTERM}, history.StopRequested) // only INT had been sent
	r = newRig(plain()).ready().do(Signalled{syntax.SIGTERM}, MainExited{Status: Status{Signal: syntax.SIGQUIT}})
	ends(t, r, Status{Signal: syntax.SIGQUIT}, history.Signal)
}

func TestRepeatedRequestWithinASecondIsTheSameStop(t *testing.T) {
	r := newRig(plain()).ready().do(Signalled{syntax.SIGTERM}).wait(900 * time.Millisecond).do(Signalled{syntax.SIGTERM})
	if got := r.signals(); !slices.Equal(got, []string{"INT main"}) {
		t.Errorf("signals are %v; want INT once", got)
	}
	r.wait(200 * time.Millisecond).do(Signalled{syntax.SIGTERM})
	if got := r.signals(); !slices.Equal(got, []string{"INT main", "TERM group"}) {
		t.Errorf("signals are %v; want the next step after a later request", got)
	}
	r.do(Signalled{syntax.SIGTERM})
	expect(t, r, Killing)
}

func TestUnhealthyServiceIsDrainedWithoutDelayAndEndsWith69(t *testing.T) {
	r := newRig(typical()).ready()
	for range 3 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "timeout after 2s"})
	}
	expect(t, r, Draining, "STOPPING=1 WATCHDOG_USEC=0", "Hook",
		"log unhealthy: tcp:127.0.0.1:2 failed 3 times, last: timeout after 2s; on-unhealthy=drain",
		"STATUS=draining: unhealthy, tcp:127.0.0.1:2 failed 3 times (timeout after 2s)")
	expect(t, r.do(HookEnded{}), Stopping, "INT main")
	r.do(Signalled{syntax.SIGTERM}) // an operator's stop meanwhile changes nothing
	r.wait(time.Second).do(MainExited{Status: Status{Code: 3}})
	ends(t, r, Status{Code: 69}, history.Unhealthy)
	if out, _ := r.outcome(); out.End.Format() != `svcrun: end cause=unhealthy code=3 check=tcp:127.0.0.1:2 after=3 last="timeout after 2s" stop=1s` {
		t.Errorf("end line is %s", out.End.Format())
	}
}

func TestFailuresMustComeInARow(t *testing.T) {
	r := newRig(typical()).ready()
	for range 5 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "x"}).wait(10 * time.Second).do(Probed{ID: 1, Failure: "x"})
		r.wait(10 * time.Second).do(Probed{ID: 1})
	}
	expect(t, r, Ready)
}

func TestFailuresBeforeReadinessCountForNothing(t *testing.T) {
	r := newRig(typical()).started()
	for range 20 {
		r.wait(time.Second).do(Probed{ID: 1, Failure: "connection refused"})
	}
	r.do(Probed{ID: 0}).wait(0).do(Probed{ID: 0}) // the first took so long that it is void
	expect(t, r, Ready)
	r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "x"}).wait(10 * time.Second).do(Probed{ID: 1, Failure: "x"})
	expect(t, r, Ready)
}

func TestReportOnlyTells(t *testing.T) {
	cfg := typical()
	cfg.Live[0].OnUnhealthy = watchdog.Report
	r := newRig(cfg).ready()
	for range 10 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "status 500"})
	}
	expect(t, r, Ready, "STATUS=ready 1/1, live 0/1, failing: tcp:127.0.0.1:2 (status 500)")
	expect(t, r.wait(10*time.Second).do(Probed{ID: 1}), Ready, "STATUS=ready 1/1, live 1/1")
}

func TestAbortTriggersTheManagersWatchdogAndPassesItsSignalOn(t *testing.T) {
	cfg := typical()
	cfg.OnUnhealthy = watchdog.Abort
	r := newRig(cfg).ready()
	for range 3 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "x"})
	}
	expect(t, r, Ready, "WATCHDOG=trigger")
	before := len(r.sends())
	for range 30 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "x"})
	}
	if got := r.sends()[before:]; len(got) > 0 {
		t.Errorf("sent %v after the trigger; a heartbeat would save an old manager's victim", got)
	}
	r.do(Signalled{syntax.SIGABRT})
	expect(t, r, Aborting, "ABRT group")
	r.do(MainExited{Status: Status{Signal: syntax.SIGABRT, Core: true}})
	ends(t, r, Status{Signal: syntax.SIGABRT, Core: true}, history.Watchdog)
}

func TestChildThatIgnoresTheAbortIsKilled(t *testing.T) {
	r := newRig(typical()).ready().do(Signalled{syntax.SIGABRT}).wait(10 * time.Second)
	expect(t, r, Killing, "KILL scope")
	r.do(MainExited{Status: Status{Signal: syntax.SIGKILL}})
	ends(t, r, Status{Signal: syntax.SIGABRT}, history.Watchdog)
}

func TestWithoutAManagerAbortIsDoneHere(t *testing.T) {
	cfg := typical()
	cfg.OnUnhealthy, cfg.Managed = watchdog.Abort, false
	r := newRig(cfg).ready()
	for range 3 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "x"})
	}
	expect(t, r, Aborting, "ABRT group")
	if len(r.sends()) > 0 {
		t.Errorf("sent %v to nobody", r.sends())
	}
}

func TestWhatOutlivesTheMainProcessIsStoppedAndThenKilled(t *testing.T) {
	r := newRig(typical()).ready().do(MainExited{Status: Status{Code: 5}, Left: 2})
	expect(t, r, Ending, "STOPPING=1 WATCHDOG_USEC=0", "TERM scope")
	expect(t, r.do(ScopeChanged{1}), Ending)
	expect(t, r.wait(4*time.Second), Killing, "KILL scope")
	expect(t, r.do(ScopeChanged{0}), Done)
	ends(t, r, Status{Code: 5}, history.ExitCode)
}

func TestStragglersThatNeedSIGKILLLeaveARequestedStopClean(t *testing.T) {
	r := newRig(plain()).ready().do(Signalled{syntax.SIGTERM}, MainExited{Left: 1}).wait(4 * time.Second)
	expect(t, r, Killing)
	ends(t, r.do(ScopeChanged{0}), Status{}, history.StopRequested)
}

func TestWhatWouldNotDieIsLeftToTheManager(t *testing.T) {
	r := newRig(plain()).ready().do(Signalled{syntax.SIGTERM}, MainExited{Left: 3}).wait(8 * time.Second)
	expect(t, r, Done, "log 3 processes would not die; left to the manager")
	ends(t, r, Status{}, history.StopRequested)
}

func TestReloadIsReadyWhenEveryReadyCheckPassesAFreshProbe(t *testing.T) {
	r := newRig(typical()).ready().wait(time.Second).do(Signalled{syntax.SIGHUP})
	expect(t, r, Reloading, "RELOADING=1", "HUP main")
	r.wait(10 * time.Millisecond)
	before := len(r.sends())
	expect(t, r.do(Probed{ID: 0}), Ready)
	if got := r.sends()[before:]; !slices.Equal(got, []string{"READY=1"}) {
		t.Errorf("sent %v; want READY=1 once", got)
	}
}

func TestReloadThatNeverBecomesReadyEndsWithAWarning(t *testing.T) {
	r := newRig(typical()).ready().do(Signalled{syntax.SIGHUP}).wait(61 * time.Second)
	expect(t, r, Ready, "log reload: not ready within 1min")
}

func TestChildsOwnReloadWaitsForItsReady(t *testing.T) {
	r := newRig(typical()).ready().do(Heard{notify.Said{Reloading: true}}).wait(10 * time.Millisecond).do(Probed{ID: 0})
	expect(t, r, Reloading, "RELOADING=1")
	expect(t, r.do(Heard{notify.Said{Ready: true}}), Ready)
	if r.did("HUP main") {
		t.Error("the child that reloads by itself got a SIGHUP")
	}
}

func TestChildThatStopsByItselfGetsTimeAndNoSignal(t *testing.T) {
	r := newRig(typical()).ready().do(Heard{notify.Said{Stopping: true}}).wait(24 * time.Second)
	expect(t, r, Stopping, "STOPPING=1 WATCHDOG_USEC=0")
	if got := r.signals(); len(got) > 0 {
		t.Errorf("sent %v to a child that stops by itself", got)
	}
	expect(t, r.wait(time.Second), Killing)
	ends(t, r.do(MainExited{Status: Status{Signal: syntax.SIGKILL}}), Status{Signal: syntax.SIGKILL}, history.StopTimeout)
}

func TestChildsStatusIsJoinedWithSvcruns(t *testing.T) {
	r := newRig(typical()).ready().do(Heard{notify.Said{Status: "accepting", HasStatus: true}})
	expect(t, r, Ready, "STATUS=ready 1/1, live 1/1 · child: accepting")
}

func TestChildsExtensionIsBoundedByThePhaseAndDroppedWhileServing(t *testing.T) {
	r := newRig(typical()).started().wait(88 * time.Second)
	before := len(r.sends())
	r.do(Heard{notify.Said{Extend: time.Hour}})
	if got := r.sends()[before:]; !slices.Equal(got, []string{"EXTEND_TIMEOUT_USEC=2000000"}) {
		t.Errorf("sent %v; want the 2 s that the start timeout leaves", got)
	}
	r = newRig(typical()).ready()
	before = len(r.sends())
	if r.do(Heard{notify.Said{Extend: time.Hour}}); len(r.sends()) != before {
		t.Errorf("sent %v while serving: it would stretch the watchdog", r.sends()[before:])
	}
}

func TestRefusedKeysAreWarnedOfOnce(t *testing.T) {
	r := newRig(typical()).ready()
	for range 3 {
		r.do(Heard{notify.Said{Refused: []string{"NOTIFYACCESS"}}})
	}
	if n := strings.Count(strings.Join(r.log, "\n"), "log the service sent NOTIFYACCESS="); n != 1 {
		t.Errorf("%d warnings; want one", n)
	}
}

func TestSilentChildIsUnhealthyAfterItsTimeouts(t *testing.T) {
	cfg := typical()
	cfg.Live = []watchdog.Check{{Kind: watchdog.Notify, Interval: 10 * time.Second, Timeout: 2 * time.Second, Failures: 3, Successes: 1}}
	r := newRig(cfg).started().wait(10 * time.Millisecond).do(Probed{ID: 0})
	for range 10 {
		r.wait(1900 * time.Millisecond).do(Heard{notify.Said{Alive: true}})
	}
	expect(t, r, Ready)
	expect(t, r.wait(6*time.Second), Draining, "log unhealthy: notify failed 3 times, last: no WATCHDOG=1 within 2s")
	if slices.Contains(r.sends(), "WATCHDOG=1 ") {
		t.Error("the child's heartbeat was passed on by itself")
	}
}

func TestStartDelayHoldsBackTheChildAndAStopEndsIt(t *testing.T) {
	cfg := typical()
	cfg.Hold = Hold{Delay: 10 * time.Second, Reason: "restart 2"}
	r := newRig(cfg).do(Tick{}).wait(9 * time.Second)
	expect(t, r, Delaying, "STATUS=start held back until 00:00:10, restart 2")
	expect(t, r.wait(time.Second), Starting, "Spawn")
	r = newRig(cfg).do(Tick{}, Signalled{syntax.SIGTERM})
	ends(t, r, Status{}, history.StopRequested)
}

func TestManagersTermIsNotSentASecondTime(t *testing.T) {
	cfg := plain()
	cfg.ManagerSignalsAll = true
	cfg.Drain.Steps = []drain.Step{{Signal: syntax.SIGTERM, Wait: 5 * time.Second}, {Signal: syntax.SIGQUIT, Wait: 5 * time.Second}}
	r := newRig(cfg).ready().do(Signalled{syntax.SIGTERM}).wait(6 * time.Second)
	if got := r.signals(); !slices.Equal(got, []string{"QUIT group"}) {
		t.Errorf("signals are %v; the manager's TERM is the first step", got)
	}
}

func TestOtherSignalsReachTheMainProcess(t *testing.T) {
	r := newRig(typical()).ready().do(Signalled{syntax.SIGUSR1}, Signalled{syntax.SIGINT}, Signalled{syntax.SIGWINCH})
	expect(t, r, Ready, "USR1 main", "INT main", "WINCH main")
	cfg := typical()
	cfg.InterruptStops = true
	expect(t, newRig(cfg).ready().do(Signalled{syntax.SIGINT}), Draining)
}

func TestANewlineOnADescriptorMakesReadyOnce(t *testing.T) {
	cfg := plain()
	cfg.Ready[0].Kind, cfg.Ready[0].Target = watchdog.FD, "3"
	r := newRig(cfg).started()
	expect(t, r.do(DescriptorRead{Descriptor: 4, Newline: true}, Probed{ID: 1}), Starting)
	expect(t, r.do(DescriptorRead{Descriptor: 3, Newline: true}), Ready)
	expect(t, r.do(DescriptorRead{Descriptor: 3, Newline: true}), Ready)
	if n := slices.Index(r.sends(), "READY=1"); n < 0 || slices.Contains(r.sends()[n+1:], "READY=1") {
		t.Errorf("said %q", r.sends())
	}
}

func TestADescriptorClosedWithoutANewlineIsWhatTheStartTimeoutTells(t *testing.T) {
	cfg := plain()
	cfg.Ready[0].Kind, cfg.Ready[0].Target = watchdog.FD, "3"
	r := newRig(cfg).started().do(DescriptorRead{Descriptor: 3})
	r.wait(cfg.StartTimeout).do(MainExited{Status: Status{Signal: syntax.SIGTERM}})
	outcome, ok := r.outcome()
	if !ok || outcome.Status.Code != ExitStartTimeout || !strings.Contains(outcome.End.Format(), `check=fd:3 last="closed descriptor 3 without a newline"`) {
		t.Errorf("ended with %+v: %s", outcome.Status, outcome.End.Format())
	}
}

func TestLiveCheckThatCannotBeAnsweredEndsNobody(t *testing.T) {
	r := newRig(typical()).ready()
	for range 10 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "cannot attribute: x", Unknown: true})
	}
	expect(t, r, Ready, "log tcp:127.0.0.1:2: cannot attribute: x; it counts neither for nor against the service",
		"STATUS=ready 1/1, live 0/1, failing: tcp:127.0.0.1:2 (cannot attribute: x)")
	if n := strings.Count(strings.Join(r.log, "\n"), "counts neither"); n != 1 {
		t.Errorf("%d warnings; want one", n)
	}
}
