package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// service is the frame of a unit that svcrun runs.
func service(lines ...string) string {
	return "[Service]\nType=notify\nNotifyAccess=main\nKillMode=mixed\n" + strings.Join(lines, "\n") + "\n"
}

func TestUnhealthyServiceIsAbortedByTheManagerAndTheCoreIsTheServices(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("LimitCORE=infinity", "WorkingDirectory=/tmp", "WatchdogSec=60",
			`ExecStart=/usr/bin/svcrun --on-unhealthy=abort "--live=exec:/bin/sh -c 'exit 1',interval=50ms,timeout=50ms,failures=2" -- /bin/sleep 86400`))
		m.Run("systemctl", "start", unit)
		m.WaitFor(20*time.Second, unit, "ActiveState=failed")
		got := m.Show(unit, "Result", "ExecMainCode", "ExecMainStatus")
		if got["Result"] != "watchdog" || got["ExecMainStatus"] != "6" {
			t.Errorf("Result=%s ExecMainStatus=%s; want watchdog, 6 (SIGABRT)", got["Result"], got["ExecMainStatus"])
		}
		journalHas(t, m, unit, "svcrun: end cause=watchdog signal=ABRT check=exec:sh+2 after=2")
	})
}

func TestStoppedSvcrunItselfIsNoticedByTheManagersWatchdog(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("WatchdogSec=2", "TimeoutAbortSec=2",
			`ExecStart=/usr/bin/svcrun "--live=exec:/bin/true,interval=200ms,timeout=200ms" -- /bin/sleep 86400`))
		m.Run("systemctl", "start", unit)
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=STOP", unit)
		m.WaitFor(20*time.Second, unit, "ActiveState=failed")
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
		m.InstallUnit(unit, service("WatchdogSec=1",
			`ExecStart=/usr/bin/svcrun "--live=exec:/bin/true,interval=200ms,timeout=200ms" -- /bin/sleep 3`))
		m.Run("systemctl", "start", unit)
		m.WaitFor(20*time.Second, unit, "ActiveState=inactive")
		if got := m.Show(unit, "Result")["Result"]; got != "success" {
			t.Errorf("Result=%s after 3 s of WatchdogSec=1; want success", got)
		}
	})
}

func TestDrainLongerThanTheWatchdogIsNotAborted(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("WatchdogSec=1", "TimeoutStopSec=20",
			`ExecStart=/usr/bin/svcrun --drain-delay=3s "--live=exec:/bin/true,interval=200ms,timeout=200ms" -- /bin/sleep 86400`))
		m.Run("systemctl", "start", unit)
		m.Run("systemctl", "stop", unit)
		m.WaitFor(20*time.Second, unit, "ActiveState=inactive")
		if got := m.Show(unit, "Result")["Result"]; got != "success" {
			t.Errorf("Result=%s; want success: a drain of 3 s under WatchdogSec=1", got)
		}
	})
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
