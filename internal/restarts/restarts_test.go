package restarts

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/statefile"
	"github.com/svckit/svckit/policy"
)

// hourly is a ladder whose wait no test sees the end of.
var hourly = policy.StartDelay{Ladder: policy.Ladder{Base: time.Hour, Cap: time.Hour}}

// stormy pauses after two failures in a short time, or after three if the first
// has faded a little by then.
var stormy = policy.StartDelay{Storm: policy.Storm{Failures: 2, HalfLife: time.Hour, Pause: time.Minute}}

// hold begins a run, and returns how it is held back.
func hold(t *testing.T, dir string, delay policy.StartDelay) policy.Held {
	t.Helper()
	held, err := Hold(dir, delay, func(int64) int64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// fail begins a run that fails.
func fail(t *testing.T, dir string, delay policy.StartDelay) policy.Held {
	t.Helper()
	held := hold(t, dir, delay)
	if err := Fail(dir, delay.Storm); err != nil {
		t.Fatal(err)
	}
	return held
}

// kill begins a run of an svcrun that is killed.
func kill(t *testing.T, dir string) {
	t.Helper()
	hold(t, dir, hourly)
	s := mustLoad(t, dir)
	s.Open.Ticks++ // as if the pid had been another's
	if err := save(dir, s); err != nil {
		t.Fatal(err)
	}
}

// mustLoad reads a state.
func mustLoad(t *testing.T, dir string) State {
	t.Helper()
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// forget forgets, and returns how many failures.
func forget(t *testing.T, dir string) int {
	t.Helper()
	n, err := Forget(dir)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// left are the names in a directory.
func left(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// put writes the file as somebody else would.
func put(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFailedRunsAreCountedFromOneToTheNext(t *testing.T) {
	dir := t.TempDir()
	for failures := range 4 {
		held := fail(t, dir, hourly)
		if held.Failures != failures || (held.Delay > 0) != (failures > 0) {
			t.Errorf("after %d failures: %+v", failures, held)
		}
	}
	before := Now()
	fail(t, dir, hourly)
	s := mustLoad(t, dir)
	if s.Series.Failures != 5 || s.Open != nil || s.Series.EndedAt < before || s.Series.EndedAt > Now() {
		t.Errorf("%+v, between %v and %v", s, before, Now())
	}
}

func TestARunThatEndsWellLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	fail(t, dir, hourly)
	hold(t, dir, hourly)
	if err := Clear(dir); err != nil {
		t.Fatal(err)
	}
	if got := left(t, dir); got != "" {
		t.Error(got)
	}
	if held := hold(t, dir, hourly); held != (policy.Held{}) {
		t.Errorf("%+v", held)
	}
}

func TestARunWhoseSvcrunWasKilledHasFailedJustNow(t *testing.T) {
	dir := t.TempDir()
	fail(t, dir, hourly)
	kill(t, dir)
	before := Now()
	held := hold(t, dir, hourly)
	if s := mustLoad(t, dir); held.Failures != 2 || held.Delay < time.Hour-time.Minute || s.Series.EndedAt < before {
		t.Errorf("%+v; %+v", held, s)
	}
}

func TestARunThatLastsIsNotTakenForAKilledOne(t *testing.T) {
	dir := t.TempDir()
	hold(t, dir, hourly)
	if s := mustLoad(t, dir); s.Open == nil || s.Killed() {
		t.Errorf("%+v", s)
	}
	if held := hold(t, dir, hourly); held.Failures != 0 { // by another svcrun, by mistake
		t.Errorf("%+v", held)
	}
}

func TestAPauseForAStormComesOnceAndIsRemembered(t *testing.T) {
	dir := t.TempDir()
	failures := 0
	for held := (policy.Held{}); held.Pause == 0; failures++ {
		held = fail(t, dir, stormy)
		if failures > 3 {
			t.Fatal("no pause came")
		}
	}
	kill(t, dir) // the first failure after the pause
	if held := hold(t, dir, stormy); held.Pause == 0 {
		t.Errorf("the score forgets: %+v", held)
	}
	kill(t, dir) // who is killed in a pause does not begin it anew
	if held := hold(t, dir, stormy); held.Pause != 0 {
		t.Errorf("the pause was not remembered: %+v", held)
	}
}

func TestWhatIsForgottenWhileTheServiceRunsStaysForgotten(t *testing.T) {
	dir := t.TempDir()
	fail(t, dir, hourly)
	fail(t, dir, hourly)
	hold(t, dir, hourly)
	if n := forget(t, dir); n != 2 {
		t.Errorf("%d forgotten", n)
	}
	if s := mustLoad(t, dir); s.Open == nil || s.Series != (policy.Series{}) {
		t.Errorf("the run that lasts is forgotten too: %+v", s)
	}
	if err := Fail(dir, hourly.Storm); err != nil {
		t.Fatal(err)
	}
	if held := hold(t, dir, hourly); held.Failures != 1 {
		t.Errorf("%+v", held)
	}
}

func TestWhatIsForgottenAfterTheServiceLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	if n := forget(t, dir); n != 0 {
		t.Errorf("%d of nothing", n)
	}
	for range 3 {
		fail(t, dir, hourly)
	}
	kill(t, dir)
	if n := forget(t, dir); n != 4 {
		t.Errorf("%d; want 3, and the one that was killed", n)
	}
	if got := left(t, dir); got != "" {
		t.Error(got)
	}
	if n := forget(t, filepath.Join(dir, "none")); n != 0 {
		t.Errorf("%d without a directory", n)
	}
}

func TestWhatAnotherBootHasLeftSaysNothing(t *testing.T) {
	dir := t.TempDir()
	fail(t, dir, hourly)
	data, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	boot := statefile.BootID()
	put(t, dir, strings.ReplaceAll(string(data), boot, strings.Repeat("0", 32)))
	if s := mustLoad(t, dir); !s.IsZero() {
		t.Errorf("%+v", s)
	}
	if held := fail(t, dir, hourly); held.Failures != 0 {
		t.Errorf("%+v", held)
	}
	if s := mustLoad(t, dir); s.Series.Failures != 1 || left(t, dir) != FileName {
		t.Errorf("%+v in %s", s, left(t, dir))
	}
}

func TestWhereTheBootIsHiddenOnlyWhatIsToComeIsOfAnother(t *testing.T) {
	const boot = "0123456789abcdef0123456789abcdef"
	s := State{Series: policy.Series{Failures: 3, EndedAt: time.Hour}}
	for _, c := range []struct {
		then, now string
		at        time.Duration
		want      State
	}{
		{"", "", time.Hour, s},
		{boot, "", time.Hour, s},
		{"", boot, 2 * time.Hour, s},
		{"", "", time.Hour - 1, State{}},
		{boot, "", time.Minute, State{}},
		{"", boot, 0, State{}},
		{boot, boot, 0, s},
		{strings.Repeat("0", 32), boot, 2 * time.Hour, State{}},
	} {
		data, err := encode(s, c.then)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(data, c.now, c.at); err != nil || got != c.want {
			t.Errorf("written in %q, read in %q at %v: %+v, %v", c.then, c.now, c.at, got, err)
		}
	}
}

func TestWhatCannotBeUnderstoodIsSetAsideAndHoldsNothingBack(t *testing.T) {
	for name, make := range map[string]func(*testing.T, string){
		"empty":     func(t *testing.T, dir string) { put(t, dir, "") },
		"cut":       func(t *testing.T, dir string) { put(t, dir, `{"schema":1,"boot_id":"`) },
		"no schema": func(t *testing.T, dir string) { put(t, dir, `{"boot_id":"x","series":{"failures":7}}`) },
		"text":      func(t *testing.T, dir string) { put(t, dir, "failures: 7\n") },
		"null":      func(t *testing.T, dir string) { put(t, dir, "null") },
		"other types": func(t *testing.T, dir string) {
			put(t, dir, `{"schema":1,"boot_id":"x","series":{"failures":"many"}}`)
		},
		"too large": func(t *testing.T, dir string) { put(t, dir, strings.Repeat(" ", maxBytes)+"{}") },
		"fifo": func(t *testing.T, dir string) {
			if err := unix.Mkfifo(filepath.Join(dir, FileName), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"link": func(t *testing.T, dir string) {
			if err := os.Symlink("/dev/zero", filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
		},
		"directory": func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, FileName), 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := t.TempDir()
		make(t, dir)
		held, err := Hold(dir, hourly, nil)
		if held != (policy.Held{}) || err == nil || !strings.HasPrefix(err.Error(), dir) || !strings.HasSuffix(err.Error(), "; set aside as restart.json.corrupt") {
			t.Errorf("%s: %+v, %v", name, held, err)
		}
		if got := left(t, dir); got != "restart.json restart.json.corrupt" {
			t.Errorf("%s: %s", name, got)
		}
		if err := Fail(dir, hourly.Storm); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestANewerSvckitsStateIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	boot := statefile.BootID()
	put(t, dir, fmt.Sprintf(`{"schema":2,"boot_id":%q,"series":{"failures":7}}`, boot))
	if s := mustLoad(t, dir); !s.IsZero() {
		t.Errorf("%+v", s)
	}
	put(t, dir, fmt.Sprintf(`{"schema":1,"boot_id":%q,"series":{"failures":7,"mood":1},"sky":"blue"}`, boot))
	if s := mustLoad(t, dir); s.Series.Failures != 7 {
		t.Errorf("%+v", s)
	}
}

func TestWhereNothingCanBeWrittenNothingIsHeldBackForEver(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), "/proc"} {
		held, err := Hold(dir, hourly, nil)
		if held != (policy.Held{}) || err == nil {
			t.Errorf("%s: %+v, %v", dir, held, err)
		}
		if err := Fail(dir, hourly.Storm); err == nil {
			t.Errorf("%s: a failure was written", dir)
		}
		if err := Clear(dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestWhatAKilledWriterLeftIsTidiedUp(t *testing.T) {
	dir := t.TempDir()
	name := ".restart.json.0123456789abcdef.tmp"
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hold(t, dir, hourly)
	if got := left(t, dir); got != FileName {
		t.Error(got)
	}
}

func TestNoCallWaitsLongerThanASecondForADisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := make(chan struct{})
		start := time.Now()
		n, err := bounded("/run/x", func() (int, error) {
			<-hangs
			return 7, nil
		})
		if took := time.Since(start); n != 0 || err == nil || took != time.Second || err.Error() != "/run/x/restart.json: the disk has not answered within 1s" {
			t.Errorf("%d, %v after %v", n, err, took)
		}
		close(hangs)
	})
}

func TestTheClockDoesNotGoBack(t *testing.T) {
	first := Now()
	if second := Now(); first <= 0 || second < first {
		t.Errorf("%v, then %v", first, second)
	}
}

func FuzzDecode(f *testing.F) {
	const boot = "0123456789abcdef0123456789abcdef"
	whole, err := encode(State{
		Series: policy.Series{Failures: 3, EndedAt: time.Hour, Score: 2_500_000_000_000},
		Open:   &statefile.Process{BootID: boot, PID: 42, Ticks: 4711},
	}, boot)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	for _, text := range []string{
		"", "null", "{}", `{"schema":1,"boot_id":"` + boot + `"}`, `{"schema":1,"boot_id":"` + boot + `","series":{"failures":-1,"ended_at_nsec":-9223372036854775808}}`,
		`{"schema":1,"boot_id":"` + boot + `","series":{"failures":9223372036854775807,"storm_score_trillionth":9223372036854775807},"open":{}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decode(data, boot, time.Hour)
		if err != nil {
			if !errors.Is(err, errCorrupt) || !s.IsZero() {
				t.Errorf("%v with %+v", err, s)
			}
			return
		}
		again, err := encode(s, boot)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(again, boot, time.Hour)
		if diff := cmp.Diff(s, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if s.Series.Failures < 0 || !json.Valid(again) {
			t.Errorf("%+v", s)
		}
		// Whatever it says, what follows from it is bounded.
		for _, delay := range []policy.StartDelay{hourly, stormy} {
			held, _ := delay.Hold(s.Series.Failed(Now(), delay.Storm), Now(), func(int64) int64 { return 0 })
			if total := held.Total(); total < 0 || total > delay.Longest() {
				t.Errorf("%+v holds back for %v", s, total)
			}
		}
	})
}
