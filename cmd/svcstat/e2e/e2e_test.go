//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

const (
	svcstat   = "/usr/bin/svcstat"
	truthFile = "../../../history/testdata/truth.txt"
)

func TestSvcstatTellsWhatHappened(t *testing.T) {
	labtest.EachAlone(t, []string{"svcstat", "svcrun"}, func(t *testing.T, m *labtest.Machine) {
		installUnits(m)
		if err := endAll(t.Context(), m.Machine, unitsThatEnd()); err != nil {
			t.Fatal(err)
		}
		forge(m)
		m.Run("journalctl", "--sync")
		if os.Getenv("SVCKIT_RECORD") != "" {
			record(t, m)
		}
		happened := truth(t, m.Version())
		told := ask(onMachine(m), slices.Collect(maps.Keys(happened)))
		t.Run("history", func(t *testing.T) { checkHistory(t, m, happened, told) })
		t.Run("why", func(t *testing.T) { checkWhy(t, m, happened, told) })
		t.Run("signals", func(t *testing.T) { checkSignals(t, m, told) })
		t.Run("delays", func(t *testing.T) { checkDelays(t, m) })
		t.Run("list", func(t *testing.T) { checkList(t, m) })
		t.Run("unknown", func(t *testing.T) { checkUnknown(t, m) })
		t.Run("alias", func(t *testing.T) { checkAlias(t, m, told["exit-code.service"]) })
		t.Run("since", func(t *testing.T) { checkSince(t, m) })
		t.Run("tail", func(t *testing.T) { checkTail(t, onMachine(m)) })
		t.Run("sources", func(t *testing.T) { checkSources(t, m) })
		exported, asJSON := export(t, m, "export"), export(t, m, "json")
		gone(t, m)
		t.Run("elsewhere", func(t *testing.T) {
			units := slices.Collect(maps.Keys(told))
			sameElsewhere(t, told, ask(elsewhere(t), units, "--journal-file="+exported), busKnows)
			sameElsewhere(t, told, ask(elsewhere(t), units, "--journal-file="+asJSON), busKnows)
			checkTail(t, elsewhere(t), "--journal-file="+exported)
		})
	})
}

// document is what is checked of `svcstat history --json`.
type document struct {
	ActiveState string   `json:"active_state"`
	Sources     []string `json:"sources"`
	Runs        []run    `json:"runs"`
}

type run struct {
	Start      string            `json:"start"`
	Restarts   *int              `json:"restarts"`
	Started    *time.Time        `json:"started"`
	Ready      *time.Time        `json:"ready"`
	Ended      *time.Time        `json:"ended"`
	Running    bool              `json:"running"`
	Cause      *string           `json:"cause"`
	ExitCode   *int              `json:"exit_code"`
	Signal     *string           `json:"signal"`
	CoreDumped bool              `json:"core_dumped"`
	UpUsec     *int64            `json:"up_usec"`
	DelayUsec  *int64            `json:"delay_usec"`
	Detail     map[string]string `json:"detail"`

	FirstFailure bool     `json:"first_failure"`
	Tail         []string `json:"tail"`
}

// words is the run in the words of the truth.
func (r run) words() []string {
	start, ready, cause := r.Start, "never", ""
	if r.Restarts != nil {
		start += "/" + strconv.Itoa(*r.Restarts)
	}
	switch {
	case r.Running:
		cause = "running"
	case r.Cause != nil:
		cause = *r.Cause
	}
	switch {
	case cause == "start-limit" || cause == "dependency":
		ready = "refused"
	case r.Ready != nil:
		ready = "ready"
	case r.Started == nil:
		ready = "lost"
	}
	words := []string{start, ready}
	if cause != "" {
		words = append(words, cause)
	}
	if r.ExitCode != nil {
		words = append(words, fmt.Sprintf("code=%d", *r.ExitCode))
	}
	if r.Signal != nil {
		words = append(words, "signal="+strings.TrimPrefix(*r.Signal, "SIG"))
	}
	if r.CoreDumped {
		words = append(words, "core")
	}
	for key, value := range r.Detail {
		words = append(words, key+"="+strings.ReplaceAll(value, " ", "_"))
	}
	return words
}

// agree compares a run with a line of the truth.
func agree(truth string, told run) bool { return agreeWords(truth, told.words()) }

// agreeWords compares what is told with what happened; a word in parentheses may
// be missing.
func agreeWords(truth string, told []string) bool {
	words := slices.Clone(told)
	for word := range strings.FieldsSeq(truth) {
		optional, isOptional := strings.CutPrefix(word, "(")
		if isOptional {
			word = strings.TrimSuffix(optional, ")")
		}
		i := slices.Index(words, word)
		switch {
		case i >= 0:
			words = slices.Delete(words, i, i+1)
		case !isOptional:
			return false
		}
	}
	return len(words) == 0
}

