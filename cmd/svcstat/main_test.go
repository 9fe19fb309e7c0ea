package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svckit/svckit/internal/verbs"
)

// The scripts run svcstat itself, and a journalctl that prints a recording.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"svcstat": main, "journalctl": fakeJournalctl})
}

// fakeJournalctl prints the file that JOURNAL names, and then what STDERR
// says; with EXIT set it fails, with HANG it waits for the end. Before any time
// that it is asked for it has nothing.
func fakeJournalctl() {
	before := slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "--until=") })
	text, err := os.ReadFile(os.Getenv("JOURNAL"))
	if err == nil && !before {
		_, _ = os.Stdout.Write(text)
	}
	_, _ = os.Stderr.WriteString(os.Getenv("STDERR"))
	if os.Getenv("HANG") != "" {
		end := make(chan os.Signal, 1)
		signal.Notify(end, syscall.SIGTERM)
		<-end
	}
	if os.Getenv("EXIT") != "" {
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	recordings, err := filepath.Abs("../../history/testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("RECORDINGS", recordings)
			env.Setenv("JOURNAL", filepath.Join(recordings, "257.jsonl"))
			env.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus")
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector sleeps a second at each exit
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exit64": exit64},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exit64 runs a command that must fail as wrong usage.
func exit64(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	if neg || !errors.As(err, &exit) || exit.ExitCode() != verbs.ExitUsage {
		ts.Fatalf("%v ended with %v, want exit code %d", args, err, verbs.ExitUsage)
	}
}
