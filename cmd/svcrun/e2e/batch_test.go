package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// batch is many units of one test side by side: what is written, asked and
// waited for is so for all of them at once.
type batch struct {
	t      *testing.T
	m      *labtest.Machine
	prefix string // of the units' names
	units  []string
}

func newBatch(t *testing.T, m *labtest.Machine) *batch {
	t.Helper()
	b := &batch{t: t, m: m, prefix: strings.TrimSuffix(m.UnitName(), ".service") + "-"}
	t.Cleanup(b.remove)
	return b
}

// install writes units, given by the rest of their names, as InstallUnit does
// one.
func (b *batch) install(units map[string]string) {
	b.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(units)) {
		b.m.Write("/etc/systemd/system/"+b.unit(name), units[name], 0o644)
		b.units = append(b.units, b.unit(name))
	}
	// Where the manager finds the last one it finds them all.
	unit := b.units[len(b.units)-1]
	if b.m.Show(unit, "LoadState")["LoadState"] != "loaded" {
		b.m.Run("systemctl", "daemon-reload")
	}
}

func (b *batch) unit(name string) string { return b.prefix + name + ".service" }

// start starts all units, some of which may fail, to the end of their start. It
// does so by and by: a manager that has hundreds of jobs to run at once hears for
// seconds nothing of what the services tell it.
func (b *batch) start() {
	b.t.Helper()
	for some := range slices.Chunk(b.units, 32) {
		b.m.Try(append([]string{"systemctl", "start"}, some...)...)
	}
}

// show reads properties of some of the units.
func (b *batch) show(units []string, properties ...string) map[string]lab.Properties {
	b.t.Helper()
	out := b.m.Run(append([]string{"systemctl", "show", "--property=Id," + strings.Join(properties, ",")}, units...)...)
	all := map[string]lab.Properties{}
	for block := range strings.SplitSeq(out, "\n\n") {
		p := lab.Properties{}
		for line := range strings.SplitSeq(strings.TrimSpace(block), "\n") {
			key, value, _ := strings.Cut(line, "=")
			p[key] = value
		}
		all[p["Id"]] = p
	}
	return all
}

// subStates are the units' sub-states: one question to the manager, not one for
// each unit. A unit that the manager has forgotten is dead; one that has a job is
// on its way.
func (b *batch) subStates() map[string]string {
	b.t.Helper()
	states := map[string]string{}
	for _, unit := range b.units {
		states[unit] = "dead"
	}
	jobs := b.m.Run("systemctl", "list-jobs", "--plain", "--no-legend", b.prefix+"*")
	for line := range strings.Lines(b.m.Run("systemctl", "list-units", "--all", "--plain", "--no-legend", b.prefix+"*")) {
		if fields := strings.Fields(line); len(fields) > 3 {
			states[fields[0]] = fields[3]
		}
	}
	for line := range strings.Lines(jobs) {
		if fields := strings.Fields(line); len(fields) > 1 {
			states[fields[1]] = "job"
		}
	}
	return states
}

// until waits until each unit is in one of some sub-states, and returns them.
func (b *batch) until(wanted ...string) map[string]string {
	b.t.Helper()
	for end := time.Now().Add(labtest.Patience); ; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a pause between two questions
		states := b.subStates()
		pending := slices.DeleteFunc(slices.Clone(b.units), func(unit string) bool { return slices.Contains(wanted, states[unit]) })
		if len(pending) == 0 {
			return states
		}
		if unit := pending[0]; time.Now().After(end) {
			b.t.Fatalf("after %v %d units are not %v; %s is %s:\n%s", labtest.Patience, len(pending), wanted, unit, states[unit],
				strings.Join(b.m.Journal(unit, 20), "\n"))
		}
	}
}

// remove ends the units, those that the manager still knows, and removes them.
func (b *batch) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // the test's own is over
	defer cancel()
	for _, args := range [][]string{{"stop", "--no-block"}, {"kill", "--signal=KILL"}, {"stop"}, {"reset-failed"}} {
		if _, err := b.m.Exec(ctx, append(append([]string{"systemctl"}, args...), b.prefix+"*")...); err != nil {
			b.t.Error(err)
		}
	}
	for _, unit := range b.units {
		if err := b.m.Remove("/etc/systemd/system/" + unit); err != nil {
			b.t.Error(err)
		}
	}
}
