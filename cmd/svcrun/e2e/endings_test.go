package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// ending is one way for a service to end.
type ending struct {
	name  string
	shell string // what the service does
	core  bool   // LimitCORE=infinity; otherwise 0
}

// endings are all ways where SVCKIT_FULL asks for them, else those that have a
// meaning of their own somewhere: to systemd, to a shell, to svcrun.
func endings() []ending {
	codes := []int{0, 1, 2, 69, 70, 77, 126, 127, 128, 129, 137, 143, 200, 203, 217, 255}
	signals := []int{1, 2, 3, 4, 6, 8, 9, 10, 11, 13, 14, 15, 24, 31, 35, 64}
	if os.Getenv("SVCKIT_FULL") != "" {
		codes, signals = nil, nil
		for n := range 256 {
			codes = append(codes, n)
		}
		for n := 1; n <= 64; n++ {
			// Not fatal by default (signal(7)), or the C library's own.
			if !slices.Contains([]int{17, 18, 19, 20, 21, 22, 23, 28, 32, 33}, n) {
				signals = append(signals, n)
			}
		}
	}
	var all []ending
	for _, n := range codes {
		all = append(all, ending{fmt.Sprintf("exit-%d", n), fmt.Sprintf("exit %d", n), false})
	}
	for _, n := range signals {
		for _, core := range []bool{false, true} {
			all = append(all, ending{fmt.Sprintf("signal-%d-core-%v", n, core), fmt.Sprintf("kill -%d $$$$", n), core})
		}
	}
	return all
}

// unit is a unit that ends in that way, with svcrun before the command or not.
func (e ending) unit(svcrun bool) string {
	kind, before, limit := "exec", "", "0"
	if svcrun {
		// Its own directory, for its own core: core_pattern may be a plain name.
		kind, before = "notify", "/usr/bin/svcrun --runtime-dir=%t/svckit/%N -- "
	}
	if e.core {
		limit = "infinity"
	}
	return fmt.Sprintf(`[Service]
Type=%s
LimitCORE=%s
RuntimeDirectory=svckit/%%N cores/%%N
WorkingDirectory=%%t/cores/%%N
ExecStart=%s/bin/sh -c "%s"
ExecStopPost=-/bin/sh -c "echo Result=$SERVICE_RESULT $EXIT_CODE $EXIT_STATUS >/run/endings/%%N.new; mv /run/endings/%%N.new /run/endings/%%N"
`, kind, limit, before, e.shell)
}

func TestUnitEndsUnderSvcrunAsItEndsWithout(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		m.Run("mkdir", "-p", "/run/endings")
		for batch := range slices.Chunk(endings(), 16) {
			var units []string
			for _, e := range batch {
				for _, svcrun := range []bool{false, true} {
					unit := "ending-" + e.name + map[bool]string{false: "-without", true: "-with"}[svcrun]
					m.InstallUnit(unit+".service", e.unit(svcrun))
					units = append(units, unit)
				}
			}
			m.Run(append([]string{"systemctl", "start", "--no-block"}, units...)...)
			for pair := range slices.Chunk(units, 2) {
				if without, with := end(t, m, pair[0]), end(t, m, pair[1]); with != without {
					t.Errorf("%s: with svcrun %s; without %s", pair[0], with, without)
				}
			}
		}
	})
}

// end waits until a unit has ended, and returns what the manager made of it
// (SERVICE_RESULT and its like in systemd.exec(5)).
func end(t *testing.T, m *labtest.Machine, unit string) string {
	t.Helper()
	file := "/run/endings/" + unit
	m.WaitShell(`[ -e "$0" ]`, file)
	return strings.TrimSpace(m.Read(file))
}
