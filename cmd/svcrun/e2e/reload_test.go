package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// reloadable is a unit as svcgen writes it for the machine's systemd, with the
// flags and the command that svcrun is given.
func reloadable(m *labtest.Machine, flags, command string, lines ...string) string {
	kind := []string{"Type=notify-reload", "ReloadSignal=SIGHUP"}
	if m.Version() < 253 {
		kind = []string{"Type=notify", "ExecReload=/usr/bin/svcrun reload --runtime-dir=%t/svckit/%N"}
	}
	lines = append(append(kind, lines...), "NotifyAccess=main", "KillMode=mixed", "RuntimeDirectory=svckit/%N", "TimeoutStartSec=20",
		"ExecStart=/usr/bin/svcrun --runtime-dir=%t/svckit/%N "+flags+" -- "+command)
	return "[Service]\n" + strings.Join(lines, "\n") + "\n"
}

// obedient is a service that knows nothing of any protocol: at a signal it takes
// half a second to take up the configuration in WANTED, and shows it in HAVE.
// The configuration "never" it never does.
const obedient = `/bin/sh -c "take() { sleep 0.5; [ $(cat $W) = never ] || cp $W $W.have; }; take; trap take %s; while :; do sleep 86400 & wait $!; done"`

// taken is the ready check for it.
const taken = `"--ready=exec:/usr/bin/cmp -s WANTED WANTED.have,interval=1s,timeout=1s"`

// newReloadable installs and starts an obedient service, and returns the
// function that changes its configuration.
func newReloadable(t *testing.T, m *labtest.Machine, flags, signal string, lines ...string) (unit string, want func(string)) {
	t.Helper()
	unit = m.UnitName()
	file := "/run/" + unit + ".wanted"
	m.Write(file, "first\n", 0o644)
	m.InstallUnit(unit, reloadable(m, strings.ReplaceAll(taken, "WANTED", file)+" "+flags,
		fmt.Sprintf(strings.ReplaceAll(obedient, "$W", file), signal), lines...))
	m.Run("systemctl", "start", unit)
	return unit, func(text string) { m.Write(file, text+"\n", 0o644) }
}

func TestReloadReturnsWhenEveryReadyCheckHoldsAgain(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, want := newReloadable(t, m, "", "HUP")
		for _, config := range []string{"second", "third"} {
			want(config)
			begun := time.Now()
			m.Run("systemctl", "reload", unit)
			took := time.Since(begun)
			if have := m.Read("/run/" + unit + ".wanted.have"); have != config+"\n" || took < 400*time.Millisecond {
				t.Errorf("systemctl reload returned after %v, and the service has the configuration %q; want %s", took, have, config)
			}
		}
		got := m.Show(unit, "ActiveState", "SubState", "StatusText", "NRestarts")
		if got["SubState"] != "running" || got["StatusText"] != "ready 1/1" || got["NRestarts"] != "0" {
			t.Errorf("after the reloads the unit is %v", got)
		}
	})
}

func TestReloadSignalOfTheServiceMayBeAnother(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, want := newReloadable(t, m, "--reload-signal=USR2", "USR2")
		want("second")
		m.Run("systemctl", "reload", unit)
		if have := m.Read("/run/" + unit + ".wanted.have"); have != "second\n" {
			t.Errorf("the service has the configuration %q", have)
		}
	})
}

func TestReloadThatNeverBecomesReadyEndsAtItsTimeout(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, want := newReloadable(t, m, "--reload-timeout=2s", "HUP")
		want("never")
		begun := time.Now()
		got := m.Try("systemctl", "reload", unit)
		if took := time.Since(begun); took < 1900*time.Millisecond || took > 12*time.Second {
			t.Errorf("systemctl reload took %v; want the reload timeout, 2s", took)
		}
		// Where systemd asks by a command, a reload that failed is told as such.
		if asked := m.Version() < 253; asked != (got.Code != 0) {
			t.Errorf("systemctl reload exits %d: %s", got.Code, got.Stderr)
		}
		m.WaitFor(unit, "ActiveState=active", "SubState=running")
		journalHas(t, m, unit, "svcrun: reload: not ready within 2s: ready 0/1, waiting for exec:cmp")
		if text := m.Show(unit, "StatusText")["StatusText"]; !strings.HasPrefix(text, "ready 1/1, the last reload failed: not ready within 2s") {
			t.Errorf("the status is %q", text)
		}
		want("second")
		m.Run("systemctl", "reload", unit)
		m.WaitFor(unit, "SubState=running", "StatusText=ready 1/1")
	})
}

