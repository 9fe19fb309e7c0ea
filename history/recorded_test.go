package history_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/journal"
)

// recording is what a real manager and the units of testdata/truth.txt wrote.
type recording struct {
	version int
	entries []history.Entry
}

func recordings(t *testing.T) []recording {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 3 {
		t.Fatalf("recordings %v, %v; want at least three", files, err)
	}
	var all []recording
	for _, file := range files {
		version, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rec := recording{version: version}
		for line := range bytes.Lines(text) {
			entry, err := journal.Decode(line)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			rec.entries = append(rec.entries, entry)
		}
		all = append(all, rec)
	}
	return all
}

// runs folds the entries for one unit.
func runs(unit string, entries []history.Entry) []history.Run {
	fold := history.NewFold(unit)
	for _, e := range entries {
		fold.Add(e)
	}
	return fold.Runs()
}

// units are those that the recording has anything of.
func (r recording) units() []string {
	var names []string
	for _, e := range r.entries {
		if e.ByManager() && !slices.Contains(names, e.Unit) {
			names = append(names, e.Unit)
		}
	}
	return names
}

// truth reads testdata/truth.txt for a version of systemd.
func truth(t *testing.T, version int) map[string][]string {
	t.Helper()
	file, err := os.Open("testdata/truth.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := make(map[string][]string)
	unit := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "why") { // svcstat why needs a manager
			continue
		}
		head, isHead := strings.CutPrefix(line, "[")
		if !isHead {
			if unit != "" {
				all[unit] = append(all[unit], line)
			}
			continue
		}
		name, condition, _ := strings.Cut(strings.TrimSuffix(head, "]"), " ")
		unit = name + ".service"
		bound, _ := strconv.Atoi(strings.TrimLeft(condition, "<>="))
		if strings.HasPrefix(condition, "<") && version >= bound || strings.HasPrefix(condition, ">=") && version < bound {
			unit = ""
		}
	}
	return all
}

// words is a run in the words of the truth.
func words(r history.Run) []string {
	start, ready, cause := string(r.Start), "never", string(r.Cause)
	if r.Restarts > 0 {
		start += fmt.Sprintf("/%d", r.Restarts)
	}
	switch _, isReady := r.ReadyAfter(); {
	case r.Cause.Refused():
		ready = "refused"
	case isReady:
		ready = "ready"
	case r.Started.IsZero():
		ready = "lost"
	}
	if cause == "" {
		cause = "running" // which only D-Bus knows for sure
	}
	out := []string{start, ready, cause}
	if code, ok := r.Exit.Code(); ok {
		out = append(out, fmt.Sprintf("code=%d", code))
	}
	if signal, ok := r.Exit.Signal(); ok {
		out = append(out, "signal="+signal.Name())
	}
	if r.Exit.Kind == history.Dumped {
		out = append(out, "core")
	}
	for _, f := range r.Detail {
		out = append(out, f.Key+"="+strings.ReplaceAll(f.Value, " ", "_"))
	}
	return out
}

// agree compares a run with a line of the truth; a word in parentheses may be missing.
func agree(truth string, told history.Run) bool {
	left := words(told)
	for word := range strings.FieldsSeq(truth) {
		bare, optional := strings.CutPrefix(word, "(")
		if optional {
			word = strings.TrimSuffix(bare, ")")
		}
		i := slices.Index(left, word)
		switch {
		case i >= 0:
			left = slices.Delete(left, i, i+1)
		case !optional:
			return false
		}
	}
	return len(left) == 0
}

func TestRecordedJournalsTellWhatHappened(t *testing.T) {
	for _, rec := range recordings(t) {
		happened := truth(t, rec.version)
		for _, unit := range rec.units() {
			want, got := happened[unit], runs(unit, rec.entries)
			if !slices.EqualFunc(want, got, agree) {
				t.Errorf("systemd %d, %s\nhappened %q", rec.version, unit, want)
				for _, r := range got {
					t.Errorf("told %q", words(r))
				}
			}
		}
	}
}

// restartSec is RestartSec= of the recorded units.
var restartSec = map[string]time.Duration{
	"start-limit.service": 200 * time.Millisecond, "start-timeout.service": 300 * time.Millisecond,
	"terminated.service": 200 * time.Millisecond, "unhealthy.service": 200 * time.Millisecond,
}

func TestDelayToAnAutomaticStartIsTheHoldOff(t *testing.T) {
	for _, rec := range recordings(t) {
		for unit, delay := range restartSec {
			all := runs(unit, rec.entries)
			for i, r := range all[min(1, len(all)):] {
				if r.Start != history.Automatic {
					t.Errorf("systemd %d, %s: run %d is %s, want automatic", rec.version, unit, i+2, r.Start)
				}
				if got := all[i].Delay; got < delay-5*time.Millisecond || got > delay+300*time.Millisecond {
					t.Errorf("systemd %d, %s: %v until run %d, RestartSec= is %v", rec.version, unit, got, i+2, delay)
				}
			}
		}
	}
}

