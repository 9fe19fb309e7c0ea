//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/syntax"
)

// clean are the signals of which death is a clean end: systemd.service(5),
// SuccessExitStatus=.
var clean = []syntax.Signal{syntax.SIGHUP, syntax.SIGINT, syntax.SIGPIPE, syntax.SIGTERM}

// checkSignals: death of each signal that ends a process by default is told by
// its name.
func checkSignals(t *testing.T, m *labtest.Machine) {
	const harmless = "17 18 19 20 21 22 23 28" // CHLD, CONT, STOP and the like: signal(7)
	m.Write("/run/systemd/system/signal@.service", "[Service]\nExecStart=/bin/sh -c 'kill -%i $$$$; exec sleep 100'\nLimitCORE=0\nIgnoreSIGPIPE=no\n", 0o644)
	m.Run("systemctl", "daemon-reload")
	start := []string{"systemctl", "start"}
	var signals []int
	for n := 1; n <= 64; n++ {
		if slices.Contains(strings.Fields(harmless), fmt.Sprint(n)) || n == 32 || n == 33 { // kept by libc
			continue
		}
		signals = append(signals, n)
		start = append(start, fmt.Sprintf("signal@%d", n))
	}
	m.Run(start...)
	for _, n := range signals {
		unit := fmt.Sprintf("signal@%d.service", n)
		m.WaitUntil(awaited, unit, func(p lab.Properties) bool { return p["ActiveState"] != "active" }, "ActiveState")
	}
	m.Run("journalctl", "--sync")
	for _, n := range signals {
		want := "unknown ready signal signal=" + syntax.Signal(n).Name()
		if slices.Contains(clean, syntax.Signal(n)) {
			want = "unknown ready clean"
		}
		runs := historyOf(t, m, fmt.Sprintf("signal@%d", n)).Runs
		if len(runs) != 1 || !agree(want, runs[0]) {
			t.Errorf("signal %d: told %v, want %s", n, runs, want)
		}
	}
}
