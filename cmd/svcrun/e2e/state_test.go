package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// What svcrun keeps of its runs it has to keep where it can see little, and
// neither its uid nor its umask is anybody's.
func TestRunsAreRememberedInASandbox(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		name := strings.TrimSuffix(unit, ".service")
		m.InstallUnit(unit, service(
			"Restart=on-failure", "RestartSec=100ms", "UMask=0077", "DynamicUser=yes", "ProtectSystem=strict",
			"ProtectProc=invisible", "ProcSubset=pid", "CapabilityBoundingSet=", "SystemCallFilter=@system-service",
			"RestrictAddressFamilies=AF_UNIX", "StateDirectory=svckit/%N", "RuntimeDirectory=svckit/%N", "RuntimeDirectoryPreserve=restart",
			"ExecStart=/usr/bin/svcrun --name=%n --runtime-dir=%t/svckit/%N --state-dir=%S/svckit/%N --start-delay=base=1h,cap=1h "+
				"-- /bin/sh -c '[ -e /run/%N.good ] && exec sleep 1000; exit 3'"))
		held := func(p lab.Properties) bool { return strings.HasPrefix(p["StatusText"], "start held back until ") }

		m.Run("systemctl", "start", "--no-block", unit) // run 1 fails
		m.WaitUntil(unit, held, "StatusText")
		if got := m.Run("/usr/bin/svcrun", "--forget", "--runtime-dir=/run/svckit/"+name); strings.TrimSpace(got) != "1 failure forgotten" {
			t.Errorf("svcrun --forget says %q", got)
		}
		m.Write("/run/"+name+".good", "", 0o644)
		m.Run("systemctl", "restart", unit) // run 2 is held back and stopped, run 3 is not held back
		m.Run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", unit)
		m.WaitUntil(unit, held, "StatusText") // run 4
		m.Run("systemctl", "stop", unit)

		runs := "/var/lib/svckit/" + name + "/runs/"
		for i, want := range []string{
			`"end":{"cause":"exit-code","code":3}`,
			`"reason":"restart 1: 1h`,
			`"end":{"cause":"unknown","closed_by":"next-start","ended_before":`,
			`"reason":"restart 1: 1h`,
		} {
			record := m.Run("cat", fmt.Sprintf("%s%08d.json", runs, i+1))
			if !strings.Contains(record, want) || !strings.Contains(record, `"name":"`+unit+`"`) {
				t.Errorf("the record of run %d has not %s:\n%s", i+1, want, record)
			}
			if strings.Contains(record, "boot_id") {
				t.Errorf("the boot id is not hidden from run %d, so that this tries nothing:\n%s", i+1, record)
			}
		}
		if got := m.Run("sh", "-c", "stat -c %a "+runs+"*"); strings.Fields(got)[0] != "644" || len(strings.Fields(got)) != 4 {
			t.Errorf("the records have the modes %s", got)
		}
		for _, line := range m.Journal(unit, 100) {
			if strings.Contains(line, "svcrun: ") && !strings.Contains(line, "start held back for ") && !strings.Contains(line, "svcrun: end ") {
				t.Errorf("svcrun complains: %s", line)
			}
		}
	})
}
