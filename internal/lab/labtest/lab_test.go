package labtest_test

import (
	"os"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

// majors are the least versions that the suites are there for.
var majors = map[lab.Suite]int{lab.Bookworm: 252, lab.Trixie: 257, lab.Sid: 262}

func TestEverySuiteRunsItsSystemd(t *testing.T) {
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := machines.Get(t, suite)
			if m.Version() < majors[suite] {
				t.Errorf("systemd %s, want at least %d", m.FullVersion(), majors[suite])
			}
			if state := m.Try("systemctl", "is-system-running").Stdout; state != "running\n" && state != "degraded\n" {
				t.Errorf("the system is %s", state)
			}
			unit := m.UnitName()
			m.InstallUnit(unit, "[Service]\nType=notify\nNotifyAccess=all\nExecStart=/bin/sh -c 'systemd-notify --ready --status=serving; exec sleep 1000'\n")
			m.Run("systemctl", "start", unit)
			m.WaitFor(5*time.Second, unit, "ActiveState=active", "StatusText=serving")
			t.Log(m.Show(unit, "MainPID"), m.Pids(unit), m.FullVersion())
			t.Log(m.Journal(unit, 5))
		})
	}
}
