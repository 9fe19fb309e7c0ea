package lab_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

func TestExecTellsOutputAndHowTheCommandEnded(t *testing.T) {
	t.Parallel()
	m := machines.Get(t, lab.Bookworm)
	for script, want := range map[string]lab.Result{
		"echo out; echo err >&2":       {Stdout: "out\n", Stderr: "err\n"},
		"exit 3":                       {Code: 3},
		"kill -KILL $$":                {Code: 128 + 9},
		"echo $PATH; test -z \"$FOO\"": {Stdout: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"},
		"grep ^0: /proc/self/cgroup":   {Stdout: "0::/lab\n"},
	} {
		if got := m.Try("sh", "-c", script); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
}

func TestCommandOfAnEndedContextIsKilledInTheMachine(t *testing.T) {
	t.Parallel()
	m := machines.Get(t, lab.Bookworm)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := m.Exec(ctx, "sh", "-c", "sleep 424242 & wait")
		ended <- err
	}()
	find := []string{"pgrep", "-f", "^sleep 424242"}
	for late := time.Now().Add(patience); m.Try(find...).Code != 0; {
		if time.Now().After(late) {
			t.Fatal("it does not run")
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left := m.Try(find...); left.Code != 1 {
		t.Errorf("it is left in the machine: pid %s", left.Stdout)
	}
}

func TestSignalReachesTheProcess(t *testing.T) {
	t.Parallel()
	m := machines.Get(t, lab.Bookworm)
	unit := m.UnitName()
	m.InstallUnit(unit, "[Service]\nExecStart=/bin/sleep 1000\n")
	m.Run("systemctl", "start", unit)
	m.Signal(m.Pids(unit)[0], syscall.SIGKILL)
	m.WaitFor(unit, "ActiveState=failed", "Result=signal")
	if pids := m.Pids(unit); len(pids) != 0 {
		t.Errorf("processes %v are left", pids)
	}
}

func TestFilesGoInWholeAndNeverThroughALinkToTheHost(t *testing.T) {
	t.Parallel()
	m := machines.Get(t, lab.Bookworm)
	m.Write("/srv/new/dir/file", "text", 0o751)
	if got := m.Read("/srv/new/dir/file"); got != "text" {
		t.Errorf("read %q", got)
	}
	if got := m.Run("stat", "-c", "%a %U", "/srv/new/dir/file"); got != "751 root\n" {
		t.Errorf("it is %q", got)
	}
	m.Install(os.Args[0], "/srv/new/dir/file", 0o755)
	if left := m.Run("ls", "/srv/new/dir"); left != "file\n" {
		t.Errorf("the directory holds %q", left)
	}
	victim := t.TempDir()
	m.Run("ln", "-s", victim, "/srv/link")
	if err := m.WriteFile("/srv/link/file", []byte("x"), 0o644); err == nil {
		t.Error("a link out of the machine was followed")
	}
	if found, _ := os.ReadDir(victim); len(found) > 0 {
		t.Error("a file of the host was written")
	}
}

func TestNewUnitNeedsNoReloadAndAChangedOneGetsIt(t *testing.T) {
	t.Parallel()
	m := labtest.Boot(t, lab.Bookworm) // of its own: a unit of another test's may need a reload
	unit := m.UnitName()
	reloads := func() int {
		m.Run("journalctl", "--sync")
		return strings.Count(m.Run("journalctl", "-q", "_PID=1"), "Reloading.")
	}
	before := reloads()
	m.InstallUnit(unit, "[Service]\nExecStart=/bin/sleep 1000\n")
	if got := reloads(); got != before {
		t.Errorf("%d reloads for a new unit", got-before)
	}
	m.Run("systemctl", "start", unit)
	m.InstallUnit(unit+".d/more.conf", "[Unit]\nDescription=changed\n")
	if show := m.Show(unit, "Description", "NeedDaemonReload"); show["Description"] != "changed" || show["NeedDaemonReload"] != "no" {
		t.Errorf("after a drop-in: %v", show)
	}
}

func TestFailedWaitTellsStateAndJournal(t *testing.T) {
	t.Parallel()
	m := machines.Get(t, lab.Bookworm)
	unit := m.UnitName()
	m.InstallUnit(unit, "[Service]\nExecStart=/bin/sh -c 'echo the last words; exit 7'\n")
	m.Run("systemctl", "start", unit)
	m.WaitFor(unit, "ActiveState=failed")
	m.Run("journalctl", "--sync")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := m.Machine.WaitUntil(ctx, unit, func(lab.Properties) bool { cancel(); return false }, "ActiveState")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{unit, "ActiveState=failed", "Result=exit-code", "the last words"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	for _, wrong := range [][]string{nil, {"ActiveState"}, {"A=1", "A=2"}} {
		if err := m.Machine.WaitFor(ctx, unit, wrong...); err == nil || !strings.Contains(err.Error(), "NAME=VALUE") {
			t.Errorf("waiting for %q: %v", wrong, err)
		}
	}
}

func TestJournalKeepsEveryLine(t *testing.T) {
	t.Parallel()
	const lines = 20_000 // twice what the default limit lets through
	m := machines.Get(t, lab.Bookworm)
	unit := m.UnitName()
	m.InstallUnit(unit, "[Service]\nType=oneshot\nExecStart=/usr/bin/seq "+strconv.Itoa(lines)+"\n")
	m.Run("systemctl", "start", unit)
	m.Run("journalctl", "--sync")
	text := m.Run("journalctl", "-q", "-o", "json", "--output-fields=MESSAGE", "--identifier=seq", "-u", unit)
	if got := strings.Count(text, "\n"); got != lines {
		t.Errorf("%d lines, want %d", got, lines)
	}
}
