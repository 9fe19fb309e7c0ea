package proc

import (
	"os"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// heir has a shell start a process, and returns the pids of both. The heir ends
// with CODE when the FIFO go is written to; the shell as then says.
func (r *reaped) heir(code, then string) (parent, pid int, ended chan machine.Status, end func()) {
	r.t.Helper()
	dir := r.t.TempDir()
	if err := unix.Mkfifo(dir+"/go", 0o600); err != nil {
		r.t.Fatal(err)
	}
	pids := told(r.t, dir+"/pid")
	parent, ended = r.sh("(read x <" + dir + "/go; exit " + code + ") & echo $! >" + dir + "/pid; " + then)
	pid, err := strconv.Atoi(pids())
	if err != nil {
		r.t.Fatal(err)
	}
	return parent, pid, ended, func() {
		if err := os.WriteFile(dir+"/go", []byte("go\n"), 0o600); err != nil {
			r.t.Error(err)
		}
	}
}

func TestAdoptedProcessIsWaitedForAsAChildOnceItsParentHasGone(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		parent, pid, _, end := r.heir("7", "exec sleep 600")
		ended := make(chan machine.Status, 1)
		a, err := r.Adopt(pid, parent, ended)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if a.PID != pid || a.Group != parent || a.Ended() {
			t.Errorf("adopted %+v, ended %v; want %d of the group %d", a, a.Ended(), pid, parent)
		}
		handle := pidfd(t, parent)
		if err := unix.Kill(parent, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		gone(t, handle)
		end()
		if got := r.status(ended); got != (machine.Status{Code: 7}) {
			t.Errorf("it ended with %+v; want 7", got)
		}
		if !a.Wait() {
			t.Error("its end was not seen")
		}
	})
}

func TestAdoptedProcessThatItsParentReapsIsSeenToEnd(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		parent, pid, first, end := r.heir("7", "wait; sleep 600; exit 3")
		ended := make(chan machine.Status, 1)
		a, err := r.Adopt(pid, parent, ended)
		if err != nil {
			t.Fatal(err)
		}
		end()
		if !a.Wait() || !a.Ended() {
			t.Error("its end was not seen")
		}
		select {
		case s := <-ended:
			t.Errorf("its status is %+v, which its parent has taken", s)
		default:
		}
		if !r.Release(pid) || r.Release(pid) {
			t.Error("Release does not say whether the status was waited for")
		}
		again, err := r.Adopt(parent, pid, first) // svcrun's own child once more
		if err != nil {
			t.Fatal(err)
		}
		again.Signal(syntax.SIGKILL)
		r.SignalGroup(parent, syntax.SIGKILL)
		if got := r.status(first); got.Signal != syntax.SIGKILL {
			t.Errorf("the parent ended with %+v", got)
		}
		a.Close()
		again.Close()
	})
}

func TestNoStrangerIsAdopted(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		pid, ended := r.sh("exec sleep 600")
		probe := shell("exec sleep 600")
		probe.Helper = true
		helped := make(chan machine.Status, 1)
		helper, err := r.Start(probe, helped)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = r.Adopt(1, pid, nil) // the first makes the runtime's poller
		before := descriptors(t)
		for _, stranger := range []int{1, os.Getpid(), os.Getppid(), helper, 1 << 22, -1, 0} {
			if _, err := r.Adopt(stranger, pid, make(chan machine.Status, 1)); err == nil {
				t.Errorf("%d was adopted", stranger)
			}
		}
		if after := descriptors(t); after != before {
			t.Errorf("%d descriptors are open; want the %d from before", after, before)
		}
		r.SignalGroup(helper, syntax.SIGKILL)
		r.SignalChild(pid, syntax.SIGKILL) // still waited for
		r.status(helped)
		if got := r.status(ended); got.Signal != syntax.SIGKILL {
			t.Errorf("the child ended with %+v", got)
		}
	})
}

func TestCloseEndsTheWaitForAnAdoptedProcess(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		pid, ended := r.sh("exec sleep 600")
		a, err := r.Adopt(pid, pid, ended)
		if err != nil {
			t.Fatal(err)
		}
		over := make(chan bool)
		go func() { over <- a.Wait() }()
		a.Close()
		select {
		case saw := <-over:
			if saw {
				t.Error("the end of a process that lives was seen")
			}
		case <-time.After(patience):
			t.Error("Wait goes on after Close")
		}
		_ = unix.Kill(pid, unix.SIGKILL)
	})
}
