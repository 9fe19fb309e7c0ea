package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// TestMain lets this binary be the service of the readiness scenario, as the
// program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3], os.Args[4])
		return
	}
	os.Exit(m.Run())
}

// svcrunProgram is the one that SVCKIT_BIN names, or one that is built here.
func svcrunProgram(t *testing.T) string {
	if dir := os.Getenv("SVCKIT_BIN"); dir != "" {
		return filepath.Join(dir, ours)
	}
	program := filepath.Join(t.TempDir(), ours)
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-E=svckit_rt0", "-o", program, "../../cmd/svcrun")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build svcrun: %v\n%s", err, out)
	}
	return program
}

// binProgram is the one of that name that SVCKIT_BIN has.
func binProgram(name string) string { return filepath.Join(os.Getenv("SVCKIT_BIN"), name) }

// smoke is a bench that is over soon.
func smoke(t *testing.T) *bench {
	b, err := newBench(t.Context(), options{
		svcrun: svcrunProgram(t), svcgen: binProgram("svcgen"), svcstat: binProgram("svcstat"), entries: leastEntries, rounds: 1, seed: 1, many: 2, age: 1200 * time.Millisecond, idle: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	for _, m := range b.missing {
		t.Log("SKIP: left out:", m)
	}
	return b
}

func TestEveryScenarioMeasuresEveryContenderAndLeavesNothingBehind(t *testing.T) {
	base := smoke(t)
	figures := map[string][]string{
		"ready": {"ready.http", "ready.tcp", "ready.unix", "ready.file", "ready.exec"}, "start": {"start"}, "exit": {"exit"},
		"stop": {"stop", "stop.forward"}, "grace": {"grace"}, "relay": {"relay", "relay.cpu"},
		"memory": {"memory.one", "memory.many", "memory.check"}, "idle": {"idle", "idle.heartbeat", "idle.probe"},
		"generator": {"generator.reload", "generator.alone", "generator.nothing"},
		"history":   {"history", "history.memory", "history.export"},
	}
	t.Run("scenarios", func(t *testing.T) {
		for _, s := range scenarios() {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				switch s.name {
				case "generator":
					needLab(t)
				case "history":
					needJournal(t)
				}
				b := *base
				b.dir, b.samples, b.only, b.random = t.TempDir(), samples{}, []string{s.name}, base.newRandom()
				if err := b.run(t.Context(), func(string) {}); err != nil {
					t.Fatal(err)
				}
				for _, metric := range figures[s.name] {
					if len(b.samples[metric][ours]) == 0 {
						t.Errorf("%s: no figure of %s", metric, ours)
					}
				}
				var out strings.Builder
				b.report(&out)
				t.Logf("\n%s", out.String())
			})
		}
	})
	t.Run("interrupted", func(t *testing.T) { interrupted(t, *base) })
	if left := running(t, base.dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// needLab skips where the scenario of generators would be left out.
func needLab(t *testing.T) {
	if needs := lab.New().Missing(t.Context(), generatorSuite); len(needs) > 0 {
		t.Skip("NOT TESTED:", needs)
	}
	if _, err := os.Stat(binProgram("svcgen")); err != nil {
		t.Skip("NOT TESTED: SVCKIT_BIN names no directory with svcgen (make build)")
	}
}

// needJournal skips where the scenario of histories would be left out.
func needJournal(t *testing.T) {
	if _, err := findJournalPrograms(); err != nil {
		t.Skip("NOT TESTED:", err)
	}
	if _, err := os.Stat(binProgram("svcstat")); err != nil {
		t.Skip("NOT TESTED: SVCKIT_BIN names no directory with svcstat (make build)")
	}
}

// running are the processes that run a program of dir.
func running(t *testing.T, dir string) (found []string) {
	programs, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if target, err := os.Readlink(p); err == nil && strings.HasPrefix(target, dir) {
			found = append(found, p+" "+target)
		}
	}
	return found
}

// interrupted ends a run while all of its wrappers wait to be stopped.
func interrupted(t *testing.T, b bench) {
	b.samples, b.age, b.only = samples{}, time.Hour, []string{"stop"}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.run(ctx, func(string) {}) }()
	for len(running(t, b.dir)) < 4 {
		if err := pause(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	interrupt()
	if err := <-ended; err == nil {
		t.Error("an interrupted run has no error")
	}
}

func TestUnknownScenarioIsRefusedWithTheKnownOnes(t *testing.T) {
	_, err := parse([]string{"-only", "start,halt"})
	if err == nil || !strings.Contains(err.Error(), `unknown scenario "halt"; there are ready, start`) {
		t.Error(err)
	}
	o, err := parse([]string{"-only", "start,stop", "-rounds", "3", "-gate"})
	if err != nil || !slices.Equal(o.only, []string{"start", "stop"}) || o.rounds != 3 || !o.gate {
		t.Error(o, err)
	}
	if _, err := parse([]string{"more"}); err == nil {
		t.Error("an argument is accepted")
	}
}
