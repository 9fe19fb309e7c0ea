//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// direct is a service of which each run prints its own number. Without
// RestartMode=, which is from 254 on, it is the same with each run under its own
// invocation. A run ends when the journal has its line: of a process that is gone
// journald may not learn which run it was of.
const direct = `[Unit]
StartLimitIntervalSec=1h
StartLimitBurst=4
[Service]
Restart=on-failure
RestartSec=300ms
%s
ExecStart=/bin/sh -c 'n=$$(cat /run/%[2]s 2>/dev/null); n=$$((n+1)); echo $$n >/run/%[2]s; echo run $$n; journalctl --sync; exit 3'
`

// TestEachRunHasItsOwnLinesThoughTheJournalHasOneInvocationForAll: with
// RestartMode=direct.
func TestEachRunHasItsOwnLinesThoughTheJournalHasOneInvocationForAll(t *testing.T) {
	labtest.EachAlone(t, []string{"svcstat"}, func(t *testing.T, m *labtest.Machine) {
		modes := map[string]string{"rest": ""}
		if m.Version() >= 254 {
			modes["direct"] = "RestartMode=direct"
		}
		for name, mode := range modes {
			m.Write("/run/systemd/system/"+name+".service", fmt.Sprintf(direct, mode, name+".runs"), 0o644)
		}
		m.Run("systemctl", "daemon-reload")
		for name := range modes {
			m.Run("systemctl", "start", name)
		}
		for name := range modes {
			m.WaitFor(name+".service", "ActiveState=failed", "NRestarts=4")
		}
		m.Run("journalctl", "--sync")
		for name, mode := range modes {
			checkNumbers(t, onMachine(m), name)
			checkFirstLog(t, m, name, mode != "")
			for _, format := range []string{"export", "json"} {
				file := "--journal-file=" + export(t, m, format)
				checkNumbers(t, elsewhere(t), name, file)
				checkSameLog(t, m, name, file)
			}
		}
	})
}

// checkNumbers: what each run has printed is shown with that run.
func checkNumbers(t *testing.T, svcstat func(...string) string, name string, args ...string) {
	t.Helper()
	text := svcstat(append([]string{"history", "--json", name, "--tail=5"}, args...)...)
	runs := decodeHistory(t, text).Runs
	if len(runs) != 5 {
		t.Fatalf("%s %v: %d runs, want 4 and a refused start\n%s", name, args, len(runs), text)
	}
	for i, r := range runs[:4] {
		if want := fmt.Sprintf("run %d", i+1); !slices.Equal(r.Tail, []string{want}) {
			t.Errorf("%s %v: run %d has printed %q, want %q", name, args, i+1, r.Tail, want)
		}
	}
}

// checkFirstLog: what svcstat why advises to type shows the first failure's lines
// and no other's.
func checkFirstLog(t *testing.T, m *labtest.Machine, name string, byTime bool) {
	t.Helper()
	steps := decodeWhy(t, m.Run(svcstat, "why", "--json", name)).Steps
	if len(steps) == 0 || steps[0].Step != "read-log" || strings.Contains(steps[0].Command, " --since=@") != byTime {
		t.Fatalf("%s: the steps are %+v; by time: want %t", name, steps, byTime)
	}
	said := m.Run("sh", "-c", steps[0].Command)
	if !strings.Contains(said, "run 1\n") || strings.Contains(said, "run 2\n") {
		t.Errorf("%s shows\n%s", steps[0].Command, said)
	}
}

// checkSameLog: an exported journal leads to the same advice as D-Bus does.
func checkSameLog(t *testing.T, m *labtest.Machine, name, file string) {
	t.Helper()
	want := decodeWhy(t, m.Run(svcstat, "why", "--json", name)).Steps[0]
	if got := decodeWhy(t, elsewhere(t)("why", "--json", name, file)).Steps; len(got) == 0 || got[0] != want {
		t.Errorf("%s: the machine advises %+v, %s leads to %+v", name, want, file, got)
	}
}
