package records

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/statefile"
)

// ended is how a run that exited with 3 ends.
func ended(r history.Record) history.Record {
	code := 3
	r.Ended, r.End = r.Begun.Add(time.Second), &history.RecordEnd{Cause: history.ExitCode, Code: &code}
	return r
}

// begun is a run that has begun.
func begun() history.Record {
	return history.Record{Begun: time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)}
}

// mustBegin begins a run, and returns its number.
func mustBegin(t *testing.T, d *directory, warnings ...string) int {
	t.Helper()
	run, warned, err := d.begin(begun())
	if err != nil {
		t.Fatal(err)
	}
	if len(warned) != len(warnings) {
		t.Fatalf("warned: %v; want %v", warned, warnings)
	}
	for i, w := range warned {
		if !strings.Contains(w.Error(), warnings[i]) {
			t.Errorf("warned: %v; want %s", w, warnings[i])
		}
	}
	return run
}

// mustEnd ends a run.
func mustEnd(t *testing.T, d *directory, run int) {
	t.Helper()
	if err := d.write(ended(begun()), run, true); err != nil {
		t.Fatal(err)
	}
}

// dead has a run be one of a process that is no more.
func dead(t *testing.T, d *directory, run int) {
	t.Helper()
	if err := d.replace(begun(), statefile.Process{BootID: d.self.BootID, PID: d.self.PID, Ticks: d.self.Ticks + 1}, run, false); err != nil {
		t.Fatal(err)
	}
}

// mustRead reads all records, of which none is broken.
func mustRead(t *testing.T, dir string) []history.Record {
	t.Helper()
	all, warnings := Read(dir)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return all
}

// names are the names in a directory.
func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRunsAreNumberedAndTheNewestKept(t *testing.T) {
	dir := t.TempDir()
	for want := 1; want <= 5; want++ {
		d := at(dir, 3)
		run := mustBegin(t, d)
		if run != want {
			t.Errorf("run %d; want %d", run, want)
		}
		mustEnd(t, d, run)
	}
	says(t, names(t, filepath.Join(dir, "runs")), "00000003.json", "00000004.json", "00000005.json")
	var runs []int
	for _, r := range mustRead(t, dir) {
		if r.PID != os.Getpid() || r.BootID == "" || r.Ticks == 0 || !r.Closed() || r.End.Cause != history.ExitCode {
			t.Errorf("%+v", r)
		}
		runs = append(runs, r.Run)
	}
	if !slices.Equal(runs, []int{3, 4, 5}) {
		t.Error(runs)
	}
}

func TestNumbersGoOnBeyondEightDigits(t *testing.T) {
	dir := t.TempDir()
	d := at(dir, 2)
	mustBegin(t, d)
	put(t, d.file(99_999_999), `{"schema":1,"run":99999999,"end":{"cause":"clean"}}`)
	if run := mustBegin(t, d); run != 100_000_000 {
		t.Error(run)
	}
	says(t, names(t, d.path), "100000000.json", "99999999.json")
	put(t, d.file(maxRun), `{"schema":1,"run":999999999,"end":{"cause":"clean"}}`)
	if _, _, err := d.begin(begun()); err == nil || !strings.Contains(err.Error(), "no number is free") {
		t.Error(err)
	}
}

func TestNamesAreThoseOfRunsOrAreNot(t *testing.T) {
	for name, want := range map[string]int{
		"00000001.json": 1, "00000042.json": 42, "99999999.json": 99_999_999, "100000000.json": 100_000_000, "999999999.json": maxRun,
		"00000000.json": 0, "1000000000.json": 0, "0000001.json": 0, "000000001.json": 0, "-0000001.json": 0, "+0000001.json": 0, "00000001": 0,
		"00000001.json.json": 0, "00000001.json ": 0, "": 0, ".json": 0, "99999999999999999999.json": 0, ".00000001.json.0123456789abcdef.tmp": 0,
	} {
		if run, ok := runOf(name); ok != (want > 0) || ok && run != want {
			t.Errorf("%q: %d, %v; want %d", name, run, ok, want)
		}
	}
}

func TestTheNextStartClosesWhatAKilledSvcrunLeftOpen(t *testing.T) {
	dir := t.TempDir()
	killed, living, next := at(dir, 9), at(dir, 9), at(dir, 9)
	mustBegin(t, killed)
	dead(t, killed, 1)
	mustBegin(t, living)
	mustBegin(t, next)
	got := mustRead(t, dir)
	want := []*history.RecordEnd{{Cause: history.Unknown, ClosedBy: history.NextStart, Before: begun().Begun}, nil, nil}
	for i, r := range got {
		if diff := cmp.Diff(want[i], r.End); diff != "" || !r.Ended.IsZero() {
			t.Errorf("run %d, ended %v (-want +got):\n%s", r.Run, r.Ended, diff)
		}
	}
	if got[0].Ticks == got[1].Ticks || len(got) != 3 {
		t.Errorf("whose run it was is lost: %+v", got)
	}
	mustEnd(t, living, 2)
	if r := mustRead(t, dir)[1]; r.End.Cause != history.ExitCode {
		t.Errorf("the living one cannot end its record: %+v", r.End)
	}
}

func TestOnlyTheNewestRecordsAreLookedInto(t *testing.T) {
	dir := t.TempDir()
	d := at(dir, 100)
	mustBegin(t, d)
	for run := 1; run <= reviewed+1; run++ {
		dead(t, d, run)
	}
	mustBegin(t, d)
	for _, r := range mustRead(t, dir) {
		if open := r.Run == 1 || r.Run == reviewed+2; r.Closed() == open {
			t.Errorf("run %d: closed %v", r.Run, r.Closed())
		}
	}
}

