package labtest

import (
	"strconv"
	"strings"
	"testing"
	"time"
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
	c.m.WaitShell(`[ "$(wc -l <"$0")" -gt 1 ]`, c.file)
	starts := Uptimes(c.m.tb, c.m.Run("sh", "-c", "cat "+c.file+"; : >"+c.file))
	worst := -controlWait
	for i := range starts[1:] {
		worst = max(worst, starts[i+1]-starts[i]-controlWait)
	}
	return worst
}

// Uptimes reads times as the first field of /proc/uptime has them.
func Uptimes(tb testing.TB, text string) []time.Duration {
	tb.Helper()
	var all []time.Duration
	for word := range strings.FieldsSeq(text) {
		seconds, err := strconv.ParseFloat(word, 64)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, time.Duration(seconds*float64(time.Second)))
	}
	return all
}
