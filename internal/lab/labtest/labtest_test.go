package labtest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

func TestPoolSharesOneMachinePerSuite(t *testing.T) {
	one, other := machines.Get(t, lab.Trixie), machines.Get(t, lab.Trixie)
	if one.Pid() != other.Pid() {
		t.Errorf("two machines, %d and %d", one.Pid(), other.Pid())
	}
}

func TestUnitIsGoneAfterItsTest(t *testing.T) {
	m := machines.Get(t, lab.Trixie)
	var unit string
	t.Run("test", func(t *testing.T) {
		m := machines.Get(t, lab.Trixie)
		unit = m.UnitName()
		m.InstallUnit(unit, "[Service]\nRestart=always\nExecStart=/bin/sh -c 'trap \"\" TERM; sleep 1000; sleep 1000'\n")
		m.Run("systemctl", "start", unit)
		m.WaitUntil(unit, func(p lab.Properties) bool { return p["MainPID"] != "0" }, "MainPID")
	})
	if show := m.Show(unit, "ActiveState", "LoadState"); show["ActiveState"] != "inactive" || show["LoadState"] != "not-found" {
		t.Errorf("after its test the unit is %v", show)
	}
}

// TestSkipsAloudWithoutTheRights runs the test above without the capability to
// mount, as in an ordinary container.
func TestSkipsAloudWithoutTheRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIP: only root can give up capabilities")
	}
	for value, want := range map[string]string{
		"":        "--- SKIP: TestPoolShares",
		"require": "--- FAIL: TestPoolShares",
	} {
		cmd := exec.Command("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin",
			os.Args[0], "-test.v", "-test.run=^TestPoolShares")
		cmd.Env = append(os.Environ(), "SVCKIT_E2E="+value)
		out, _ := cmd.CombinedOutput()
		for _, want := range []string{want, "NOT TESTED on trixie", "missing: ", "cure: ", "CAP_SYS_ADMIN"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("SVCKIT_E2E=%q: the output lacks %q:\n%s", value, want, out)
			}
		}
	}
}

func TestControlTellsHowLateTheManagersRestartsAre(t *testing.T) {
	control := machines.Get(t, lab.Trixie).Control()
	if late := control.Late(); late < -20*time.Millisecond { // two hundredths, in which the clock is read
		t.Errorf("%v early", -late)
	}
}
