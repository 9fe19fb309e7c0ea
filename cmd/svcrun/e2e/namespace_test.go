package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// onEachWithPrivatePIDs is onEach where PrivatePIDs= is known (257): there svcrun
// is PID 1 of a namespace.
func onEachWithPrivatePIDs(t *testing.T, test func(t *testing.T, m *labtest.Machine)) {
	t.Parallel()
	for _, suite := range []lab.Suite{lab.Trixie, lab.Sid} {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := machines.Get(t, suite)
			machines.Program(m, "svcrun")
			test(t, m)
		})
	}
}

// private is the frame of such a unit.
func private(lines ...string) string {
	return service("PrivatePIDs=yes", strings.Join(lines, "\n"))
}

// alien says that the manager took the main process for no child of its own, as
// 257 does now and then with PrivatePIDs=: it looks before the process between
// them has gone. It then neither waits for svcrun at a stop nor hears how it ends.
func alien(t *testing.T, m *labtest.Machine, unit string) bool {
	t.Helper()
	found := strings.Contains(strings.Join(m.Journal(unit, 60), "\n"), "which is not our child")
	if found {
		t.Logf("NOT TESTED: the manager took the main process of %s for no child of its own", unit)
	}
	return found
}

func TestAsPID1OfANamespaceItEndsAsItsChildDoes(t *testing.T) {
	endings := map[string]struct{ shell, result, status string }{
		"exit-0":   {"exit 0", "success", "0"},
		"exit-1":   {"exit 1", "exit-code", "1"},
		"exit-69":  {"exit 69", "exit-code", "69"},
		"exit-143": {"exit 143", "exit-code", "143"},
		"exit-255": {"exit 255", "exit-code", "255"},
		"term":     {"kill -TERM $$$$", "exit-code", "143"}, // the kernel drops what PID 1 raises: 128 and the signal
		"kill":     {"kill -KILL $$$$", "exit-code", "137"},
		"segv":     {"kill -SEGV $$$$", "exit-code", "139"},
		"rt-64":    {"kill -64 $$$$", "exit-code", "192"},
	}
	onEachWithPrivatePIDs(t, func(t *testing.T, m *labtest.Machine) {
		b, units := newBatch(t, m), map[string]string{}
		for name, e := range endings {
			units[name] = private(fmt.Sprintf(`ExecStart=/usr/bin/svcrun -- /bin/sh -c "[ $$PPID = 1 ] || exit 111; %s"`, e.shell))
		}
		b.install(units)
		b.keep()
		b.start()
		b.until("dead", "failed")
		shown := b.show(b.units, "Result", "ExecMainStatus")
		for name, e := range endings {
			if got := shown[b.unit(name)]; (got["Result"] != e.result || got["ExecMainStatus"] != e.status) && !alien(t, m, b.unit(name)) {
				t.Errorf("%s: Result=%s ExecMainStatus=%s; want %s, %s", name, got["Result"], got["ExecMainStatus"], e.result, e.status)
			}
		}
	})
}

func TestAsPID1OfANamespaceItDrainsAndLeavesNobody(t *testing.T) {
	onEachWithPrivatePIDs(t, func(t *testing.T, m *labtest.Machine) {
		installStubborn(t, m)
		b := newBatch(t, m)
		drained := stubborn{
			does: "leaves plain,deaf daemon,deaf", hook: "now", delay: 300 * time.Millisecond,
			phases: []phase{{"pre-stop", 0}, {"drain-delay", 300 * time.Millisecond}, heeded, outlived, killing},
		}
		deaf := stubborn{does: "deaf", phases: []phase{unheeded, killing}, lines: "SuccessExitStatus=137"}
		b.install(map[string]string{"drained": private(drained.lines) + drained.unit(), "deaf": private(deaf.lines) + deaf.unit()})
		b.keep()
		b.start()
		b.until("running")
		m.Try(append([]string{"systemctl", "stop"}, b.units...)...)
		b.until("dead", "failed")
		shown := b.show(b.units, "Result", "ExecMainStatus")
		for name, want := range map[string]string{"drained": "0", "deaf": "137"} { // 128 and KILL
			if alien(t, m, b.unit(name)) {
				return
			}
			if got := shown[b.unit(name)]; got["Result"] != "success" || got["ExecMainStatus"] != want {
				t.Errorf("%s: Result=%s ExecMainStatus=%s; want success, %s", name, got["Result"], got["ExecMainStatus"], want)
			}
		}
		drained.checkPhases(t, b.record(b.unit("drained")))
		deaf.checkPhases(t, b.record(b.unit("deaf")))
	})
}

func TestAsPID1OfANamespaceItReapsWhatIsOrphaned(t *testing.T) {
	onEachWithPrivatePIDs(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, private(`ExecStart=/usr/bin/svcrun --ready=notify -- /bin/sh -c 'for i in $(seq 50); do ( true & ); done; systemd-notify --ready; exec sleep 1000'`))
		m.Run("systemctl", "start", unit)
		// The two that are not orphans stay: svcrun and the service.
		m.WaitShell(`set -- $(cat "/sys/fs/cgroup/system.slice/$0/cgroup.procs"); [ "$(pgrep --ns "$1" --nslist pid | wc -l)" = 2 ]`, unit)
	})
}
