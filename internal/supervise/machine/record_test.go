package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
)

// phases are a record's phases as lines, with the seconds since the start.
func phases(r history.Record) []string {
	var out []string
	for _, p := range r.Phases {
		line := fmt.Sprintf("%v %s %s", p.Began.Sub(epoch).Truncate(time.Second), p.Name, time.Duration(p.TookUsec)*time.Microsecond)
		out = append(out, strings.TrimSpace(line+" "+p.Signal))
	}
	return out
}

// notes are the records that were handed to the loop.
func (r *rig) notes() []history.Record {
	var out []history.Record
	for _, t := range r.all {
		if n, ok := t.action.(Note); ok {
			out = append(out, n.Record)
		}
	}
	return out
}

func TestRecordTellsEveryPhaseOfADrainWithItsTimes(t *testing.T) {
	r := newRig(typical()).ready().wait(time.Minute).do(Probed{ID: 1}, Signalled{syntax.SIGTERM}).wait(2 * time.Second).
		do(HookEnded{}).wait(11 * time.Second).do(MainExited{Status{Signal: syntax.SIGTERM}, 1}).wait(time.Second).do(ScopeChanged{0})
	outcome, ended := r.outcome()
	if !ended {
		t.Fatal("it has not ended:", r.log)
	}
	want := []string{
		"0s starting 10ms", "0s ready 1m0s", "1m0s pre-stop 2s", "1m2s drain-delay 5s",
		"1m7s stop 5s INT", "1m12s stop 1s TERM", "1m13s ending 1s",
	}
	if diff := cmp.Diff(want, phases(outcome.Record)); diff != "" {
		t.Error("phases (-want +got):", diff)
	}
	rec := outcome.Record
	if rec.Begun != epoch || rec.Started != epoch || rec.Ready.Sub(epoch) != 10*time.Millisecond || rec.Stopping.Sub(epoch).Truncate(time.Second) != time.Minute {
		t.Errorf("begun %s, started %s, ready %s, stopping %s", rec.Begun, rec.Started, rec.Ready, rec.Stopping)
	}
	if rec.End == nil || rec.End.Cause != history.StopRequested || rec.End.Signal != "TERM" || rec.Ended != r.now {
		t.Errorf("end %+v at %s", rec.End, rec.Ended)
	}
	if reason := rec.Phases[2].Reason; reason != "stop requested" {
		t.Errorf("the hook ran for the reason %q", reason)
	}
}

func TestRecordOfAnUnhealthyRunNamesTheCheckAndWhatItSaid(t *testing.T) {
	r := newRig(plain()).ready()
	for range 3 {
		r.wait(10 * time.Second).do(Probed{ID: 1, Failure: "connection refused"})
	}
	r.do(MainExited{Status: Status{Code: 3}})
	outcome, _ := r.outcome()
	end := outcome.Record.End
	if end == nil || end.Cause != history.Unhealthy || end.After != 3 || end.Last != "connection refused" || !strings.HasPrefix(end.Check, "tcp:") {
		t.Fatalf("end %+v", end)
	}
	if end.Code == nil || *end.Code != 3 {
		t.Errorf("the main process's code is %v", end.Code)
	}
	if !outcome.Failed || outcome.Requested {
		t.Errorf("failed %v, requested %v", outcome.Failed, outcome.Requested)
	}
}

func TestRecordIsOpenFromTheStartOn(t *testing.T) {
	notes := newRig(plain()).ready().notes()
	if len(notes) == 0 {
		t.Fatal("nothing was noted")
	}
	if first := notes[0]; first.Begun != epoch || !first.Ended.IsZero() || first.End != nil {
		t.Errorf("the first note is %+v", first)
	}
	if last := notes[len(notes)-1]; last.Ready.IsZero() {
		t.Errorf("READY=1 was not noted: %+v", last)
	}
}

func TestNotesAreNotChangedAfterwards(t *testing.T) {
	r := newRig(plain()).ready()
	notes := r.notes()
	before := phases(notes[len(notes)-1])
	r.wait(5 * time.Second).do(Signalled{syntax.SIGTERM}).wait(time.Minute)
	if diff := cmp.Diff(before, phases(notes[len(notes)-1])); diff != "" {
		t.Error("(-then +now)", diff)
	}
}

