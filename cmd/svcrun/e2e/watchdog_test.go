package e2e

import (
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// service is the frame of a unit that svcrun runs.
func service(lines ...string) string {
	return "[Service]\nType=notify\nNotifyAccess=main\nKillMode=mixed\n" + strings.Join(lines, "\n") + "\n"
}

func TestUnhealthyServiceIsAbortedByTheManagerAndTheCoreIsTheServices(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("LimitCORE=infinity", "RuntimeDirectory=svckit/%N cores/%N", "WorkingDirectory=%t/cores/%N", "WatchdogSec=60",
			`ExecStart=/usr/bin/svcrun --runtime-dir=%t/svckit/%N --on-unhealthy=abort "--live=exec:/bin/sh -c 'exit 1',interval=50ms,timeout=50ms,failures=2" -- /bin/sleep 86400`))
		m.Run("systemctl", "start", unit)
		m.WaitFor(unit, "ActiveState=failed")
		got := m.Show(unit, "Result", "ExecMainCode", "ExecMainStatus")
		if got["Result"] != "watchdog" || got["ExecMainStatus"] != "6" {
			t.Errorf("Result=%s ExecMainStatus=%s; want watchdog, 6 (SIGABRT)", got["Result"], got["ExecMainStatus"])
		}
		journalHas(t, m, unit, "svcrun: end cause=watchdog signal=ABRT check=exec:sh+2 after=2")
	})
}

func TestCoreAfterTheWatchdogsAbortIsTheServices(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("LimitCORE=infinity", "RuntimeDirectory=svckit/%N cores/%N", "RuntimeDirectoryPreserve=yes",
			"WorkingDirectory=%t/cores/%N", "WatchdogSec=60",
			`ExecStart=/usr/bin/svcrun --runtime-dir=%t/svckit/%N --ready=exec:/bin/true --live=notify,timeout=100ms,failures=1 --on-unhealthy=abort -- /bin/sleep 86400`))
		m.Run("systemctl", "start", unit)
		m.WaitFor(unit, "ActiveState=failed", "Result=watchdog")
		if got := m.Show(unit, "ExecMainCode")["ExecMainCode"]; got != "3" { // CLD_DUMPED
			t.Errorf("ExecMainCode=%s; want 3, a core", got)
		}
		core := "/run/cores/" + strings.TrimSuffix(unit, ".service") + "/core"
		for pattern, want := range map[string]int{"sleep 86400": 0, "on-unhealthy=abort": 1} { // NT_PRPSINFO has the command line
			if got := m.Try("grep", "-qa", "-e", pattern, core); got.Code != want {
				t.Errorf("grep %q in %s: exit %d; want %d: it is to be the service's\n%s", pattern, core, got.Code, want, got.Stderr)
			}
		}
	})
}

func TestStoppedSvcrunItselfIsNoticedByTheManagersWatchdog(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("WatchdogSec=2", "TimeoutAbortSec=2",
			`ExecStart=/usr/bin/svcrun "--live=exec:/bin/true,interval=200ms,timeout=200ms,failures=100" -- /bin/sleep 86400`))
		m.Run("systemctl", "start", unit)
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=STOP", unit)
		m.WaitFor(unit, "ActiveState=failed")
		if got := m.Show(unit, "Result")["Result"]; got != "watchdog" {
			t.Errorf("Result=%s; want watchdog", got)
		}
		if pids := m.Pids(unit); len(pids) > 0 {
			t.Errorf("processes %v are left", pids)
		}
	})
}

func TestHeartbeatsKeepAServiceAliveBeyondManyWatchdogPeriods(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("WatchdogSec=2",
			`ExecStart=/usr/bin/svcrun "--live=exec:/bin/true,interval=200ms,timeout=200ms,failures=100" -- /bin/sleep 5`))
		m.Run("systemctl", "start", unit)
		m.WaitFor(unit, "ActiveState=inactive")
		if got := m.Show(unit, "Result")["Result"]; got != "success" {
			t.Errorf("Result=%s after 5 s of WatchdogSec=2; want success", got)
		}
	})
}

func TestDrainLongerThanTheWatchdogIsNotAborted(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("WatchdogSec=2", "TimeoutStopSec=30",
			`ExecStart=/usr/bin/svcrun --drain-delay=5s "--live=exec:/bin/true,interval=200ms,timeout=200ms,failures=100" -- /bin/sleep 86400`))
		m.Run("systemctl", "start", unit)
		m.Run("systemctl", "stop", unit)
		m.WaitFor(unit, "ActiveState=inactive")
		if got := m.Show(unit, "Result")["Result"]; got != "success" {
			t.Errorf("Result=%s; want success: a drain of 5 s under WatchdogSec=2", got)
		}
	})
}

func TestDrainIsNotAbortedHoweverLoudTheServiceBeats(t *testing.T) {
	for name, live := range map[string]string{
		"checked":  `"--live=exec:/bin/true,interval=200ms,timeout=200ms,failures=100"`,
		"speaking": "--live=notify,timeout=5s",
	} {
		t.Run(name, func(t *testing.T) {
			onEachSpoken(t, func(t *testing.T, m *labtest.Machine, unit string) {
				started(m, unit, "--ready=notify --drain-delay=5s "+live,
					"say=READY=1 every=50ms,say=WATCHDOG=1 every=70ms,say=WATCHDOG_USEC=2000000 wait", "WatchdogSec=2", "TimeoutStopSec=30")
				m.Run("systemctl", "stop", unit)
				m.WaitFor(unit, "ActiveState=inactive", "Result=success")
			})
		})
	}
}

func TestStartThatTakesTooLongEndsWith70AndSaysWhatWasPending(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("TimeoutStartSec=1",
			// Longer than TimeoutStartSec=: svcrun asks for the time.
			`ExecStart=/usr/bin/svcrun --start-timeout=6s --ready=tcp:127.0.0.1:9 -- /bin/sleep 86400`))
		if got := m.Try("systemctl", "start", unit); got.Code == 0 {
			t.Error("systemctl start says that the service is up")
		}
		got := m.Show(unit, "Result", "ExecMainStatus")
		if got["Result"] != "exit-code" || got["ExecMainStatus"] != "70" {
			t.Errorf("Result=%s ExecMainStatus=%s; want exit-code, 70", got["Result"], got["ExecMainStatus"])
		}
		journalHas(t, m, unit, "svcrun: end cause=start-timeout signal=TERM check=tcp:127.0.0.1:9 last=\"connection refused\"")
	})
}

// journalHas waits for a line that begins so.
func journalHas(t *testing.T, m *labtest.Machine, unit, begin string) {
	t.Helper()
	m.Run("journalctl", "--sync")
	for _, line := range m.Journal(unit, 50) {
		if strings.Contains(line, begin) {
			return
		}
	}
	t.Errorf("the journal has no line with %q:\n%s", begin, strings.Join(m.Journal(unit, 50), "\n"))
}