func TestReloadByCommand(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, want := newReloadable(t, m, `"--reload-exec=/bin/sh -c 'kill -USR1 $$MAINPID'"`, "USR1")
		want("second")
		m.Run("systemctl", "reload", unit)
		if have := m.Read("/run/" + unit + ".wanted.have"); have != "second\n" {
			t.Errorf("the service has the configuration %q", have)
		}
	})
}

func TestReloadCommandThatFailsIsAWarning(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, _ := newReloadable(t, m, "--reload-exec=/bin/false", "HUP")
		got := m.Try("systemctl", "reload", unit)
		if asked := m.Version() < 253; asked != (got.Code != 0) {
			t.Errorf("systemctl reload exits %d: %s", got.Code, got.Stderr)
		}
		m.WaitFor(unit, "SubState=running")
		journalHas(t, m, unit, "svcrun: reload: /bin/false exited 1")
	})
}

func TestReloadOfAServiceThatKnowsTheProtocolEndsWithItsOwnReady(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		file := "/run/speaker/" + unit
		m.InstallUnit(unit, reloadable(m, "--ready=notify",
			fmt.Sprintf(`/usr/bin/speaker "on=HUP,say=RELOADING=1;touch=%s.begun;until=%s.go;touch=%s.done;say=READY=1\\nSTATUS=reloaded" say=READY=1 wait`, file, file, file)))
		m.Run("systemctl", "start", unit)
		m.Run("systemctl", "reload", "--no-block", unit)
		m.WaitShell(`[ -e "$0" ]`, file+".begun")
		m.WaitFor(unit, "ActiveState=reloading", "StatusText=reloading, ready 0/1, waiting for the service's own READY=1")
		m.Run("touch", file+".go")
		m.WaitFor(unit, "SubState=running", "StatusText=ready 1/1 · child: reloaded")
		m.Run("test", "-e", file+".done")
	})
}

func TestServiceThatReloadsByItselfIsReloadingUntilItIsReady(t *testing.T) {
	onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
		m.InstallUnit(unit, reloadable(m, "--ready=notify",
			`/usr/bin/speaker on=USR1,say=RELOADING=1 on=USR2,say=READY=1 say=READY=1 wait`))
		m.Run("systemctl", "start", unit)
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR1", unit)
		m.WaitFor(unit, "ActiveState=reloading")
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR2", unit)
		m.WaitFor(unit, "SubState=running")
	})
}

func TestReloadUnderAWatchdogIsNotAborted(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, want := newReloadable(t, m, `--reload-timeout=5s "--live=exec:/bin/true,interval=200ms,timeout=200ms,failures=100"`, "HUP", "WatchdogSec=2")
		want("never")
		_ = m.Try("systemctl", "reload", unit)
		m.WaitFor(unit, "SubState=running", "Result=success", "NRestarts=0")
	})
}

func TestStopDuringAReloadIsAStop(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, want := newReloadable(t, m, "--reload-timeout=1min", "HUP")
		want("never")
		m.Run("systemctl", "reload", "--no-block", unit)
		m.WaitFor(unit, "ActiveState=reloading")
		m.Run("systemctl", "stop", unit)
		m.WaitFor(unit, "ActiveState=inactive", "Result=success")
	})
}

// Signals that come while svcrun itself starts, before READY=1, must not kill it
// nor the child, which may not heed them yet: the kernel's default would.
func TestHangUpAtAnyMomentOfTheStartKillsNobody(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		file := "/run/" + unit + ".go"
		m.InstallUnit(unit, reloadable(m, "--ready=file:"+file, "/bin/sh -c 'sleep 0.3; trap : HUP; touch "+file+"; while :; do sleep 86400 & wait $$!; done'"))
		m.Run("systemctl", "start", "--no-block", unit)
		// From the instant that the manager knows svcrun, until the unit is up.
		m.Run("sh", "-c", `for i in $(seq 5000); do
	case $(systemctl show -P ActiveState "$0") in active|reloading) exit 0;; failed|inactive) [ "$i" -gt 50 ] && exit 1;; esac
	comm=$(cat "/proc/$(systemctl show -P MainPID "$0")/comm" 2>/dev/null)
	[ "$comm" = svcrun ] && systemctl kill --kill-who=main --signal=HUP "$0"
done; exit 2`, unit)
		m.WaitFor(unit, "SubState=running", "Result=success", "NRestarts=0")
	})
}

