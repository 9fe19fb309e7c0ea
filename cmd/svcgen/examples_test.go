package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew; commit only what you understand")

// generated runs svcgen in this process, and returns what it printed.
func generated(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := program{strings.NewReader(""), &out, &errs, host{}}
	if code := p.run(append([]string{"svcgen", "generate"}, args...)); code != 0 {
		t.Fatalf("svcgen generate %q: exit code %d\n%s", args, code, errs.String())
	}
	return out.String(), errs.String()
}

// exampleTargets are those that the examples are shown for: one whose systemd
// has no ladder, and one whose has.
var exampleTargets = []string{"debian12", "debian13"}

// eachExample runs a test for each policy in examples and each of the targets.
func eachExample(t *testing.T, test func(t *testing.T, file, target string)) {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal("no examples found", err)
	}
	for _, file := range files {
		for _, target := range exampleTargets {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml") + "." + target
			t.Run(name, func(t *testing.T) { test(t, file, target) })
		}
	}
}

func TestExamplesGiveTheseUnits(t *testing.T) {
	eachExample(t, func(t *testing.T, file, target string) {
		got, _ := generated(t, file, "--target", target)
		golden := filepath.Join("testdata", "golden", strings.TrimSuffix(filepath.Base(file), ".yaml")+"."+target+".service")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s differs; run go test -update if that is meant\n%s", golden, diff)
		}
	})
}

// tooNew is what systemd before 254 says of a ladder, in the words of
// several versions.
var tooNew = regexp.MustCompile(`Unknown key (?:name )?'(?:RestartSteps|RestartMaxDelaySec|ReloadSignal)'|Failed to parse service type, ignoring: notify-reload`)

// TestSystemdHasNothingToSayAboutTheUnits has systemd read the units. Its exit
// code is 0 on warnings too, so that every line it prints counts. A systemd
// older than the target has to complain of what it lacks: that shows that it
// would complain of anything.
func TestSystemdHasNothingToSayAboutTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIP: no systemd-analyze on this machine; the lab reads the units as well")
	}
	out, err := exec.Command(analyze, "--version").Output()
	if err != nil {
		t.Skip("SKIP: systemd-analyze does not run here:", err)
	}
	hasLadder := !strings.HasPrefix(string(out), "systemd 24") && string(out) >= "systemd 254"
	eachExample(t, func(t *testing.T, file, target string) {
		said := verify(t, analyze, file, target)
		unknown := len(tooNew.FindAllString(said, -1))
		switch lines := strings.Count(said, "\n"); {
		case target == "debian13" && !hasLadder:
			if lines < 2 || unknown != lines {
				t.Errorf("an old systemd-analyze should complain of what it does not have, and of nothing else:\n%s", said)
			}
		case lines > 0:
			t.Errorf("systemd-analyze verify:\n%s", said)
		}
	})
}

// verify is what systemd-analyze says of the unit of an example.
func verify(t *testing.T, analyze, file, target string) string {
	t.Helper()
	dir := t.TempDir()
	generated(t, runnable(t, file, dir), "--target", target, "-o", dir, "--svcrun", "/bin/true")
	unit := filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".yaml")+".service")
	cmd := exec.Command(analyze, "verify", "--man=no", "--recursive-errors=no", unit)
	cmd.Env = append(os.Environ(), "SYSTEMD_LOG_COLOR=0")
	said, err := cmd.CombinedOutput()
	if err != nil && len(said) == 0 {
		t.Errorf("systemd-analyze verify: %v", err)
	}
	return string(said)
}

// runnable is the example without an account that this machine may lack.
func runnable(t *testing.T, file, dir string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("user: redis"), []byte("user: root"))
	text = bytes.ReplaceAll(text, []byte("group: redis"), []byte("group: root"))
	path := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