func TestRecordOfAServiceThatReloadsForYearsIsBounded(t *testing.T) {
	r := newRig(plain()).ready()
	const reloads = 500
	for range reloads {
		r.do(Signalled{syntax.SIGHUP}).wait(10 * time.Millisecond).do(Probed{ID: 0}).wait(time.Second).do(Probed{ID: 1})
	}
	r.do(Signalled{syntax.SIGTERM}, MainExited{})
	outcome, _ := r.outcome()
	rec := outcome.Record
	if len(rec.Phases) != history.MaxPhases || rec.More != 2*reloads+3-history.MaxPhases {
		t.Errorf("%d phases and %d left out", len(rec.Phases), rec.More)
	}
	if rec.Phases[0].Name != "starting" || rec.Phases[len(rec.Phases)-1].Name != "stop" {
		t.Errorf("the start or the end was left out: %v", phases(rec))
	}
}

func TestRunFailedAsSystemdSeesIt(t *testing.T) {
	for _, test := range []struct {
		status Status
		failed bool
	}{
		{Status{}, false},
		{Status{Code: 1}, true},
		{Status{Code: 143}, true},
		{Status{Signal: syntax.SIGTERM}, false},
		{Status{Signal: syntax.SIGPIPE}, false},
		{Status{Signal: syntax.SIGKILL}, true},
		{Status{Signal: syntax.SIGHUP, Core: true}, true},
	} {
		outcome, _ := newRig(plain()).ready().do(MainExited{Status: test.status}).outcome()
		if outcome.Failed != test.failed || outcome.Requested {
			t.Errorf("%s: failed %v, requested %v", test.status, outcome.Failed, outcome.Requested)
		}
	}
	if outcome, _ := newRig(plain()).ready().do(Signalled{syntax.SIGTERM}, MainExited{Status: Status{Code: 1}}).outcome(); !outcome.Requested {
		t.Error("a stop was asked for, and the outcome does not say so")
	}
}

// stableRig serves with stable-after of a minute.
func stableRig() *rig {
	cfg := plain()
	cfg.StableAfter = time.Minute
	return newRig(cfg).ready()
}

// healthy lets time pass with a live check that passes.
func (r *rig) healthy(d time.Duration) *rig {
	for end := r.now.Add(d); r.now.Before(end); {
		r.do(Probed{ID: 1}).wait(min(5*time.Second, end.Sub(r.now)))
	}
	return r
}

func TestRestartResetGoesOutOnceAfterUnbrokenHealth(t *testing.T) {
	r := stableRig().healthy(59 * time.Second)
	if slices.Contains(r.sends(), "RESTART_RESET=1") || r.did("Forget") {
		t.Fatal("too early:", r.log)
	}
	r.healthy(10 * time.Minute)
	sent := slices.DeleteFunc(r.sends(), func(s string) bool { return s != "RESTART_RESET=1" })
	if len(sent) != 1 || !r.did("1m0.01s Forget") {
		t.Errorf("sent %d times: %v", len(sent), r.log)
	}
	if notes := r.notes(); notes[len(notes)-1].Stable.IsZero() {
		t.Error("the record does not know")
	}
}

func TestAnUnhealthyCheckThatIsOnlyReportedBreaksTheHealth(t *testing.T) {
	cfg := plain()
	cfg.StableAfter, cfg.OnUnhealthy = time.Minute, "report"
	r := newRig(cfg).ready().healthy(40 * time.Second)
	for range 3 {
		r.do(Probed{ID: 1, Failure: "no"}).wait(10 * time.Second)
	}
	r.healthy(59 * time.Second)
	if r.did("Forget") {
		t.Fatal("its health was broken less than a minute ago:", r.log)
	}
	if r.healthy(2 * time.Second); !r.did("Forget") {
		t.Error("a minute has passed since:", r.log)
	}
}

func TestNothingIsForgottenWithoutStableAfterOrDuringAReload(t *testing.T) {
	if r := newRig(plain()).ready().healthy(time.Hour); r.did("RESTART_RESET") {
		t.Error("without --stable-after:", r.log)
	}
	r := stableRig().healthy(59900 * time.Millisecond).do(Signalled{syntax.SIGHUP}).wait(500 * time.Millisecond)
	if r.did("RESTART_RESET") {
		t.Error("the manager heeds it in running only:", r.log)
	}
	if r.do(Probed{ID: 0}).wait(time.Second); !r.did("RESTART_RESET") {
		t.Error("after the reload:", r.log)
	}
}

func TestTheServicesOwnRestartResetIsHeededToo(t *testing.T) {
	r := newRig(plain()).ready().do(Heard{notify.Said{Forward: notify.Message{restartReset}}})
	if !r.did("send RESTART_RESET=1") || !r.did("Forget") {
		t.Error(r.log)
	}
}
