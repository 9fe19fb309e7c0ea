package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svckit/svckit/internal/manager"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"svcgen": func() {
			if manager.IsShim(os.Args) {
				os.Exit(manager.Shim(os.Args))
			}
			here := thisHost()
			here.defaults = "machine.yaml" // of the script, if it has one
			here.places = placesHere
			os.Exit(program{os.Stdin, os.Stdout, os.Stderr, here}.run(os.Args))
		},
	})
}

// TestScripts runs the promises of the command line, a file for each subject.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0")      // or each svcgen of a -race run takes a second to end
			svcrun := filepath.Join(env.WorkDir, "svcrun") // of the script, if it has one
			if err := os.Chmod(svcrun, 0o755); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
	})
}

// placesHere has the directories of services in the script's own.
func placesHere() *manager.Host {
	h := manager.ThisHost(os.Getenv)
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	h.Runtime, h.State = filepath.Join(dir, "run"), filepath.Join(dir, "state")
	return h
}

// exits runs a command that has to end with a code: exits 65 svcgen generate x.yaml.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
