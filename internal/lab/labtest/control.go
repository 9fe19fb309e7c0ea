package labtest

import (
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// controlWait is the time between two starts of a control.
const controlWait = 300 * time.Millisecond

// A Control is a service that ends at once and is restarted by the manager, beside
// those whose restarts a test measures: how late its own are is what the host adds
// to theirs.
type Control struct {
	m          *Machine
	unit, file string
}

// Control starts one that lives as long as the test.
func (m *Machine) Control() *Control {
	m.tb.Helper()
	unit := m.UnitName()
	c := &Control{m: m, unit: unit, file: "/run/" + unit + ".starts"}
	m.InstallUnit(unit, "[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestart=always\nRestartSec="+controlWait.String()+
		"\nExecStart=/bin/sh -c 'read up idle </proc/uptime; echo $$up >>"+c.file+"'\n")
	m.Run("systemctl", "start", unit)
	return c
}

// Late is by how much the longest of its waits was too long, of one at least. It
// begins anew.
func (c *Control) Late() time.Duration {
	c.m.tb.Helper()
	c.m.WaitUntil(c.unit, func(lab.Properties) bool { return strings.Count(c.m.Try("cat", c.file).Stdout, "\n") > 1 }, "NRestarts")
	lines := c.m.Run("sh", "-c", "cat "+c.file+"; : >"+c.file)
	worst := -controlWait
	last := -1.0
	for line := range strings.FieldsSeq(lines) {
		at, err := strconv.ParseFloat(line, 64)
		c.m.must(err)
		if last >= 0 {
			worst = max(worst, time.Duration((at-last)*float64(time.Second))-controlWait)
		}
		last = at
	}
	return worst
}
