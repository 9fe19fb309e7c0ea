package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

func TestDescendantsThatLeftTheirSessionAreFoundAndKilled(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		// A daemon of the old school: setsid, and its parent gone at once.
		pid, ended := r.sh(`(setsid sh -c 'trap "" TERM HUP; echo $$ >'` + fifo + `'; exec sleep 600' &); exit 5`)
		if s := r.status(ended); s.Code != 5 {
			t.Errorf("its parent %v", s)
		}
		daemon, err := strconv.Atoi(tell())
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, p := range Descendants() {
			found = found || p.PID == daemon && p.Group != pid && p.Parent == os.Getpid()
		}
		if !found {
			t.Errorf("%d is not among %+v", daemon, Descendants())
		}
		r.SignalGroup(pid, syntax.SIGKILL) // reaches nobody
		if err := unix.Kill(daemon, 0); err != nil {
			t.Error(err)
		}
		for left := Descendants(); len(left) > 0; left = Descendants() {
			SignalAll(left, syntax.SIGKILL)
		}
	})
}

func TestAGroupIsSignalledAfterItsLeaderHasGone(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		pid, ended := r.sh("(echo in >" + fifo + "; exec sleep 600) & exit 0")
		r.status(ended)
		tell()
		r.SignalGroup(pid, syntax.SIGKILL)
		// newReaped's end holds that it is dead.
	})
}

// The number of a process that was reaped may be another's, and then a signal
// to it would hit a stranger.
func TestAReapedProcessIsNeverSignalled(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		pid, ended := r.sh("exit 0")
		r.status(ended)
		other := reuse(t, pid)
		fd := pidfd(t, other)
		r.SignalChild(pid, syntax.SIGKILL)
		r.KillHelpers()
		if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 50); n != 0 {
			t.Error("another process of that number was hit")
		}
		_ = unix.Kill(other, unix.SIGKILL)
		gone(t, fd)
	})
}

// reuse starts a process, past the Table, under the number of one that is gone.
func reuse(t *testing.T, pid int) int {
	const last = "/proc/sys/kernel/ns_last_pid"
	for range 100 { // others fork as well
		if err := os.WriteFile(last, []byte(strconv.Itoa(pid-1)), 0); err != nil {
			skipAlone(t, "a process's number cannot be chosen here: %v", err)
		}
		got, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "600"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		if got == pid {
			return got
		}
		_ = unix.Kill(got, unix.SIGKILL)
	}
	skipAlone(t, "the number %d was taken each time", pid)
	return 0
}

// The number of a group that is gone may be another's as well.
func TestAStrangersGroupIsNeverSignalled(t *testing.T) {
	const strangerEnv = "SVCKIT_PROC_STRANGER"
	if os.Getenv(aloneEnv) == "" {
		pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "600"},
			&syscall.ProcAttr{Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			var ws unix.WaitStatus
			if got, _ := unix.Wait4(pid, &ws, unix.WNOHANG, nil); got != 0 {
				t.Errorf("the stranger is dead: %v", status(ws))
				return
			}
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, &ws, 0, nil)
		})
		t.Setenv(strangerEnv, strconv.Itoa(pid))
	}
	alone(t, func(t *testing.T) {
		stranger, err := strconv.Atoi(os.Getenv(strangerEnv))
		if err != nil {
			t.Fatal(err)
		}
		r := newReaped(t)
		r.SignalGroup(stranger, syntax.SIGKILL)
		r.SignalChild(stranger, syntax.SIGKILL)
	})
}

func TestTheServiceIsAllButProbesAndHooks(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		up := told(t, fifo)
		r := newReaped(t)
		main, ended := r.sh("exec sleep 600")
		probe := make(chan error, 1)
		go func() {
			_, err := r.Run(t.Context(), family(fifo))
			probe <- err
		}()
		up()
		all, service := Descendants(), r.Service()
		if len(all) < 3 || len(service) != 1 || service[0].PID != main {
			t.Errorf("the service is %+v of %+v; want %d alone", service, all, main)
		}
		r.KillHelpers()
		for _, p := range all {
			if p.PID != main && !dying(p.PID) {
				t.Errorf("alive after KillHelpers: %+v", p)
			}
		}
		if err := <-probe; err != nil {
			t.Errorf("Run: %v", err)
		}
		r.SignalChild(main, syntax.SIGTERM)
		r.status(ended)
	})
}

// What started svcrun may SIGKILL it: then nobody is left to stop the child.
func TestAChildDiesWithItsParent(t *testing.T) {
	for _, shim := range []string{"", "yes"} {
		t.Run("shim="+shim, func(t *testing.T) {
			childDiesWithItsParent(t, shimEnv+"="+shim)
		})
	}
}

func childDiesWithItsParent(t *testing.T, setting string) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	tell := told(t, fifo)
	pid, err := syscall.ForkExec(os.Args[0], os.Args[:1], &syscall.ProcAttr{
		Env: append(os.Environ(), parentEnv+"="+fifo, setting), Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
	})
	var fd int
	for range 2 { // in whichever order
		line := strings.TrimSpace(tell())
		if line == "churned" {
			continue
		}
		child, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		fd = pidfd(t, child)
	}
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); n != 0 {
		t.Fatal("the child has died with a thread of its parent's")
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	gone(t, fd)
}