// From its first instruction on: a program of Go's would die of it until it asks
// for the signal.
func TestHangUpInTheFirstMillisecondKillsNobody(t *testing.T) {
	heeds := regexp.MustCompile(`(?s)^Name:\tsvcrun\n.*(SigIgn|SigCgt):\t[0-9a-f]{15}[13579bdf]\n`)
	for range 50 {
		cmd := exec.Command(filepath.Join(labtest.Programs(t), "svcrun"), "--ready=tcp:127.0.0.1:9", "--", "/bin/sleep", "20")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		proc := fmt.Sprintf("/proc/%d/", cmd.Process.Pid)
		until(t, func() bool {
			status, _ := os.ReadFile(proc + "status")
			return heeds.Match(status)
		})
		_ = cmd.Process.Signal(syscall.SIGHUP)
		until(t, func() bool { return hasChildren(proc) })
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("svcrun ended with %v", err)
		}
	}
}

// hasChildren says whether any thread of a process has a child, or the process
// has ended.
func hasChildren(proc string) bool {
	lists, _ := filepath.Glob(proc + "task/*/children")
	for _, list := range lists {
		if children, err := os.ReadFile(list); err == nil && len(children) > 0 {
			return true
		}
	}
	return len(lists) == 0
}

// until looks again and again, for the moment that counts.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); !ok(); {
		if time.Now().After(late) {
			t.Fatal("it never comes to that")
		}
	}
}

func TestHangUpIsCaughtBeforeReadyIsSaid(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, reloadable(m, "", "/bin/sleep 86400"))
		m.Run("systemctl", "start", unit)
		status := m.Read("/proc/" + m.Show(unit, "MainPID")["MainPID"] + "/status")
		mask := regexp.MustCompile(`SigCgt:\s+([0-9a-f]+)`).FindStringSubmatch(status)
		caught, err := strconv.ParseUint(mask[1], 16, 64)
		if err != nil || caught&1 == 0 {
			t.Errorf("SIGHUP is not caught: %s, %v", mask[1], err)
		}
	})
}

func TestReloadIsAskedForByTheSameUnitOnly(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, _ := newReloadable(t, m, "", "HUP")
		dir := "/run/svckit/" + strings.TrimSuffix(unit, ".service")
		got := m.Try("/usr/bin/svcrun", "reload", "--runtime-dir="+dir)
		if got.Code != 1 || !strings.Contains(got.Stderr, "svcrun: reload: svcrun did not take the request: it has ended, or this process is not of its unit; see its log") {
			t.Errorf("a stranger's svcrun reload exits %d: %s", got.Code, got.Stderr)
		}
	})
}

// A control process of a unit with Delegate= runs in a cgroup below the unit's.
func TestReloadIsAskedForFromAControlGroupBelow(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit, want := newReloadable(t, m, "", "HUP", "Delegate=yes")
		want("second")
		m.Run("systemctl", "reload", unit)
		if have := m.Read("/run/" + unit + ".wanted.have"); have != "second\n" {
			t.Errorf("the service has the configuration %q", have)
		}
	})
}

func TestDebiansNginxIsReloadedByTheUnitOfTheExample(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		target := "debian13"
		if m.Suite() == lab.Bookworm {
			target = "debian12"
		}
		unit := m.UnitName()
		dir := t.TempDir()
		generate := exec.Command(filepath.Join(labtest.Programs(t), "svcgen"), "generate", "../../../examples/nginx.yaml", "--target="+target, "-o", dir)
		if out, err := generate.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text, err := os.ReadFile(filepath.Join(dir, "nginx.service"))
		if err != nil {
			t.Fatal(err)
		}
		m.InstallUnit(unit, string(text))
		m.Run("systemctl", "start", unit)
		workers := func() string { return m.Run("pgrep", "-f", "nginx: worker process$") }
		before := workers()
		m.Run("systemctl", "reload", unit)
		m.WaitFor(unit, "SubState=running", "NRestarts=0", "StatusText=ready 1/1, live 1/1")
		if after := workers(); after == before {
			t.Errorf("the workers are the same after the reload: %s", after)
		}
	})
}
