package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// whole is what of the caught signals is waited for, in however many turns.
func whole(t *testing.T, c *Catcher, want SignalSet) {
	t.Helper()
	for got := SignalSet(0); got != want; {
		come, ok := c.Wait()
		if got |= come; !ok || got&^want != 0 {
			t.Fatalf("%x, %v; want %x", uint64(got), ok, uint64(want))
		}
	}
}

func TestASignalThatNobodyWaitsForYetIsKept(t *testing.T) {
	alone(t, func(t *testing.T) {
		signals := []syntax.Signal{syntax.SIGTERM, syntax.SIGHUP, syntax.SIGUSR1, syntax.SIGCONT, syntax.Signal(unix.SIGCHLD), syntax.SIGABRT, 64}
		c, err := Catch(signals...)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range signals {
			if err := unix.Kill(os.Getpid(), unix.Signal(n)); err != nil {
				t.Fatal(err)
			}
		}
		whole(t, c, NewSignalSet(signals...))
	})
}

func TestSignalsToManyThreadsAtOnceAllCome(t *testing.T) {
	alone(t, func(t *testing.T) {
		c, err := Catch(syntax.SIGTERM, syntax.SIGUSR1, syntax.SIGUSR2)
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			churn(func() {}) // threads come and go meanwhile
		}()
		for range 50 {
			for _, n := range []syntax.Signal{syntax.SIGTERM, syntax.SIGUSR1, syntax.SIGUSR2} {
				go func() { _ = unix.Kill(os.Getpid(), unix.Signal(n)) }()
			}
			whole(t, c, NewSignalSet(syntax.SIGTERM, syntax.SIGUSR1, syntax.SIGUSR2))
		}
		<-sent
	})
}

// A thread that was given a signal, and then no processor, has all signals blocked
// and its own still to note.
func TestASignalThatAnotherHasOvertakenIsWaitedFor(t *testing.T) {
	alone(t, func(t *testing.T) {
		c, err := Catch(syntax.SIGTERM, syntax.Signal(unix.SIGCHLD))
		if err != nil {
			t.Fatal(err)
		}
		starved, run := make(chan struct{}), make(chan struct{})
		go func() {
			runtime.LockOSThread() // the thread ends with its mask
			all := unix.Sigset_t{}
			for i := range all.Val {
				all.Val[i] = ^uint64(0)
			}
			var before unix.Sigset_t
			if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
				t.Error(err)
			}
			if err := unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTERM); err != nil {
				t.Error(err)
			}
			close(starved)
			<-run
			if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
				t.Error(err)
			}
		}()
		<-starved
		if err := unix.Kill(os.Getpid(), unix.SIGCHLD); err != nil {
			t.Fatal(err)
		}
		whole(t, c, NewSignalSet(syntax.Signal(unix.SIGCHLD)))
		if !handling() {
			t.Error("nobody is seen to handle a signal")
		}
		close(run)
		if got, want := c.Overtaken(), NewSignalSet(syntax.SIGTERM); got != want {
			t.Errorf("%x was overtaken; want %x", uint64(got), uint64(want))
		}
	})
}

func TestACommandFindsCaughtSignalsAtTheirDefaults(t *testing.T) {
	alone(t, func(t *testing.T) {
		if _, err := Catch(syntax.SIGTERM, syntax.SIGHUP, syntax.SIGCONT, syntax.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		r.begin(shell(`while read name value; do case $name in SigBlk:|SigIgn:) echo $name $value;; esac; done </proc/$$/status >` + fifo))
		for _, name := range []string{"SigBlk", "SigIgn"} {
			if got, want := tell(), name+": 0000000000000000"; got != want {
				t.Errorf("%s; want %s", got, want)
			}
		}
	})
}

func TestTheHandlerWorksOnEachArchitecture(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			run := buildFor(t, arch, "", "./testdata/catch")
			want := strconv.FormatUint(uint64(NewSignalSet(syntax.SIGTERM, syntax.SIGHUP, syntax.Signal(unix.SIGCHLD), syntax.SIGUSR2)), 16) + "\n"
			if got := run(t, ""); got != want {
				t.Errorf("%q; want %q, on %s", got, want, runtime.GOARCH)
			}
		})
	}
}
