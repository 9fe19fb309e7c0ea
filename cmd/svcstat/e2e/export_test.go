//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// checkExport: from an exported journal, in both of its forms, the same is told
// as from the machine that it comes from, but for what only D-Bus knows.
func checkExport(t *testing.T, m *labtest.Machine) {
	m.Run("sh", "-c", "journalctl -o export >/run/export && journalctl -o json >/run/json")
	for unit, want := range truth(t, m.Version()) {
		for _, file := range []string{"/run/export", "/run/json"} {
			got := historyOf(t, m, unit, "--journal-file="+file).Runs
			if !slices.EqualFunc(want, got, func(truth string, told run) bool {
				return agree(strings.ReplaceAll(truth, " running", ""), told)
			}) {
				var told []string
				for _, r := range got {
					told = append(told, strings.Join(r.words(), " "))
				}
				t.Errorf("%s, from %s: happened:\n%s\ntold:\n%s", unit, file, strings.Join(want, "\n"), strings.Join(told, "\n"))
			}
		}
	}
}

// checkTail: each run's own last lines, live and from an export.
func checkTail(t *testing.T, m *labtest.Machine) {
	for _, args := range [][]string{{"unhealthy", "--tail=1"}, {"unhealthy", "--tail=1", "--journal-file=/run/export"}} {
		runs := historyOf(t, m, args...).Runs
		const said = `svcrun: end cause=unhealthy check=http://127.0.0.1:8080/live after=3 last="timeout 2s"`
		if len(runs) != 3 || !runs[0].FirstFailure || runs[1].FirstFailure || !slices.Equal(runs[0].Tail, []string{said}) || len(runs[2].Tail) > 0 {
			t.Errorf("%v: %+v", args, runs)
		}
	}
}
