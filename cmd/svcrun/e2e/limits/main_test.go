package limits

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/lab/vm"
	"github.com/svckit/svckit/internal/lab/vm/vmtest"
)

const (
	// slow is what an emulated processor, on a host that others use too, may make
	// of a time that is promised.
	slow = 8

	// patience bounds whatever should come at once, on a real machine.
	patience = 100 * time.Second
)

// TestAtItsLimits runs every scenario on one machine, as a boot is what takes
// longest: that of the newest systemd, of the exhaustive sets on one more. Each
// has a unit of its own.
func TestAtItsLimits(t *testing.T) {
	vmtest.Asked(t)
	suites := []lab.Suite{lab.Sid}
	if os.Getenv("SVCKIT_FULL") == "1" {
		suites = append(suites, lab.Trixie)
	}
	for _, suite := range suites {
		t.Run(string(suite), func(t *testing.T) {
			m := boot(t, suite)
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) { s.run(t, m) })
			}
		})
	}
}

var scenarios = []struct {
	name string
	run  func(*testing.T, *machine)
}{
	{"BothLimitsAreThere", testLimitsAreThere},
	{"ForkBombIsStopped", testForkBomb("group")},
	{"ForkBombOfSessionsIsStopped", testForkBomb("sessions")},
	{"OutOfMemoryIsToldAsWithoutSvcrun", testOutOfMemory},
	{"OutOfMemoryOfTheChildAloneIsItsDeath", testOutOfMemoryContinues},
	{"MemoryCheckSeesGrowth", testMemoryCheck("memory:40M", "grow")},
	{"MemoryCheckSeesAPeak", testMemoryCheck("memory:40M,peak", "spike")},
	{"NoProcessLeftFailsAChecksCommandAndNoStop", testNoProcessLeft},
}

// machine is one virtual machine, and how many units it was given.
type machine struct {
	*vm.Machine
	units int
}

// boot boots a machine with svcrun and the services of these tests. It was asked
// for, so it fails where there can be none.
func boot(t *testing.T, suite lab.Suite) *machine {
	t.Helper()
	began := time.Now()
	m := vmtest.Boot(t, suite, map[string]string{
		"/usr/bin/svcrun": filepath.Join(labtest.Programs(t), "svcrun"),
		"/usr/bin/bomb":   "testdata/bomb",
		"/usr/bin/memory": "testdata/memory",
		"/usr/bin/crowd":  "testdata/crowd",
	})
	t.Logf("%s: up after %v", suite, time.Since(began).Round(time.Second))
	return &machine{Machine: m}
}

// exec runs a command that ends in time, be it that it fails.
func (m *machine) exec(t *testing.T, argv ...string) vm.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := m.Exec(ctx, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// run runs a command that has to succeed.
func (m *machine) run(t *testing.T, argv ...string) string {
	t.Helper()
	result := m.exec(t, argv...)
	if result.Code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", strings.Join(argv, " "), result.Code, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// service installs a service and starts it. What its section lacks is what keeps
// it from the machine's throat.
func (m *machine) service(t *testing.T, section ...string) (unit string) {
	t.Helper()
	m.units++
	unit = fmt.Sprintf("limits-%d.service", m.units)
	text := "[Service]\nTasksMax=200\nMemoryMax=300M\nNotifyAccess=main\nKillMode=mixed\n" + strings.Join(section, "\n") + "\n"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := m.WriteFile(ctx, "/etc/systemd/system/"+unit, text); err != nil {
		t.Fatal(err)
	}
	m.run(t, "systemctl", "daemon-reload")
	m.run(t, "systemctl", "start", "--no-block", unit)
	return unit
}

// until waits in the machine until a condition of the shell holds.
func (m *machine) until(t *testing.T, unit, condition string) {
	t.Helper()
	loop := `unit=$2; group=/sys/fs/cgroup/system.slice/$2; until eval "$1"; do sleep 0.2; done`
	if r := m.exec(t, "timeout", "80", "sh", "-c", loop, "sh", condition, unit); r.Code != 0 {
		used := m.exec(t, "grep", "", "-r", "--include=memory.*", "--include=pids.*", "/sys/fs/cgroup/system.slice/"+unit)
		t.Fatalf("%s: never was: %s\n%s\n%s\n%s", unit, condition, r.Stderr, m.journal(t, unit), used.Stdout)
	}
}

// show is one property of a unit.
func (m *machine) show(t *testing.T, unit, property string) string {
	t.Helper()
	return strings.TrimSpace(m.run(t, "systemctl", "show", "--value", "--property="+property, unit))
}

// want compares properties of a unit, each as NAME=VALUE.
func (m *machine) want(t *testing.T, unit string, properties ...string) {
	t.Helper()
	for _, p := range properties {
		name, value, _ := strings.Cut(p, "=")
		if got := m.show(t, unit, name); got != value {
			t.Errorf("%s: %s=%s, want %s\n%s", unit, name, got, value, m.journal(t, unit))
		}
	}
}

// journal is all that was logged about a unit.
func (m *machine) journal(t *testing.T, unit string) string {
	t.Helper()
	m.run(t, "journalctl", "--sync")
	return m.run(t, "journalctl", "--no-pager", "--quiet", "--output=short-monotonic", "--unit="+unit)
}