func TestWhatCannotBeReadIsSetAsideAndTold(t *testing.T) {
	dir := t.TempDir()
	d := at(dir, 100)
	mustBegin(t, d)
	mustEnd(t, d, 1)
	put(t, d.file(2), "")
	put(t, d.file(3), strings.Repeat("x", history.MaxRecord+1))
	if err := unix.Mkfifo(d.file(4), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("00000001.json", d.file(5)); err != nil {
		t.Fatal(err)
	}
	run := mustBegin(t, d,
		"00000002.json: no run record: unexpected end of JSON input; set aside as 00000002.json.corrupt",
		"00000003.json: no file that svckit has written: ", "00000004.json: no file that ", "00000005.json: no file that ")
	if run != 6 {
		t.Errorf("run %d: the number of one set aside was taken again", run)
	}
	mustEnd(t, d, run)
	mustBegin(t, d)
	says(t, names(t, d.path), "00000001.json", "00000002.json.corrupt", "00000003.json.corrupt", "00000004.json.corrupt", "00000005.json.corrupt",
		"00000006.json", "00000007.json")
}

func TestOfWhatWasSetAsideSomeIsKept(t *testing.T) {
	d := at(t.TempDir(), 100)
	mustBegin(t, d)
	for run := 2; run <= 22; run++ {
		put(t, d.file(run)+statefile.Corrupt, "")
	}
	if run := mustBegin(t, d); run != 23 {
		t.Error(run)
	}
	got := names(t, d.path)
	if want := 2 + keptCorrupt; len(got) != want || got[1] != "00000015.json.corrupt" {
		t.Errorf("%d: %v", len(got), got)
	}
}

func TestWhatANewerSvckitHasWrittenIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	d := at(dir, 100)
	mustBegin(t, d)
	mustEnd(t, d, 1)
	put(t, d.file(2), `{"schema": 2, "run": "two"}`)
	if run := mustBegin(t, d); run != 3 {
		t.Error(run)
	}
	all, warnings := Read(dir)
	if len(all) != 2 || len(warnings) != 1 || !errors.Is(warnings[0], history.ErrNewerRecord) {
		t.Errorf("%d, %v", len(all), warnings)
	}
}

func TestTwoSvcrunsInOneDirectoryShareNoNumber(t *testing.T) {
	dir := t.TempDir()
	const svcruns, runs = 4, 8
	var all sync.WaitGroup
	for range svcruns {
		all.Go(func() {
			d := at(dir, 100)
			for range runs {
				run, warnings, err := d.begin(begun())
				for _, err := range append(warnings, err, d.write(begun(), run, false), d.write(ended(begun()), run, true)) {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	got := mustRead(t, dir)
	for i, r := range got {
		if r.Run != i+1 || !r.Closed() || r.End.ClosedBy != "" {
			t.Errorf("record %d: %+v, %+v", i, r, r.End)
		}
	}
	if len(got) != svcruns*runs {
		t.Errorf("%d records", len(got))
	}
}

func TestADirectoryFullOfOtherThingsIsNoObstacle(t *testing.T) {
	dir := t.TempDir()
	d := at(dir, 100)
	mustEnd(t, d, mustBegin(t, d))
	others := 2_000
	if full() {
		others = 100_000
	}
	for i := range others {
		if err := os.Symlink("nowhere", filepath.Join(d.path, fmt.Sprintf("%d.json", i))); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	if run := mustBegin(t, d); run != 2 {
		t.Error(run)
	}
	t.Logf("a start among %d names took %v", others, time.Since(start))
	if got := mustRead(t, dir); len(got) != 2 {
		t.Error(len(got))
	}
}

func TestADirectoryThatIsTidiedUpMeanwhileIsMadeAgain(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	dir := t.TempDir()
	d := at(filepath.Join(dir, "state"), 100)
	run := mustBegin(t, d)
	if err := os.RemoveAll(d.path); err != nil {
		t.Fatal(err)
	}
	mustEnd(t, d, run)
	if got := mustRead(t, filepath.Join(dir, "state")); len(got) != 1 || got[0].Run != 1 || !got[0].Closed() {
		t.Errorf("%+v", got)
	}
	if info, err := os.Stat(d.path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v: who may read is for the state directory to say", info.Mode(), err)
	}
}

func TestReadingChangesNothingAndIsBounded(t *testing.T) {
	dir := t.TempDir()
	if all, warnings := Read(dir); len(all) != 0 || len(warnings) != 0 {
		t.Errorf("without records: %v, %v", all, warnings)
	}
	put(t, filepath.Join(dir, "file"), "")
	if all, warnings := Read(filepath.Join(dir, "file")); len(all) != 0 || len(warnings) != 1 {
		t.Errorf("in a file: %v, %v", all, warnings)
	}
	d := at(dir, 100)
	mustBegin(t, d)
	for run := 2; run <= 40; run++ {
		put(t, d.file(run), "broken")
	}
	before := names(t, d.path)
	all, warnings := Read(dir)
	if len(all) != 1 || len(warnings) != maxWarnings+1 || !strings.Contains(warnings[maxWarnings].Error(), "23 more records cannot be read") {
		t.Errorf("%d, %v", len(all), warnings)
	}
	says(t, names(t, d.path), before...)
}
