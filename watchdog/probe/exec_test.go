package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/svckit/svckit/watchdog"
)

// runner answers as a test says, and notes what it was asked to run.
type runner struct {
	result Result
	err    error
	hangs  bool
	argv   []string
}

func (r *runner) Run(ctx context.Context, argv []string) (Result, error) {
	r.argv = argv
	if r.hangs {
		<-ctx.Done()
		return Result{}, ctx.Err()
	}
	return r.result, r.err
}

func TestCommandsHoldWhenTheyExitZero(t *testing.T) {
	run := &runner{result: Result{Output: "all is well"}}
	if err := askWith(t, `exec:/usr/bin/redis-cli -h 'a b' ping`, run); err != nil {
		t.Error(err)
	}
	if want := []string{"/usr/bin/redis-cli", "-h", "a b", "ping"}; !slices.Equal(run.argv, want) {
		t.Errorf("ran %q, want %q", run.argv, want)
	}
}

func TestFailedCommandsSayHowTheyEndedAndTheirLastLine(t *testing.T) {
	for want, run := range map[string]*runner{
		"exit status 1":                   {result: Result{Code: 1}},
		"exit status 255":                 {result: Result{Code: 255, Output: " \n\n"}},
		"exit status 2: CRITICAL - load":  {result: Result{Code: 2, Output: "trying\nCRITICAL - load \r\n\n"}},
		"killed by SIGSEGV":               {result: Result{Signal: 11}},
		"killed by SIGRTMIN+3: oops":      {result: Result{Signal: 37, Output: "oops"}},
		"exit status 1: a? b?[31m?":       {result: Result{Code: 1, Output: "a\x00 b\x1b[31m\xff"}},
		"cannot run x: permission denied": {err: fmt.Errorf("fork: %w", syscall.EACCES)},
		"cannot run x: out of luck":       {err: errors.New("out of luck")},
	} {
		if err := askWith(t, "exec:/opt/x", run); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestHangingCommandFailsAtItsTimeout(t *testing.T) {
	err := askWith(t, "exec:/opt/x,timeout=20ms", &runner{hangs: true})
	if err == nil || err.Error() != "timeout after 20ms" || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestLongFailuresAreCutBetweenCharacters(t *testing.T) {
	for pad := range 4 {
		run := &runner{result: Result{Code: 1, Output: strings.Repeat("x", pad) + strings.Repeat("€", 1000)}}
		err := askWith(t, "exec:/opt/x", run)
		if err == nil || len(err.Error()) > 160 || len(err.Error()) < 150 || !utf8.ValidString(err.Error()) || !strings.HasSuffix(err.Error(), "€...") {
			t.Errorf("%v", err)
		}
	}
}

func TestWhatCannotBeProbedIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"notify":         "a check of kind notify cannot be probed",
		"fd:3":           "a check of kind fd cannot be probed",
		"exec:/bin/true": "a check of kind exec needs a runner",
		"listen:80":      "cannot attribute: the processes of the service are not known",
		"tcp:h:1,owned":  "cannot attribute: the processes of the service are not known",
	} {
		c, err := watchdog.ParseCheck(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(c, Host{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := New(watchdog.Check{Kind: watchdog.TCP}, Host{}); err == nil {
		t.Error("a check that is not valid is taken")
	}
}
