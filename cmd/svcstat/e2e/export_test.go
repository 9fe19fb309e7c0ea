//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// answer is what svcstat says of a unit, as documents.
type answer struct{ history, why string }

func (a answer) runs(t *testing.T) []run {
	t.Helper()
	return decodeHistory(t, a.history).Runs
}

func (a answer) explanation(t *testing.T) explanation {
	t.Helper()
	return decodeWhy(t, a.why)
}

// ask has a svcstat answer both questions about each unit.
func ask(svcstat func(args ...string) string, units []string, more ...string) map[string]answer {
	all := make(map[string]answer)
	for _, unit := range units {
		args := append([]string{"--json", "--utc", unit}, more...)
		all[unit] = answer{
			history: svcstat(append([]string{"history"}, args...)...),
			why:     svcstat(append([]string{"why"}, args...)...),
		}
	}
	return all
}

// onMachine is the machine's own svcstat.
func onMachine(m *labtest.Machine) func(...string) string {
	return func(args ...string) string { return m.Run(append([]string{svcstat}, args...)...) }
}

// elsewhere is the svcstat of another machine: of the test's own, on which no
// manager knows the units and no journal has them.
func elsewhere(t *testing.T) func(...string) string {
	program := filepath.Join(labtest.Programs(t), "svcstat")
	return func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), awaited)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = []string{"PATH=/nowhere"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("svcstat %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
}

// export writes the machine's journal to a file of the test's.
func export(t *testing.T, m *labtest.Machine, format string, match ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "journal."+format)
	text := m.Run(append([]string{"journalctl", "--all", "--output=" + format}, match...)...)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What D-Bus alone knows: what the unit does now, and by what rules.
var busKnows = []string{
	"active_state", "sub_state", "sources", "standing", "failed_reload", "no_restart", "rule", "start_limit", "next_restart", "next_restart_refused",
	"outlook", "steps", "sentences", // these follow from the others; see sameAdvice
}

// recordsKnow is what svcrun's records alone know of a run.
var recordsKnow = []string{"phases", "held", "stable"}

// sameElsewhere holds the answers from an exported journal, of a machine that is
// gone, against those that the machine gave: byte for byte but for the fields
// that need another source.
func sameElsewhere(t *testing.T, there, here map[string]answer, unknown []string) {
	t.Helper()
	for unit, want := range there {
		got, lacks := here[unit], unknown
		up := want.explanation(t).Standing == "up"
		if up { // or so D-Bus says; elsewhere a run without an end is the last, and none is before it
			lacks = append(slices.Clone(unknown), "previous_run")
		}
		if w, g := without(t, want.history, lacks), without(t, got.history, lacks); w != g {
			t.Errorf("%s: the machine's history\n%s\nfrom its journal, elsewhere\n%s", unit, w, g)
		}
		if w, g := without(t, want.why, lacks), without(t, got.why, lacks); w != g {
			t.Errorf("%s: the machine's why\n%s\nfrom its journal, elsewhere\n%s", unit, w, g)
		}
		if !up {
			sameAdvice(t, unit, want.explanation(t), got.explanation(t))
		}
	}
}

// without is a document without some fields, wherever they stand. That a run is
// on, and how long so far, D-Bus alone knows as well.
func without(t *testing.T, document string, fields []string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	var strip func(value any)
	strip = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				strip(v)
			}
		case map[string]any:
			if value["running"] == true {
				value["running"], value["up_usec"] = false, nil
			}
			for _, field := range fields {
				delete(value, field)
			}
			for _, v := range value {
				strip(v)
			}
		}
	}
	strip(value)
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// byRule are the reasons for which no restart came that need the manager's rules.
var byRule = []string{"restart-setting", "prevent-exit-status", "not-started-since"}

// sameAdvice: elsewhere a reason is given where the journal has it, and no word is
// said of a unit's past that its machine has not said.
func sameAdvice(t *testing.T, unit string, there, here explanation) {
	t.Helper()
	want := there.NoRestart
	switch {
	case slices.Contains(byRule, want), there.Standing == "waiting":
		want = "unknown"
	case want == "stop-requested" && here.NoRestart == "stop-in-hold-off": // whether there was one, the rules tell
		want = here.NoRestart
	}
	if here.Standing != "uncertain" || here.NoRestart != want {
		t.Errorf("%s: elsewhere it is %q and no restart came for %q, want %q", unit, here.Standing, here.NoRestart, want)
	}
	known := strings.ReplaceAll(strings.Join(there.Sentences, "\n"), "Type=notify", "its type")
	for _, sentence := range here.Sentences[1:] {
		vague := strings.HasPrefix(sentence, "No restart came: ") && here.NoRestart != there.NoRestart
		if !vague && !strings.Contains(known, strings.TrimSuffix(sentence, ".")) {
			t.Errorf("%s: elsewhere svcstat says %q, and its machine said\n%s", unit, sentence, known)
		}
	}
	has := func(e explanation) bool {
		return len(e.Steps) > 0 && e.Steps[0].Step == "read-log" && (len(there.Steps) == 0 || e.Steps[0] == there.Steps[0])
	}
	if has(there) != has(here) {
		t.Errorf("%s: elsewhere the steps are %+v, on its machine %+v", unit, here.Steps, there.Steps)
	}
}

// checkTail: each run's own last lines, live and from an export.
func checkTail(t *testing.T, svcstat func(...string) string, args ...string) {
	t.Helper()
	runs := decodeHistory(t, svcstat(append([]string{"history", "--json", "unhealthy", "--tail=1"}, args...)...)).Runs
	const said = `svcrun: end cause=unhealthy check=http://127.0.0.1:8080/live after=3 last="timeout 2s"`
	if len(runs) != 3 || !runs[0].FirstFailure || runs[1].FirstFailure || !slices.Equal(runs[0].Tail, []string{said}) || len(runs[2].Tail) > 0 {
		t.Errorf("%v: %+v", args, runs)
	}
}

// gone ends the machine: what is asked from now on is asked elsewhere.
func gone(t *testing.T, m *labtest.Machine) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-m.Ended():
	case <-time.After(awaited):
		t.Fatal("the machine has not ended")
	}
}