// truth reads what happened to each unit under a version of systemd.
func truth(t *testing.T, version int) map[string][]string {
	file, err := os.Open(truthFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	runs := make(map[string][]string)
	unit := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#', strings.HasPrefix(line, "why"):
		case line[0] == '[':
			name, condition, _ := strings.Cut(strings.Trim(line, "[]"), " ")
			unit = ""
			if holds(t, condition, version) {
				unit = name + ".service"
			}
		case unit != "":
			runs[unit] = append(runs[unit], line)
		}
	}
	return runs
}

// holds reads a condition such as <257 or >=257.
func holds(t *testing.T, condition string, version int) bool {
	bound, err := strconv.Atoi(strings.TrimLeft(condition, "<>="))
	switch {
	case condition == "":
		return true
	case err != nil:
		t.Fatalf("%s: condition %q", truthFile, condition)
	case strings.HasPrefix(condition, "<"):
		return version < bound
	}
	return version >= bound
}

// historyOf asks svcstat for the runs of a unit.
func historyOf(t *testing.T, m *labtest.Machine, args ...string) document {
	t.Helper()
	return decodeHistory(t, m.Run(append([]string{svcstat, "history", "--json"}, args...)...))
}

func decodeHistory(t *testing.T, out string) document {
	t.Helper()
	var doc document
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("svcstat history: %v\n%s", err, out)
	}
	return doc
}

func checkHistory(t *testing.T, m *labtest.Machine, happened map[string][]string, told map[string]answer) {
	for unit, want := range happened {
		got := told[unit].runs(t)
		if slices.EqualFunc(want, got, agree) {
			continue
		}
		journal, _ := m.Output(t.Context(), "journalctl", "-o", "short-monotonic", "--no-hostname", "-u", unit)
		t.Errorf("%s: happened:\n%s\ntold:\n%s\njournal:\n%s", unit, strings.Join(want, "\n"), inWords(got), journal)
	}
}

// inWords are runs in the words of the truth, a line each.
func inWords(runs []run) string {
	var lines []string
	for _, r := range runs {
		lines = append(lines, strings.Join(r.words(), " "))
	}
	return strings.Join(lines, "\n")
}

// checkDelays: the delay to an automatic start lies between the end of a run and
// the begin of the next. How far it is from RestartSec= is how busy the machine is.
func checkDelays(t *testing.T, m *labtest.Machine) {
	const clocks = 100 * time.Millisecond // that the time of day is set by while the delay is on
	for _, unit := range []string{"start-limit", "start-timeout", "terminated"} {
		runs := historyOf(t, m, unit).Runs
		for i, r := range runs[:len(runs)-1] {
			if r.DelayUsec == nil || r.Ended == nil || runs[i+1].Started == nil {
				t.Fatalf("%s: run %d has no delay to the next: %+v", unit, i+1, r)
			}
			delay, between := time.Duration(*r.DelayUsec)*time.Microsecond, runs[i+1].Started.Sub(*r.Ended)
			if delay > between+clocks {
				t.Errorf("%s: run %d: %v until the next, which began %v after its end", unit, i+1, delay, between)
			}
		}
	}
}

// service is what is checked of `svcstat list --json`.
type service struct {
	Unit        string     `json:"unit"`
	ActiveState string     `json:"active_state"`
	Restarts    int        `json:"restarts"`
	LastCause   *string    `json:"last_cause"`
	ExitCode    *int       `json:"exit_code"`
	UpSince     *time.Time `json:"up_since"`
	NextRestart *time.Time `json:"next_restart"`
}

func (s service) String() string {
	text := fmt.Sprintf("%s %d", s.ActiveState, s.Restarts)
	if s.LastCause != nil {
		text += " " + *s.LastCause
	}
	if s.ExitCode != nil {
		text += fmt.Sprintf(" %d", *s.ExitCode)
	}
	if s.UpSince != nil {
		text += " up"
	}
	if s.NextRestart != nil && time.Until(*s.NextRestart) > time.Minute {
		text += " later"
	}
	return text
}

