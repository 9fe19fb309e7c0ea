//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// explanation is what is checked of `svcstat why --json`.
type explanation struct {
	Standing   string   `json:"standing"`
	NoRestart  string   `json:"no_restart"`
	Sentences  []string `json:"sentences"`
	StartLimit *struct {
		Starts, Used, Automatic int
	} `json:"start_limit"`
	Outlook *struct{ Odds, Why string }      `json:"outlook"`
	Steps   []struct{ Step, Command string } `json:"steps"`
}

// String is the explanation in the words of the truth.
func (e explanation) String() string {
	words := []string{e.Standing}
	if e.NoRestart != "" {
		words = append(words, e.NoRestart)
	}
	for _, s := range e.Steps {
		words = append(words, "+"+s.Step)
	}
	return strings.Join(words, " ")
}

func decodeWhy(t *testing.T, out string) explanation {
	t.Helper()
	var e explanation
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatalf("svcstat why: %v\n%s", err, out)
	}
	return e
}

// answers reads what `svcstat why` has to say of each unit: the lines of the
// truth that begin with why.
func answers(t *testing.T, version int) map[string]string {
	file, err := os.Open(truthFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all := make(map[string]string)
	unit := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "["):
			name, condition, _ := strings.Cut(strings.Trim(line, "[]"), " ")
			unit = ""
			if holds(t, condition, version) {
				unit = name + ".service"
			}
		case strings.HasPrefix(line, "why") && unit != "":
			head, answer, _ := strings.Cut(line, ": ")
			if holds(t, strings.TrimPrefix(head, "why"), version) {
				all[unit] = answer
			}
		}
	}
	return all
}

// inSentences is what svcstat why says of a cause.
var inSentences = map[string]string{
	"clean": "It ended by itself, in a way that counts as success.", "result=exec-condition": "ExecCondition= said that it is not to run.",
	"exit-code": " exited with code ", "signal": " died of SIG", "core-dump": " and dumped its core", "exec": "Its command could not be executed",
	"oom": "killed for lack of memory", "watchdog": "It missed its watchdog", "unhealthy": ", and svcrun drained it.",
	"start-timeout": "It was not ready in time", "stop-timeout": "It did not stop in time", "protocol": "It broke the rules of ",
	"stop-requested": "A stop was asked for", "unknown": "Of its end this is known: ",
	"start-limit": "the start limit is hit", "dependency": "a unit that it needs had failed",
}

// checkSentences: the cause of the last run that has ended stands in a sentence,
// and why a start after it was refused.
func checkSentences(t *testing.T, unit string, happened []string, told explanation) {
	t.Helper()
	said := strings.Join(told.Sentences, "\n")
	for _, line := range slices.Backward(happened) {
		words := strings.Fields(line)
		i := slices.IndexFunc(words, func(word string) bool { return slices.Contains([]string{"ready", "never", "refused", "lost"}, word) })
		if words[i+1] == "running" {
			continue
		}
		cause := words[i+1]
		if _, named := inSentences[words[len(words)-1]]; named {
			cause = words[len(words)-1]
		}
		if want := inSentences[cause]; want == "" || !strings.Contains(said, want) {
			t.Errorf("%s: of %q why says, without %q:\n%s", unit, line, want, said)
		}
		if words[i] != "refused" {
			return
		}
	}
}

func checkWhy(t *testing.T, m *labtest.Machine, happened map[string][]string, told map[string]answer) {
	want := answers(t, m.Version())
	for unit, answer := range told {
		got := answer.explanation(t)
		if got.String() != want[unit] {
			t.Errorf("%s: why says %q, want %q\n%s", unit, got, want[unit], strings.Join(got.Sentences, "\n"))
		}
		checkSentences(t, unit, happened[unit], got)
	}
	// RestartSec=1000 with the default limit of five starts in ten seconds.
	if got := told["waiting.service"].explanation(t); got.Outlook == nil || got.Outlook.Odds != "never-trips" {
		t.Errorf("waiting.service: outlook %+v", got.Outlook)
	}
}
