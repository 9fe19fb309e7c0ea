package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

func TestRunTellsHowTheCommandEnded(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		for script, want := range map[string]machine.Status{
			"exit 0": {}, "exit 7": {Code: 7}, "kill -TERM $$": {Signal: syntax.SIGTERM},
		} {
			if got, err := r.Run(t.Context(), shell(script)); got != want || err != nil {
				t.Errorf("%s: %v, %v; want %v", script, got, err, want)
			}
		}
		if _, err := r.Run(t.Context(), Command{Path: "/nowhere/x", Argv: []string{"x"}}); !errors.Is(err, unix.ENOENT) {
			t.Errorf("a command that is not there: %v", err)
		}
		if n := len(r.helpers) + len(r.waiting); n != 0 {
			t.Errorf("%d entries are left in the table", n)
		}
	})
}

// family is a command of three processes, one of them deaf, that tells fifo
// when it is complete.
func family(fifo string) Command {
	return shell(`(trap "" TERM; echo up >` + fifo + `; sleep 600) & sleep 600 & wait`)
}

func TestTheWholeGroupIsKilledWhenTimeIsUp(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		up := told(t, fifo)
		r := newReaped(t)
		for _, run := range []func(context.Context, Command) error{
			func(ctx context.Context, c Command) error { _, err := r.Run(ctx, c); return err },
			func(ctx context.Context, c Command) error { _, _, err := r.Output(ctx, c); return err },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- run(ctx, family(fifo)) }()
			up()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v; want the context's error", err)
			}
			for _, p := range Descendants() {
				if !dying(p.PID) {
					t.Errorf("alive after Run: %+v", p)
				}
			}
		}
	})
}

// dying says whether SIGKILL is on its way to a process, or has done its work.
func dying(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return true
	}
	defer func() { _ = unix.Close(fd) }()
	n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience/time.Millisecond))
	return n > 0
}

func TestWhatACommandLeavesRunningIsKilledAtItsEnd(t *testing.T) {
	alone(t, func(t *testing.T) {
		up := filepath.Join(t.TempDir(), "up")
		r := newReaped(t)
		// The one left behind is deaf, and holds the output open.
		s, out, err := r.Output(t.Context(), shell(
			`(trap "" TERM; echo left; >`+up+`; sleep 600) & while ! [ -e `+up+` ]; do sleep 0.01; done; exit 3`))
		if s != (machine.Status{Code: 3}) || out != "left\n" || err != nil {
			t.Errorf("%v, %q, %v", s, out, err)
		}
		for _, p := range Descendants() {
			if !dying(p.PID) {
				t.Errorf("alive after Output: %+v", p)
			}
		}
	})
}

func TestNothingGrowsOverManyRuns(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		runs := func() {
			var group sync.WaitGroup
			for i := range 20 {
				group.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
					defer cancel()
					_, _, _ = r.Output(ctx, shell("sleep 0.01 & sleep 0.01; echo x"))
					_, _, _ = r.Output(ctx, Command{Path: "/nowhere/x", Argv: []string{"x"}})
				})
			}
			group.Wait()
		}
		runs()
		descriptorsBefore, goroutines := descriptors(t), runtime.NumGoroutine()
		for range 5 {
			runs()
		}
		if after := descriptors(t); after > descriptorsBefore {
			t.Errorf("%d descriptors, before %d", after, descriptorsBefore)
		}
		for late := time.Now().Add(patience); runtime.NumGoroutine() > goroutines; runtime.Gosched() { // the last may be ending
			if time.Now().After(late) {
				t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), goroutines)
			}
		}
		if n := len(r.helpers) + len(r.waiting); n != 0 {
			t.Errorf("%d entries are left in the table", n)
		}
	})
}

func TestTheTailOfTheOutputIsKept(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		var lines strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&lines, "line %d\n", i)
		}
		want := lines.String()[lines.Len()-maxOutput:]
		for script, want := range map[string]string{
			"echo out; echo err >&2": "out\nerr\n",
			"true":                   "",
			`i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done`: want,
		} {
			if _, got, err := r.Output(t.Context(), shell(script)); got != want || err != nil {
				t.Errorf("%.20s…: kept %d bytes, %.40q…, %v; want %d", script, len(got), got, err, len(want))
			}
		}
	})
}

func TestACommandThatPrintsWithoutEndIsCutOff(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		fifo := filepath.Join(t.TempDir(), "fifo")
		printed := told(t, fifo)
		endless := shell("yes 0123456789 | head -c 200000; echo printed >" + fifo + "; exec yes 0123456789")
		output := func() (out string, err error) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, out, err = r.Output(ctx, endless)
			}()
			printed()
			cancel()
			<-ended
			return out, err
		}
		if out, err := output(); !errors.Is(err, context.Canceled) || len(out) != maxOutput || !strings.Contains(out, "\n0123456789\n") {
			t.Errorf("%v, %d bytes: %.40q…", err, len(out), out)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = output()
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
			t.Errorf("%d bytes were allocated for a tail of %d", grown, maxOutput)
		}
	})
}

func TestWhatWasPrintedBeforeTheDeadlineIsKeptThoughItWasNotReadInTime(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	if _, err := w.WriteString("last words\n"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := tail(r); got != "last words\n" {
		t.Errorf("%q is kept", got)
	}
}

// What has left the command's group and still holds the output is not waited for.
func TestAHolderOfTheOutputOutsideTheGroupIsNotWaitedFor(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		for _, holder := range []string{"sleep 600", "yes"} {
			pidfile := filepath.Join(t.TempDir(), "pid")
			begun := time.Now()
			s, _, err := r.Output(t.Context(), shell(
				`setsid sh -c 'echo $$ >`+pidfile+`; exec `+holder+`' & while ! [ -s `+pidfile+` ]; do sleep 0.01; done; exit 4`))
			if took := time.Since(begun); s != (machine.Status{Code: 4}) || err != nil || took > patience/2 {
				t.Errorf("%s: %v, %v after %v", holder, s, err, took)
			}
			for left := Descendants(); len(left) > 0; left = Descendants() {
				SignalAll(left, syntax.SIGKILL)
			}
		}
	})
}
