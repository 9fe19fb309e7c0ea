//go:build linux

package e2e

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

const svcrun = "/usr/bin/svcrun"

// ownUnits are units under svcrun, each with how it is made to end and what is
// to be told of that, in the words of the truth but for how the run began.
var ownUnits = []struct {
	name, unit string
	drive      func(driver) error
	truth      []string
	why        string
}{
	{"own-unhealthy", "--ready=exec:/bin/true --live=exec:/bin/false,interval=100ms,failures=2 -- /bin/sleep 1000", byItself,
		[]string{"ready unhealthy code=69 check=exec:false after=2 last=exit_status_1 stop=*"}, "failed restart-setting"},
	{"own-code", "--ready=exec:/bin/true -- /bin/sh -c 'sleep 0.5; exit 3'", byItself,
		[]string{"ready exit-code code=3"}, "failed restart-setting"},
	{"own-signal", "--ready=exec:/bin/true -- /bin/sh -c 'sleep 0.5; kill -KILL $$$$'", byItself,
		[]string{"ready signal signal=KILL"}, "failed restart-setting"},
	{"own-clean", "--ready=exec:/bin/true -- /bin/sleep 0.5", byItself,
		[]string{"ready clean (code=0)"}, "down restart-setting"},
	{"own-stop", "--ready=exec:/bin/true -- /bin/sleep 1000", driver.stopRunning,
		[]string{"ready stop-requested (signal=TERM) stop=*"}, "down stop-requested"},
	{"own-deaf", `--ready=exec:/bin/true --stop=TERM@300ms -- /bin/sh -c 'trap "" TERM; while :; do sleep 0.1; done'`, driver.stopRunning,
		[]string{"ready stop-timeout signal=KILL stop=*"}, "failed stop-requested"},
	{"own-late", "--ready=file:/nonexistent --start-timeout=1s -- /bin/sleep 1000", byItself,
		[]string{"never start-timeout code=70 check=file:/nonexistent last=* stop=*"}, "failed restart-setting"},
	{"own-exec", "--ready=exec:/bin/true -- /nonexistent/program", byItself,
		[]string{"never exec code=203"}, "failed restart-setting"},
	{"own-killed", "--ready=exec:/bin/true -- /bin/sleep 1000", killSvcrun,
		[]string{"ready signal signal=KILL", "ready stop-requested (signal=TERM) stop=*"}, "down stop-requested"},
}

// killSvcrun kills svcrun itself, which so cannot write down how its run ended;
// the start after that closes the record.
func killSvcrun(d driver) error {
	if err := d.systemctl("start"); err != nil {
		return err
	}
	_, err := d.m.Exec(d.ctx, "systemctl", "kill", "--kill-whom=main", "--signal=KILL", d.unit)
	return errors.Join(err, d.down(), d.stopRunning())
}

// TestRecordsTellTheSameWithTheJournalGone: with all sources, without the
// journal, and without the journal and D-Bus.
func TestRecordsTellTheSameWithTheJournalGone(t *testing.T) {
	programs := labtest.Programs(t)
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := labtest.Boot(t, suite)
			m.Install(filepath.Join(programs, "svcstat"), svcstat, 0o755)
			m.Install(filepath.Join(programs, "svcrun"), svcrun, 0o755)
			for _, own := range ownUnits {
				m.InstallUnit(own.name+".service", "[Service]\nType=notify\nKillMode=mixed\nStateDirectory=svckit/%N\nExecStart="+svcrun+
					" --state-dir=%S/svckit/%N "+own.unit+"\n")
				if err := own.drive(driver{t.Context(), m.Machine, own.name + ".service"}); err != nil {
					t.Fatalf("%s: %v", own.name, err)
				}
			}
			m.Run("journalctl", "--sync")
			for _, own := range ownUnits {
				whole := historyOf(t, m, own.name)
				checkOwn(t, own.name+", all sources", own.truth, whole.Runs)
				for _, s := range whole.Sources {
					if !slices.Contains([]string{"bus", "journal", "records"}, s) || len(whole.Sources) != 3 {
						t.Errorf("%s: sources %v", own.name, whole.Sources)
					}
				}
				told := slices.Clone(own.truth)
				if own.name == "own-killed" {
					told[0] = "ready unknown closed-by=next-start" // nobody was there to write down more
				}
				noJournal := decodeHistory(t, m.Run("env", "PATH=/nowhere", svcstat, "history", "--json", own.name))
				checkOwn(t, own.name+", without the journal", told, noJournal.Runs)
				alone := decodeHistory(t, m.Run(withoutBus("env PATH=/nowhere "+svcstat+" history --json "+own.name)...))
				checkOwn(t, own.name+", records alone", told, alone.Runs)
				sameTimes(t, own.name, whole.Runs, alone.Runs)
				for name, out := range map[string]string{
					"all sources":         m.Run(svcstat, "why", "--json", own.name),
					"without the journal": m.Run("env", "PATH=/nowhere", svcstat, "why", "--json", own.name),
				} {
					if got := decodeWhy(t, out); !strings.HasPrefix(got.String(), own.why+" ") {
						t.Errorf("%s, %s: why says %q, want %q", own.name, name, got, own.why)
					}
				}
			}
		})
	}
}

// checkOwn compares runs with the truth, without how they began; a value of *
// may be any.
func checkOwn(t *testing.T, name string, truth []string, runs []run) {
	t.Helper()
	if len(truth) != len(runs) {
		t.Errorf("%s: %d runs, want %d", name, len(runs), len(truth))
		return
	}
	for i, r := range runs {
		words := r.words()
		for j, word := range words {
			key, _, _ := strings.Cut(word, "=")
			if strings.Contains(truth[i]+" ", key+"=* ") {
				words[j] = key + "=*"
			}
		}
		if !agreeWords(truth[i], words[1:]) {
			t.Errorf("%s, run %d: told %q, happened %q", name, i+1, words[1:], truth[i])
		}
	}
}

// sameTimes: what svcrun wrote down is what the manager saw, but for what lies
// between the two.
func sameTimes(t *testing.T, name string, whole, alone []run) {
	t.Helper()
	for i := range min(len(whole), len(alone)) {
		for what, pair := range map[string][2]*time.Time{"started": {whole[i].Started, alone[i].Started}, "ready": {whole[i].Ready, alone[i].Ready}} {
			if (pair[0] == nil) != (pair[1] == nil) || pair[0] != nil && pair[1].Sub(*pair[0]).Abs() > 2*time.Second {
				t.Errorf("%s, run %d: %s at %v, by its record at %v", name, i+1, what, pair[0], pair[1])
			}
		}
	}
}
