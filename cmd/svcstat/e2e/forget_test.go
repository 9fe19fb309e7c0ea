//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// TestForgetEndsWhatHoldsAServiceBack: the start limit of one without svcrun,
// and the delay of one under svcrun as well.
func TestForgetEndsWhatHoldsAServiceBack(t *testing.T) {
	labtest.EachAlone(t, []string{"svcstat", "svcrun"}, func(t *testing.T, m *labtest.Machine) {
		limits := "[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=1h\n[Service]\nRestart=on-failure\nRestartSec=100ms\n"
		m.InstallUnit("bare.service", limits+"ExecStart=/bin/false\n")
		m.InstallUnit("delayed.service", limits+"RuntimeDirectory=svckit/%N\nRuntimeDirectoryPreserve=restart\nType=notify\nExecStart="+
			svcrun+" --runtime-dir=%t/svckit/%N --ready=exec:/bin/false --start-timeout=500ms --start-delay=base=1h,cap=1h -- /bin/sleep 1000\n")
		m.Run("systemctl", "start", "--no-block", "bare.service", "delayed.service")
		m.WaitFor("bare.service", "ActiveState=failed", "NRestarts=2")
		m.WaitUntil("delayed.service", func(p lab.Properties) bool {
			return p["NRestarts"] == "1" && strings.Contains(p["StatusText"], "restart 1")
		}, "NRestarts", "StatusText")

		m.Run("useradd", "--system", "nosy")
		nosy := m.Try("setpriv", "--reuid=nosy", "--clear-groups", svcstat, "forget", "bare")
		if nosy.Code != 1 || !strings.Contains(nosy.Stderr, "no permission to manage units; root may") || nosy.Stdout != "" {
			t.Errorf("without permission: exit code %d\n%s%s", nosy.Code, nosy.Stdout, nosy.Stderr)
		}

		if got, want := m.Run(svcstat, "forget", "bare"),
			"bare.service: systemd has forgotten 2 automatic restarts, that the unit has failed, and the starts that its start limit had counted\n"; got != want {
			t.Errorf("forget said %q, want %q", got, want)
		}
		if show := m.Show("bare.service", "NRestarts", "ActiveState"); show["NRestarts"] != "0" || show["ActiveState"] != "inactive" {
			t.Errorf("afterwards bare.service is %v", show)
		}
		const again = "a start is possible again, as systemd has forgotten the failure since then"
		if got := m.Run(svcstat, "why", "bare"); !strings.Contains(got, again) || strings.Contains(got, "reset-failed") {
			t.Errorf("afterwards why says, and should say that %s:\n%s", again, got)
		}
		m.Run("systemctl", "start", "bare.service") // the limit has room again

		if got, want := m.Run(svcstat, "forget", "delayed"), "delayed.service: svcrun has forgotten 1 failed run\n"; !strings.HasSuffix(got, want) {
			t.Errorf("forget said %q, want %q in it", got, want)
		}
		if show := m.Show("delayed.service", "NRestarts", "ActiveState"); show["NRestarts"] != "0" || show["ActiveState"] != "activating" {
			t.Errorf("afterwards delayed.service is %v: a service goes on", show)
		}
	})
}
