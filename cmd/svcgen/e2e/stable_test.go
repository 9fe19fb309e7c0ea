package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// recovering is a service that crashes at its first two starts, runs at the third
// until it is told to crash, and then stays. Its restarts would wait 200ms, 2s,
// 20s; it is stable after two seconds.
func recovering(unit, starts, more string) string {
	script := "read up idle < /proc/uptime; echo $up >> " + starts + "; n=$(wc -l < " + starts + "); " +
		"test $n -gt 2 || exit 1; test $n -gt 3 || { until test -e " + starts + "-go; do sleep 0.1; done; " +
		"read up idle < /proc/uptime; echo $up > " + starts + "-end; exit 1; }; exec sleep 1000"
	return fmt.Sprintf("name: %s\nexec: [/bin/sh, -c, %q]\nrestart: {base: 200ms, cap: 20s, factor: 10, stable_after: 2s}\ninstall: {wanted_by: []}\n%s",
		unit, script, more)
}

// TestLongRunMakesTheFailuresBeforeItForgotten proves it where the manager
// forgets on demand, where the companion has to ask it, and where svcrun has
// the ladder; for a service of root, for one of a user, and for a template's.
func TestLongRunMakesTheFailuresBeforeItForgotten(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		s := &services{t: t, m: m}
		prefix := strings.TrimSuffix(m.UnitName(), ".service") + "-"
		services := map[string]string{ // the service's name, and where it writes down its starts
			prefix + "root": "/run/" + prefix + "root.starts",
			prefix + "user": "/tmp/" + prefix + "user.starts",
			prefix + "many": "/run/" + prefix + "many.starts",
		}
		units := []string{prefix + "root", prefix + "user", prefix + "many@an-instance"}
		s.add(recovering(prefix+"root", services[prefix+"root"], ""))
		s.add(recovering(prefix+"user", services[prefix+"user"], "user: nobody\n"))
		s.add(recovering(prefix+"many@", services[prefix+"many"], ""))
		s.load()
		m.Run(append([]string{"systemctl", "--no-block", "start"}, suffixed(units)...)...)
		for _, unit := range units {
			name, _, _ := strings.Cut(unit, "@")
			checkForgotten(t, m, unit+".service", services[name])
		}
	})
}

func suffixed(units []string) []string {
	var names []string
	for _, unit := range units {
		names = append(names, unit+".service")
	}
	return names
}

// checkForgotten has the service crash once its failures are forgotten, and sees
// whether the restart came after the wait of a first one.
func checkForgotten(t *testing.T, m *labtest.Machine, unit, starts string) {
	t.Helper()
	m.WaitUntil(unit, func(p lab.Properties) bool { return len(uptimes(t, m, starts)) == 3 && forgotten(m, unit, p) }, "NRestarts")
	m.Write(starts+"-go", "", 0o644)
	m.WaitUntil(unit, func(lab.Properties) bool { return len(uptimes(t, m, starts)) == 4 }, "NRestarts")
	times, ends := uptimes(t, m, starts), uptimes(t, m, starts+"-end")
	journal := strings.Join(m.Journal(unit, 60), "\n")
	for i, least := range []time.Duration{200 * time.Millisecond, 2 * time.Second} {
		if wait := times[i+1] - times[i]; wait < least-clock {
			t.Errorf("%s: restart %d after %v, want %v\n%s", unit, i+1, wait, least, journal)
		}
	}
	const remembered = 20 * time.Second // less tells that it was not, on a busy machine too
	if wait := times[3] - ends[0]; wait < 200*time.Millisecond-clock || wait >= remembered-clock {
		t.Errorf("%s: after a long run the restart waited for %v, want 200ms\n%s", unit, wait, journal)
	}
}

// forgotten says whether there are no failures any more for who waits: the manager,
// or up to 253 svcrun.
func forgotten(m *labtest.Machine, unit string, p lab.Properties) bool {
	if m.Version() >= 254 {
		return p["NRestarts"] == "0"
	}
	state, err := m.ReadFile("/run/svckit/" + strings.TrimSuffix(unit, ".service") + "/restart.json")
	return err == nil && strings.Contains(string(state), `"failures":0,`)
}
