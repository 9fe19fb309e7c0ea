package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
)

// fake is a journalctl that notes its arguments and then does what the script says.
func fake(t *testing.T, script string) (Reader, func() []string) {
	t.Helper()
	dir := t.TempDir()
	program, log := filepath.Join(dir, "journalctl"), filepath.Join(dir, "log")
	text := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>%s\n%s\n", log, script)
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return Reader{Journalctl: program}, func() []string {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

func line(unit, message string) string {
	return fmt.Sprintf(`{%s,"UNIT":%q,"MESSAGE":%q,"INVOCATION_ID":"abc"}`, realtime, unit, message)
}

func messages(t *testing.T, r Reader, q Query) ([]string, Report, error) {
	t.Helper()
	var got []string
	report, err := r.Read(t.Context(), q, func(e history.Entry) { got = append(got, e.Message) })
	return got, report, err
}

func TestReadAsksForTheManagersAndTheUnitsLines(t *testing.T) {
	r, calls := fake(t, "")
	if _, _, err := messages(t, r, Query{Unit: "x.service"}); err != nil {
		t.Fatal(err)
	}
	want := "--output=json --no-pager --output-fields=" + outputFields +
		" UNIT=x.service _PID=1 + UNIT=x.service _SYSTEMD_CGROUP=/init.scope _UID=0 + _SYSTEMD_UNIT=x.service"
	if got := calls(); len(got) != 1 || got[0] != want {
		t.Errorf("called with\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestReadAsksForAUsersManagersLines(t *testing.T) {
	r, calls := fake(t, "")
	if _, _, err := messages(t, r, Query{Unit: "x.service", User: "1500"}); err != nil {
		t.Fatal(err)
	}
	want := " USER_UNIT=x.service _SYSTEMD_UNIT=user@1500.service _SYSTEMD_USER_UNIT=init.scope _UID=1500 + _SYSTEMD_USER_UNIT=x.service _UID=1500"
	if got := calls(); len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("called with\n%s\nwant at the end\n%s", strings.Join(got, "\n"), want)
	}
}

// TestReadSinceReadsTheRunOfThatTimeWhole: first which run it was, then that
// run up to then, then everything since.
func TestReadSinceReadsTheRunOfThatTimeWhole(t *testing.T) {
	r, calls := fake(t, fmt.Sprintf("case $* in *--lines=1*) echo '%s' ;; *INVOCATION_ID=abc*) echo '%s' ;; *) echo '%s' ;; esac",
		line("x.service", "last"), line("x.service", "head"), line("x.service", "since")))
	got, _, err := messages(t, r, Query{Unit: "x.service", Since: time.UnixMicro(1700000000000007)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"head", "since"}) {
		t.Errorf("visited %q", got)
	}
	for i, want := range [][]string{
		{"--until=@1700000000.000006", "--reverse", "--lines=1"},
		{"--until=@1700000000.000006", "UNIT=x.service INVOCATION_ID=abc _PID=1", "_SYSTEMD_INVOCATION_ID=abc"},
		{"--since=@1700000000.000007"},
	} {
		for _, arg := range want {
			if !strings.Contains(calls()[i], arg) {
				t.Errorf("call %d lacks %s: %s", i+1, arg, calls()[i])
			}
		}
	}
	if strings.Contains(calls()[0], "_SYSTEMD_UNIT=x") {
		t.Errorf("the last line may be the unit's own: %s", calls()[0])
	}
}

func TestReadSinceBeforeAllReadsOnce(t *testing.T) {
	r, calls := fake(t, "")
	if _, _, err := messages(t, r, Query{Unit: "x.service", Since: time.UnixMicro(5)}); err != nil {
		t.Fatal(err)
	}
	if len(calls()) != 2 {
		t.Errorf("calls %q, want the search for the head and one reading", calls())
	}
}

func TestBadLinesAreSkippedAndCounted(t *testing.T) {
	input := strings.Join([]string{
		line("x.service", "first"),
		`{"UNIT":"x.service" broken`,
		strings.Repeat("x", maxLine+1) + `"UNIT"`,
		`{"UNIT":"no time"}`,
		`{"MESSAGE":"the unit's own output","_SYSTEMD_UNIT":"x.service"}`,
		"-- No entries --",
		"",
		line("x.service", strings.Repeat("y", 100_000)), // longer than the buffer; the field is dropped
		line("x.service", "last") + "",
	}, "\n")
	for _, end := range []string{"", "\n"} {
		var got []string
		skipped, err := scan(bufio.NewReaderSize(strings.NewReader(input+end), 64<<10), part{}.wanted(), func(e history.Entry) { got = append(got, e.Message) })
		if err != nil || skipped != 3 || !slices.Equal(got, []string{"first", "", "last"}) {
			t.Errorf("got %.20q, %d skipped, %v; want first, a dropped field, last, 3 skipped", got, skipped, err)
		}
	}
}

func TestOversizedLinesTakeNoMemory(t *testing.T) {
	endless := io.MultiReader(io.LimitReader(repeat('x'), 64<<20), strings.NewReader("\n"+line("x.service", "after")))
	reader := bufio.NewReaderSize(endless, 64<<10)
	held, oversized, err := readLine(reader)
	if err != nil || !oversized || cap(held) > 2*maxLine {
		t.Errorf("a line of 64 MiB: %d bytes held, oversized %v, %v", cap(held), oversized, err)
	}
	if next, _, err := readLine(reader); err != nil || !strings.Contains(string(next), "after") {
		t.Errorf("the line after it: %q, %v", next, err)
	}
}

// repeat is an endless run of one byte.
type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

func TestWithoutPermissionTheGroupsAreNamed(t *testing.T) {
	for name, script := range map[string]string{
		"nothing may be read": "echo 'No journal files were opened due to insufficient permissions.' >&2; exit 1",
		"only one's own": `cat >&2 <<'X'
Hint: You are currently not seeing messages from other users and the system.
      Users in groups 'adm', 'systemd-journal' can see all messages.
      Pass -q to turn off this notice.
X`,
	} {
		r, _ := fake(t, script)
		_, _, err := messages(t, r, Query{Unit: "x.service"})
		var denied *PermissionError
		if !errors.As(err, &denied) || !strings.Contains(err.Error(), "systemd-journal") || strings.Contains(err.Error(), "'") {
			t.Errorf("%s: error %v, want one that names the groups", name, err)
		}
	}
}

func TestJournalctlsWordsArePassedOn(t *testing.T) {
	r, _ := fake(t, "echo 'Journal file x is truncated, ignoring file.' >&2; echo '"+line("x.service", "read")+"'")
	got, report, err := messages(t, r, Query{Unit: "x.service"})
	if err != nil || len(got) != 1 || !slices.Equal(report.Warnings, []string{"Journal file x is truncated, ignoring file."}) {
		t.Errorf("got %q, %+v, %v", got, report, err)
	}
	r, _ = fake(t, "echo '"+line("x.service", "read")+"'; echo 'Failed to iterate through journal: Bad message' >&2; exit 1")
	got, _, err = messages(t, r, Query{Unit: "x.service"})
	if err == nil || !strings.Contains(err.Error(), "Bad message") || len(got) != 1 {
		t.Errorf("got %q, error %v; want what was read and why it ended", got, err)
	}
}

func TestEndlessComplaintsAreCutShort(t *testing.T) {
	r, _ := fake(t, "yes complaint | head -n 100000 >&2")
	_, report, err := messages(t, r, Query{Unit: "x.service"})
	if err != nil || len(report.Warnings) > maxStderr/len("complaint")+1 {
		t.Errorf("%d warnings, %v", len(report.Warnings), err)
	}
}

func TestNoJournalctlIsAnErrorThatNamesIt(t *testing.T) {
	_, _, err := messages(t, Reader{Journalctl: "/nonexistent/journalctl"}, Query{Unit: "x.service"})
	if err == nil || !strings.Contains(err.Error(), "/nonexistent/journalctl") {
		t.Errorf("error %v", err)
	}
}

func TestCancelEndsJournalctl(t *testing.T) {
	r, _ := fake(t, "echo '"+line("x.service", "first")+"'; exec sleep 1000")
	ctx, cancel := context.WithCancel(t.Context())
	_, err := r.Read(ctx, Query{Unit: "x.service"}, func(history.Entry) { cancel() })
	if !errors.Is(ctx.Err(), context.Canceled) || err == nil {
		t.Errorf("error %v, want one for the cancel", err)
	}
}
