//go:build linux

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
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

func checkWhy(t *testing.T, m *labtest.Machine, told map[string]answer) {
	want := answers(t, m.Version())
	for unit, answer := range told {
		if got := answer.explanation(t); got.String() != want[unit] {
			t.Errorf("%s: why says %q, want %q\n%s", unit, got, want[unit], strings.Join(got.Sentences, "\n"))
		}
	}
	// RestartSec=1000 with the default limit of five starts in ten seconds.
	if got := told["waiting.service"].explanation(t); got.Outlook == nil || got.Outlook.Odds != "never-trips" {
		t.Errorf("waiting.service: outlook %+v", got.Outlook)
	}
}
