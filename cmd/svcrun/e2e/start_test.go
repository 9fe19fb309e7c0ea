package e2e

import (
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

func TestStartMayTakeLongerThanTheManagersTimeoutWhileACheckIsPending(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("TimeoutStartSec=1",
			`ExecStart=/usr/bin/svcrun --start-timeout=20s --ready=file:/run/%N.up -- /bin/sh -c 'sleep 3; echo >/run/%N.up; exec sleep 1000'`))
		m.Run("systemctl", "start", unit)
		if got := m.Show(unit, "ActiveState", "SubState"); got["SubState"] != "running" {
			t.Errorf("the unit is %v", got)
		}
	})
}

func TestChildThatExitsBeforeItIsReadyEndsItsStartAtOnce(t *testing.T) {
	for name, c := range map[string]struct{ flags, child, result, status string }{
		"fails":              {"", "exit 3", "exit-code", "3"},
		"exits 0":            {"", "exit 0", "protocol", "0"},
		"exits 0, a success": {"--early-exit=success", "exit 0", "success", "0"},
		"fails, a success":   {"--early-exit=success", "exit 3", "exit-code", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, m *labtest.Machine) {
				unit := m.UnitName()
				// Nothing extends the start of what has ended: it does not take 90 s.
				m.InstallUnit(unit, service("ExecStart=/usr/bin/svcrun --ready=notify "+c.flags+` -- /bin/sh -c "`+c.child+`"`))
				started := m.Try("systemctl", "start", unit).Code == 0
				if started != (c.result == "success") {
					t.Errorf("systemctl start says %v", started)
				}
				m.WaitUntil(unit, ended, "ActiveState")
				got := m.Show(unit, "Result", "ExecMainStatus")
				if got["Result"] != c.result || got["ExecMainStatus"] != c.status {
					t.Errorf("the unit is %v; want %s, %s", got, c.result, c.status)
				}
			})
		})
	}
}

// ended says whether a unit is down.
func ended(p lab.Properties) bool {
	return p["ActiveState"] == "failed" || p["ActiveState"] == "inactive"
}

func TestTheChildIsToldItsBudgets(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("TimeoutStartSec=1h",
			`ExecStart=/usr/bin/svcrun --start-timeout=20s --drain-delay=1s --stop=INT@5s --stop=TERM@7s -- /bin/sh -c 'env >/run/%N.new; mv /run/%N.new /run/%N.env; exec sleep 1000'`))
		m.Run("systemctl", "start", unit)
		env := fileOnceThere(t, m, "/run/"+strings.TrimSuffix(unit, ".service")+".env")
		for _, want := range []string{"SVCKIT_START_BUDGET_USEC=20000000\n", "SVCKIT_STOP_BUDGET_USEC=12000000\n"} {
			if !strings.Contains(env, want) {
				t.Errorf("the child is not told %s", want)
			}
		}
	})
}
