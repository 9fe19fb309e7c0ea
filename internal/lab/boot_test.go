package lab_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// oldest are the least versions that the suites are there for.
var oldest = map[lab.Suite]int{lab.Bookworm: 252, lab.Trixie: 257, lab.Sid: 262}

func TestEverySuiteBootsItsSystemdAndRunsANotifyService(t *testing.T) {
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := machines.Get(t, suite)
			if m.Version() < oldest[suite] {
				t.Errorf("systemd %s, want at least %d", m.FullVersion(), oldest[suite])
			}
			if state := m.Try("systemctl", "is-system-running").Stdout; state != "running\n" && state != "degraded\n" {
				t.Errorf("the system is %q", state)
			}
			unit := m.UnitName()
			m.InstallUnit(unit, "[Service]\nType=notify\nNotifyAccess=all\n"+
				"ExecStart=/bin/sh -c 'systemd-notify --ready --status=serving; exec sleep 1000'\n")
			m.Run("systemctl", "start", unit)
			m.WaitFor(unit, "SubState=running", "StatusText=serving")
			m.WaitUntil(unit, func(p lab.Properties) bool { // systemd-notify may live for a moment more
				pids := m.Pids(unit)
				return len(pids) == 1 && strconv.Itoa(pids[0]) == p["MainPID"]
			}, "MainPID")
			if said := strings.Join(m.Journal(unit, 10), "\n"); !strings.Contains(said, "Started "+unit) {
				t.Errorf("the journal lacks its start:\n%s", said)
			}
		})
	}
}

func TestDaemonsOfTheRootRunOnlyWhenStarted(t *testing.T) {
	t.Parallel()
	m := labtest.Boot(t, lab.Trixie)
	for unit, ask := range map[string][]string{
		"redis-server.service": {"redis-cli", "ping"},
		"nginx.service":        {"curl", "-sSf", "http://localhost/"},
	} {
		if state := m.Show(unit, "ActiveState")["ActiveState"]; state != "inactive" {
			t.Errorf("%s is %s after boot", unit, state)
		}
		m.Run("systemctl", "start", unit)
		m.Run(ask...)
	}
}

func TestNothingIsLeftOfAClosedMachine(t *testing.T) {
	t.Parallel()
	m := labtest.Boot(t, lab.Trixie)
	unit := m.UnitName()
	m.InstallUnit(unit, "[Service]\nExecStart=/bin/sh -c 'trap \"\" TERM; setsid sleep 1000 & exec sleep 1000'\n")
	m.Run("systemctl", "start", unit)
	namespace := pidNamespace(t, strconv.Itoa(m.Pid()))
	if found := processesIn(t, namespace); len(found) < 4 {
		t.Fatalf("only processes %v are seen in the machine: the test would not see what is left", found)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	assertNothingLeft(t, m.Name(), namespace)
	if _, err := os.Stat(m.NotifyPath()); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestMachineDiesWithItsKilledOwnerAndTheNextBootSweeps(t *testing.T) {
	t.Parallel()
	m := machines.Get(t, lab.Trixie) // so that a lab is known to be here, and the root
	owner := startOwner(t)
	namespace := pidNamespace(t, strconv.Itoa(owner.pid))
	if err := owner.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.cmd.Wait()
	for deadline := time.Now().Add(patience); len(processesIn(t, namespace)) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v live on", processesIn(t, namespace))
		}
		<-time.After(10 * time.Millisecond)
	}
	if !lab.New().GroupExists(t.Context(), m.Name()) {
		t.Fatal("the group of a machine is not seen: the test would not see what is left")
	}
	labtest.Boot(t, lab.Trixie)
	assertNothingLeft(t, owner.machine, namespace)
}

func TestBootNeedsNoCgroupMountOfTheHost(t *testing.T) {
	t.Parallel()
	machines.Get(t, lab.Trixie)
	startOwner(t, "unshare", "--mount", "--propagation=private", "sh", "-c",
		`umount --recursive --lazy /sys/fs/cgroup; exec "$@"`, "sh")
	startOwner(t, "unshare", "--mount", "--propagation=private", "sh", "-c",
		`umount --recursive --lazy /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup; exec "$@"`, "sh")
}

func TestMachinesOfOneRootDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	one, other := machines.Get(t, lab.Trixie), labtest.Boot(t, lab.Trixie)
	one.Write("/usr/local/bin/mine", "of one", 0o755)
	if _, err := other.ReadFile("/usr/local/bin/mine"); !os.IsNotExist(err) {
		t.Errorf("the other machine sees the file: %v", err)
	}
	if _, err := os.Stat(filepath.Join(lab.New().RootPath(lab.Trixie), "usr/local/bin/mine")); !os.IsNotExist(err) {
		t.Errorf("the root got the file: %v", err)
	}
	if one.Read("/etc/machine-id") == other.Read("/etc/machine-id") {
		t.Error("both have the same machine id")
	}
}

func TestMachineThatEndsByItselfIsNoticed(t *testing.T) {
	t.Parallel()
	m := labtest.Boot(t, lab.Trixie)
	m.Exec(t.Context(), "systemctl", "poweroff", "--force", "--force")
	select {
	case <-m.Ended():
	case <-time.After(patience):
		t.Fatal("it has not ended")
	}
	if _, err := m.Exec(t.Context(), "true"); !errors.Is(err, lab.ErrEnded) {
		t.Errorf("a command afterwards: %v", err)
	}
	if _, err := m.ReadFile("/etc/machine-id"); !errors.Is(err, lab.ErrEnded) {
		t.Errorf("a file afterwards: %v", err)
	}
}

func assertNothingLeft(t *testing.T, machine, namespace string) {
	t.Helper()
	if found := processesIn(t, namespace); len(found) > 0 {
		t.Errorf("processes %v are left", found)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), "svclab") {
		t.Errorf("mounts are left:\n%s", mounts)
	}
	if lab.New().GroupExists(t.Context(), machine) {
		t.Errorf("control group %s is left", machine)
	}
}

// pidNamespace identifies the pid namespace of a process.
func pidNamespace(t *testing.T, pid string) string {
	t.Helper()
	id, err := os.Readlink(filepath.Join("/proc", pid, "ns/pid"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// processesIn finds the living processes of a pid namespace. A dead one may wait
// seconds for the host's process 1 to reap it.
func processesIn(t *testing.T, namespace string) []string {
	t.Helper()
	var found []string
	dirs, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		// A process may end while the others are looked at.
		pid := strings.Split(dir, "/")[2]
		id, _ := os.Readlink(dir)
		status, _ := os.ReadFile(filepath.Join("/proc", pid, "status"))
		if id == namespace && len(status) > 0 && !strings.Contains(string(status), "\nState:\tZ") {
			found = append(found, pid)
		}
	}
	return found
}

func TestFilesAreThereBeforeSystemdStarts(t *testing.T) {
	t.Parallel()
	files := t.TempDir()
	wants := filepath.Join(files, "etc/systemd/system/multi-user.target.wants")
	if err := os.MkdirAll(wants, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(wants, "../early.service"), []byte("[Service]\nExecStart=/bin/sleep 1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../early.service", filepath.Join(wants, "early.service")); err != nil {
		t.Fatal(err)
	}
	m := labtest.BootWith(t, lab.Trixie, files)
	m.WaitFor("early.service", "ActiveState=active", "SubState=running")
	if mode := m.Run("stat", "-c", "%a", "/", "/etc"); mode != "755\n755\n" {
		t.Errorf("directories that were there have other modes now: %q", mode)
	}
}
