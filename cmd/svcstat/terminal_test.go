package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

// pseudoTerminal is a terminal of that size.
func pseudoTerminal(t *testing.T, columns, lines uint16) *os.File {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIP: no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	if err := unix.IoctlSetWinsize(int(control.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: lines}); err != nil {
		t.Fatal(err)
	}
	return control
}

func TestATerminalIsAskedForItsSize(t *testing.T) {
	f := pseudoTerminal(t, 100, 40)
	for name, test := range map[string]struct {
		env  map[string]string
		want terminal
	}{
		"plain":       {map[string]string{"TERM": "xterm"}, terminal{true, true, 100, 40}},
		"no colours":  {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, terminal{true, false, 100, 40}},
		"dumb":        {map[string]string{"TERM": "dumb"}, terminal{true, false, 100, 40}},
		"no TERM":     {nil, terminal{true, false, 100, 40}},
		"another":     {map[string]string{"TERM": "xterm", "COLUMNS": "60", "LINES": "20"}, terminal{true, true, 60, 20}},
		"no size":     {map[string]string{"TERM": "xterm", "COLUMNS": "-1", "LINES": "x"}, terminal{true, true, 100, 40}},
		"empty words": {map[string]string{"TERM": "xterm", "NO_COLOR": ""}, terminal{true, true, 100, 40}},
	} {
		if got := terminalOf(f, func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestAFileAndAPipeAreNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if got := terminalOf(null, func(string) string { return "1" }); got != (terminal{}) {
		t.Errorf("%+v", got)
	}
}

func TestATableFitsTheTerminal(t *testing.T) {
	tab := table{cuts: []int{0, 1}}
	tab.add(row(plain, "UNIT", "LAST CAUSE", "UP")...)
	tab.add(row(plain, "worker.service", `unhealthy check=http://127.0.0.1:8080/live last="timeout 2s"`, "5s")...)
	for columns := range 120 {
		for line := range strings.Lines(tab.text(false, columns)) {
			width := len([]rune(strings.TrimSuffix(line, "\n")))
			if columns >= 2*leastColumn+2+2*gap && width > columns {
				t.Errorf("%d columns: %q has %d", columns, line, width)
			}
			if !strings.HasSuffix(line, "UP\n") && !strings.HasSuffix(line, "5s\n") {
				t.Errorf("the last column is cut: %q", line)
			}
			if columns == 0 && strings.Contains(line, "…") {
				t.Errorf("cut without a terminal: %q", line)
			}
		}
	}
}

func TestSentencesAreWrappedBetweenWords(t *testing.T) {
	text := "one two three\nfour " + strings.Repeat("x", 30) + " five"
	want := "one two\nthree\nfour\n" + strings.Repeat("x", 30) + "\nfive"
	if got := wrapped(text, 9); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := wrapped(text, 0); got != text {
		t.Errorf("without a terminal %q", got)
	}
}

func TestThePagerIsChosenAsSystemctlDoes(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"systemd's first": {map[string]string{"SYSTEMD_PAGER": "a -b", "PAGER": "c"}, "a -b"},
		"then PAGER":      {map[string]string{"PAGER": "c"}, "c"},
		"none":            {map[string]string{"SYSTEMD_PAGER": "", "PAGER": "c"}, ""},
		"cat is none":     {map[string]string{"PAGER": "cat"}, ""},
	} {
		got := pagerCommand(func(name string) (string, bool) { v, ok := test.env[name]; return v, ok })
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestOnlyLongOutputIsPaged: as it is without a pager, and whole in one that scrolls
// sideways.
func TestOnlyLongOutputIsPaged(t *testing.T) {
	dir := t.TempDir()
	script, shown := filepath.Join(dir, "less"), filepath.Join(dir, "shown")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$LESS $LESSSECURE\" >"+shown+"\ncat >>"+shown+"\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYSTEMD_PAGER", script)
	paged := func(lines int, args ...string) (stdout, pager string) {
		_ = os.Remove(shown)
		var printed strings.Builder
		out := output{stdout: &printed, stderr: io.Discard, terminal: terminal{is: true, columns: 10, lines: 5}}
		app := &cli.App{Writer: io.Discard, Flags: commonFlags(), Action: func(c *cli.Context) error {
			return out.page(c, func(columns int) string {
				if columns == 0 {
					return strings.Repeat("long line\n", lines)
				}
				return strings.Repeat("line\n", lines)
			})
		}}
		if err := app.Run(append([]string{"svcstat"}, args...)); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(shown)
		return printed.String(), string(text)
	}
	if stdout, pager := paged(4); stdout != strings.Repeat("line\n", 4) || pager != "" {
		t.Errorf("what is short: stdout %q, pager %q", stdout, pager)
	}
	if stdout, pager := paged(5); stdout != "" || pager != "FRSXMK 1\n"+strings.Repeat("long line\n", 5) {
		t.Errorf("what is long: stdout %q, pager %q", stdout, pager)
	}
	if stdout, pager := paged(5, "--no-pager"); stdout != strings.Repeat("line\n", 5) || pager != "" {
		t.Errorf("--no-pager: stdout %q, pager %q", stdout, pager)
	}
	more := filepath.Join(dir, "more")
	if err := os.Rename(script, more); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYSTEMD_PAGER", more)
	if _, pager := paged(5); pager != "FRSXMK 1\n"+strings.Repeat("line\n", 5) {
		t.Errorf("in a pager that does not scroll sideways: %q", pager)
	}
	t.Setenv("SYSTEMD_PAGER", "/nonexistent/less")
	if stdout, _ := paged(5); stdout != strings.Repeat("line\n", 5) {
		t.Errorf("a pager that is not there: stdout %q", stdout)
	}
}

// TestALongScanTellsHowFarItIs, and leaves nothing of that; a short one says
// nothing.
func TestALongScanTellsHowFarItIs(t *testing.T) {
	for took, want := range map[time.Duration][]string{
		999 * time.Millisecond:  nil,
		2500 * time.Millisecond: {progressLine(7), progressLine(7), progressGone},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out writes
			p := startProgress(&out)
			p.entries.Store(7)
			<-time.After(took)
			p.end()
			if !slices.Equal(out, want) {
				t.Errorf("after %v: %q, want %q", took, out, want)
			}
		})
	}
}

// writes are what was written, each by itself.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}