// listOf asks svcstat for services, by name.
func listOf(t *testing.T, m *labtest.Machine, args ...string) map[string]service {
	t.Helper()
	var list struct {
		Units []service `json:"units"`
	}
	out := m.Run(append([]string{svcstat, "list", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	services := make(map[string]service)
	for _, s := range list.Units {
		services[s.Unit] = s
	}
	return services
}

func checkList(t *testing.T, m *labtest.Machine) {
	limit := "failed 3 exit-code 3"
	if m.Version() >= 260 {
		limit = "failed 3 start-limit" // since then the refused start hides the run before
	}
	all := listOf(t, m)
	for unit, want := range map[string]string{
		"running.service": "active 0 up", "exit-code.service": "failed 0 exit-code 3", "core-dump.service": "failed 0 core-dump",
		"watchdog.service": "failed 0 watchdog", "exec.service": "failed 0 exec 203", "start-limit.service": limit,
		"waiting.service": "activating 0 exit-code 3 later",
	} {
		if got := all[unit].String(); got != want {
			t.Errorf("list says of %s %q, want %q", unit, got, want)
		}
	}
	if s, ok := all["clean.service"]; ok {
		t.Errorf("list has clean.service, which is just not running: %v", s)
	}
	if got := listOf(t, m, "clean", "--all"); len(got) != 1 {
		t.Errorf("list clean --all: %v", got)
	}
	if got := listOf(t, m, "--restarting"); len(got) != 1 || got["waiting.service"].Unit == "" {
		t.Errorf("list --restarting: %v", got)
	}
	failed := listOf(t, m, "--failed")
	for unit, s := range failed {
		if s.ActiveState != "failed" {
			t.Errorf("list --failed has %s: %v", unit, s)
		}
	}
	if failed["exit-code.service"].Unit == "" {
		t.Errorf("list --failed lacks exit-code.service: %v", failed)
	}
}

func checkUnknown(t *testing.T, m *labtest.Machine) {
	for _, verb := range []string{"history", "list", "why", "forget"} {
		r := m.Try(svcstat, verb, "exit-kode")
		if r.Code != 4 || !strings.Contains(r.Stderr, "did you mean exit-code.service") || r.Stdout != "" {
			t.Errorf("%s of an unknown unit: exit code %d, want 4\n%s%s", verb, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// checkAlias: a unit has the same history under each of its names, though the
// journal knows but one.
func checkAlias(t *testing.T, m *labtest.Machine, told answer) {
	if got := m.Run(svcstat, "history", "--json", "--utc", "nickname"); got != told.history {
		t.Errorf("by its alias:\n%s\nby its name:\n%s", got, told.history)
	}
}

// checkSince: a run that was on at that time is told whole, with its begin.
func checkSince(t *testing.T, m *labtest.Machine) {
	all := historyOf(t, m, "start-limit").Runs
	middle := all[1].Ready.Add(all[1].Ended.Sub(*all[1].Ready) / 2)
	got := historyOf(t, m, "start-limit", "--since", middle.Format(time.RFC3339Nano)).Runs
	if len(got) != 3 || got[0].UpUsec == nil || *got[0].UpUsec != *all[1].UpUsec || got[1].Start != "automatic" {
		t.Errorf("since the middle of the second run: %v\nof all: %v", got, all)
	}
}

// withoutBus is a command of a shell's that sees no D-Bus.
func withoutBus(command string) []string {
	return []string{"unshare", "--mount", "sh", "-c", "mount -t tmpfs none /run/dbus && mount -t tmpfs none /run/systemd && exec " + command}
}

// checkSources: each source alone still tells its part, and says what is missing.
func checkSources(t *testing.T, m *labtest.Machine) {
	busless := m.Try(withoutBus(svcstat + " history exit-code --json")...)
	if busless.Code != 0 || strings.Count(busless.Stderr, "\n") != 1 || !strings.Contains(busless.Stdout, `"exit-code"`) {
		t.Errorf("without D-Bus: exit code %d\n%s%s", busless.Code, busless.Stdout, busless.Stderr)
	}
	noJournal := m.Try("env", "PATH=/nowhere", svcstat, "history", "exit-code", "--json")
	if noJournal.Code != 0 || strings.Count(noJournal.Stderr, "\n") != 1 || !strings.Contains(noJournal.Stdout, `"exit-code"`) {
		t.Errorf("without journalctl: exit code %d\n%s%s", noJournal.Code, noJournal.Stdout, noJournal.Stderr)
	}
	quiet := m.Try(svcstat, "history", "quiet")
	if quiet.Code != 0 || !strings.Contains(quiet.Stderr, "quiet.service hides its own history: its LogLevelMax=") || strings.Count(quiet.Stderr, "\n") != 1 {
		t.Errorf("of a unit with LogLevelMax=: exit code %d\n%s%s", quiet.Code, quiet.Stdout, quiet.Stderr)
	}
	m.Run("useradd", "--system", "nosy")
	nosy := m.Try("setpriv", "--reuid=nosy", "--clear-groups", svcstat, "history", "exit-code", "--json")
	if nosy.Code != 0 || !strings.Contains(nosy.Stderr, "systemd-journal") || !strings.Contains(nosy.Stdout, `"exit-code"`) {
		t.Errorf("without permission: exit code %d\n%s%s", nosy.Code, nosy.Stdout, nosy.Stderr)
	}
}
