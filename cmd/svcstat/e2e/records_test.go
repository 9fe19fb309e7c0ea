//go:build linux

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// TestUnitsUnderSvcrunAreToldOfByEachSource: by all of them, with the journal
// gone, and from a journal or from records that another machine has left.
func TestUnitsUnderSvcrunAreToldOfByEachSource(t *testing.T) {
	labtest.EachAlone(t, []string{"svcstat", "svcrun"}, func(t *testing.T, m *labtest.Machine) {
		endings, names := installOwnUnits(m)
		if err := endAll(t.Context(), m.Machine, endings); err != nil {
			t.Fatal(err)
		}
		m.Run("journalctl", "--sync")
		whole := ask(onMachine(m), names)
		exported, kept := export(t, m, "export"), keepRecords(t, m)
		m.Run("sh", "-c", "rm -rf /run/log/journal /var/log/journal && systemctl restart systemd-journald && ! journalctl -u own-code | grep own-code")
		told := ask(onMachine(m), names)
		gone(t, m)
		checkOwn(t, m.Version(), whole, told)
		checkOwnElsewhere(t, whole, exported, kept)
	})
}

// keepRecords copies what svcrun has written down out of the machine.
func keepRecords(t *testing.T, m *labtest.Machine) (dir string) {
	t.Helper()
	root, err := os.OpenRoot(fmt.Sprintf("/proc/%d/root/var/lib/svckit", m.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	dir = filepath.Join(t.TempDir(), "records")
	if err := os.CopyFS(dir, root.FS()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkOwn holds what is told against what happened.
func checkOwn(t *testing.T, version int, whole, gone map[string]answer) {
	for _, own := range ownUnits {
		unit := own.name + ".service"
		checkRuns(t, own.name+", all sources", own.truth, whole[unit].runs(t))
		checkRuns(t, own.name+", without the journal", own.withoutJournal(), gone[unit].runs(t))
		got := whole[unit].explanation(t)
		if said := strings.Join(got.Sentences, "\n"); got.String() != own.why || !strings.Contains(said, own.says) {
			t.Errorf("%s, all sources: why says %q, want %q, and %q in\n%s", own.name, got, own.why, own.says, said)
		}
		if own.says == "" {
			checkSentences(t, own.name, own.truth, got)
		}
		want, says := own.whyGone, own.saysGone
		if own.name == "own-limit" && version >= 260 { // since then D-Bus tells of the start limit
			want, says = "", ""
		}
		if want == "" {
			want = own.why
		}
		got = gone[unit].explanation(t)
		if said := strings.Join(got.Sentences, "\n"); got.String() != want || !strings.Contains(said, says) {
			t.Errorf("%s, without the journal: why says %q, want %q, and %q in\n%s", own.name, got, want, says, said)
		}
		if got := decodeHistory(t, whole[unit].history).Sources; !slices.Equal(got, []string{"bus", "journal", "records"}) {
			t.Errorf("%s: sources %v", own.name, got)
		}
	}
}

// checkOwnElsewhere: on another machine, from the journal and the records, from
// the journal alone, from the records alone.
func checkOwnElsewhere(t *testing.T, whole map[string]answer, exported, kept string) {
	fromBoth, fromJournal := make(map[string]answer), make(map[string]answer)
	for _, own := range ownUnits {
		unit, records := own.name+".service", "--state-dir="+filepath.Join(kept, own.name)
		maps.Copy(fromBoth, ask(elsewhere(t), []string{unit}, "--journal-file="+exported, records))
		maps.Copy(fromJournal, ask(elsewhere(t), []string{unit}, "--journal-file="+exported))
		alone := ask(elsewhere(t), []string{unit}, records)[unit]
		checkRuns(t, own.name+", records alone", own.byRecords(), alone.runs(t))
		sameTimes(t, own.name, whole[unit].runs(t), alone.runs(t))
		if own.gone == nil && own.alone == nil {
			checkSentences(t, own.name+", records alone", own.truth, alone.explanation(t))
		}
	}
	sameElsewhere(t, whole, fromBoth, busKnows)
	sameElsewhere(t, whole, fromJournal, slices.Concat(busKnows, recordsKnow))
}

// checkRuns compares runs with the truth, without how they began; a value of *
// may be any.
func checkRuns(t *testing.T, name string, truth []string, runs []run) {
	t.Helper()
	if len(truth) != len(runs) {
		t.Errorf("%s: %d runs, want %d\n%s", name, len(runs), len(truth), inWords(runs))
		return
	}
	for i, r := range runs {
		words := r.words()
		for j, word := range words {
			key, _, _ := strings.Cut(word, "=")
			if slices.Contains(strings.FieldsFunc(truth[i], func(r rune) bool { return strings.ContainsRune(" ()", r) }), key+"=*") {
				words[j] = key + "=*"
			}
		}
		if !agreeWords(truth[i], words[1:]) {
			t.Errorf("%s, run %d: told %q, happened %q", name, i+1, words[1:], truth[i])
		}
	}
}

// sameTimes: what svcrun wrote down is what the manager saw, but for what lies
// between the two, on a busy machine.
func sameTimes(t *testing.T, name string, whole, alone []run) {
	t.Helper()
	for i := range min(len(whole), len(alone)) {
		for what, pair := range map[string][2]*time.Time{"started": {whole[i].Started, alone[i].Started}, "ready": {whole[i].Ready, alone[i].Ready}} {
			if (pair[0] == nil) != (pair[1] == nil) || pair[0] != nil && pair[1].Sub(*pair[0]).Abs() > awaited {
				t.Errorf("%s, run %d: %s at %v, by its record at %v", name, i+1, what, pair[0], pair[1])
			}
		}
	}
}