// TestOthersCannotSpeakForTheManager: the same lines from any other process
// count for nothing, and change nothing that the manager's tell.
func TestOthersCannotSpeakForTheManager(t *testing.T) {
	strangers := []func(*history.Entry){
		func(e *history.Entry) { e.PID = "4711" },
		func(e *history.Entry) { e.PID, e.UID, e.Cgroup = "4711", "0", "/system.slice/other.service" },
		func(e *history.Entry) { e.PID, e.UID, e.Cgroup = "4711", "1000", "/init.scope" },
		func(e *history.Entry) { e.PID, e.UID, e.Cgroup = "11", "0", "/init.scope/x" },
		func(e *history.Entry) { e.PID, e.OwnUnit = "4711", e.Unit }, // the unit itself
		func(e *history.Entry) { e.PID = "" },
	}
	for _, rec := range recordings(t) {
		for _, unit := range rec.units() {
			want := runs(unit, rec.entries)
			for i, disguise := range strangers {
				var forged, both []history.Entry
				for _, e := range rec.entries {
					both = append(both, e)
					if e.ByManager() {
						disguise(&e)
						forged = append(forged, e)
						e.Invocation = "ffffff"
						both = append(both, e)
					}
				}
				if got := runs(unit, forged); len(got) > 0 {
					t.Errorf("%s, stranger %d: %d runs of forged lines", unit, i, len(got))
				}
				if diff := cmp.Diff(want, runs(unit, both)); diff != "" {
					t.Errorf("%s, stranger %d: forged lines change what is told\n%s", unit, i, diff)
				}
			}
		}
	}
}

// TestInitScopeIsTheManager: a manager that was re-executed, or one of 260 and
// later, may be known by its control group only.
func TestInitScopeIsTheManager(t *testing.T) {
	rec := recordings(t)[0]
	want := runs("start-limit.service", rec.entries)
	for i := range rec.entries {
		if e := &rec.entries[i]; e.PID == "1" {
			e.PID, e.UID, e.Cgroup = "17", "0", "/init.scope"
		}
	}
	if diff := cmp.Diff(want, runs("start-limit.service", rec.entries)); diff != "" {
		t.Error(diff)
	}
}

// TestLateLinesFindTheirRun: the journal takes the service's output and the
// manager's lines from different sockets, so that they may change places.
func TestLateLinesFindTheirRun(t *testing.T) {
	for _, rec := range recordings(t) {
		var manager, own []history.Entry
		for _, e := range rec.entries {
			if e.ByManager() {
				manager = append(manager, e)
			} else {
				own = append(own, e)
			}
		}
		for _, unit := range []string{"unhealthy.service", "liar.service", "exec.service"} {
			want := runs(unit, rec.entries)
			if diff := cmp.Diff(want, runs(unit, append(slices.Clone(manager), own...))); diff != "" {
				t.Errorf("systemd %d, %s\n%s", rec.version, unit, diff)
			}
		}
	}
}

// TestACutJournalIsNotGuessedAt: wherever the journal begins, what is told of
// a run is what the whole tells, or less.
func TestACutJournalIsNotGuessedAt(t *testing.T) {
	manager := []history.Cause{history.ExitCode, history.Signal, history.CoreDump} // the manager's own words
	for _, rec := range recordings(t) {
		for _, unit := range rec.units() {
			whole := make(map[string]history.Run)
			for _, r := range runs(unit, rec.entries) {
				whole[r.InvocationID] = r
			}
			for cut := range rec.entries {
				for _, r := range runs(unit, rec.entries[cut:]) {
					full, known := whole[r.InvocationID]
					switch {
					case !known:
						t.Fatalf("systemd %d, %s from line %d: a run that never was: %v", rec.version, unit, cut, r)
					case r.InvocationID == "", r.Cause == full.Cause, r.Cause == history.Unknown, r.Cause == "":
					case r.Started.IsZero() && slices.Contains(manager, r.Cause):
					default:
						t.Fatalf("systemd %d, %s from line %d: cause %q, in truth %q", rec.version, unit, cut, r.Cause, full.Cause)
					}
					if r.Start != full.Start && r.Start != history.UnknownStart {
						t.Fatalf("systemd %d, %s from line %d: start %q, in truth %q", rec.version, unit, cut, r.Start, full.Start)
					}
				}
			}
		}
	}
}

// TestFoldTakesAnything: entries in any order, with any of them missing or
// told twice, never break it, and its runs stay in order and make sense.
func TestFoldTakesAnything(t *testing.T) {
	all := recordings(t)
	rapid.Check(t, func(t *rapid.T) {
		rec := rapid.SampledFrom(all).Draw(t, "recording")
		unit := rapid.SampledFrom(rec.units()).Draw(t, "unit")
		var about []history.Entry
		for _, e := range rec.entries {
			if e.Unit == unit || e.OwnUnit == unit {
				about = append(about, e)
			}
		}
		entries := rapid.SliceOfN(rapid.SampledFrom(about), 0, 2*len(about)).Draw(t, "entries")
		for i, r := range runs(unit, entries) {
			switch {
			case r.Number != i+1, r.Unit != unit:
				t.Fatalf("run %d is called %d of %s", i+1, r.Number, r.Unit)
			case r.Up < 0, r.Delay < 0:
				t.Fatalf("run %d: negative spans: %+v", i+1, r)
			case r.Cause.Refused() != (r.InvocationID == ""):
				t.Fatalf("run %d: a start is refused or has an invocation: %+v", i+1, r)
			case r.Restarts > 0 && r.Start == history.UnknownStart:
				t.Fatalf("run %d: a restart that nobody made: %+v", i+1, r)
			}
		}
	})
}
