package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

func TestEveryExitCodeComesBack(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		for first := 0; first < 256; first += 32 {
			waits := make([]chan machine.Status, 32)
			for i := range waits {
				_, waits[i] = r.sh(fmt.Sprintf("exit %d", first+i))
			}
			for i, ended := range waits {
				if got, want := r.status(ended), (machine.Status{Code: first + i}); got != want {
					t.Errorf("exit %d came back as %v", want.Code, got)
				}
			}
		}
	})
}

func TestEveryFatalSignalComesBack(t *testing.T) {
	alone(t, func(t *testing.T) {
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
			t.Fatal(err)
		}
		r := newReaped(t)
		for _, s := range fatal() {
			pid, ended := r.sh("exec sleep 100")
			r.SignalChild(pid, s)
			got := r.status(ended)
			if piped() {
				got.Core = false
			}
			if want := (machine.Status{Signal: s}); got != want {
				t.Errorf("%v came back as %v", want, got)
			}
		}
	})
}

func TestACoreIsTold(t *testing.T) {
	alone(t, func(t *testing.T) {
		needCores(t)
		r := newReaped(t)
		_, ended := r.sh("kill -SEGV $$")
		if got, want := r.status(ended), (machine.Status{Signal: 11, Core: true}); got != want {
			t.Errorf("a death with a core came back as %v", got)
		}
	})
}

// A child may end before Start has returned.
func TestNoEndOfAFastChildIsLost(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		for range 20 {
			waits := map[int]chan machine.Status{}
			for range 50 {
				ended := make(chan machine.Status, 1)
				pid, err := r.Start(Command{Path: "/bin/true", Argv: []string{"true"}}, ended)
				if err != nil {
					t.Fatal(err)
				}
				waits[pid] = ended
			}
			for pid, ended := range waits {
				if got := r.status(ended); got != (machine.Status{}) {
					t.Errorf("%d: %v", pid, got)
				}
			}
		}
	})
}

func TestOrphansAreReapedAndNeverTakenForAChild(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		var waits []chan machine.Status
		for i := range 20 {
			// Each leaves four behind, which end before it, with it and after it.
			_, ended := r.sh(fmt.Sprintf("for d in 0 0 0.01 0.02; do (sleep $d; exit 99) & done; exit %d", i))
			waits = append(waits, ended)
		}
		for i, ended := range waits {
			if got, want := r.status(ended), (machine.Status{Code: i}); got != want {
				t.Errorf("child %d: %v", i, got)
			}
		}
		// newReaped's end holds that the orphans are reaped.
	})
}

func TestReapSaysWhetherAnyChildIsLeft(t *testing.T) {
	alone(t, func(t *testing.T) {
		table, err := NewTable()
		if err != nil {
			t.Fatal(err)
		}
		if n, left := table.Reap(); n != 0 || left {
			t.Errorf("without children: reaped %d, left %v", n, left)
		}
		ended := make(chan machine.Status, 1)
		pid, err := table.Start(shell("exec sleep 100"), ended)
		if err != nil {
			t.Fatal(err)
		}
		if n, left := table.Reap(); n != 0 || !left {
			t.Errorf("with a living child: reaped %d, left %v", n, left)
		}
		fd := pidfd(t, pid)
		table.SignalChild(pid, syntax.SIGKILL)
		gone(t, fd)
		if n, left := table.Reap(); n != 1 || left || len(ended) != 1 {
			t.Errorf("after its end: reaped %d, left %v, %d statuses", n, left, len(ended))
		}
	})
}

func TestAChildLeadsAGroupOfItsOwn(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		pid, ended := r.sh("exec sleep 100")
		if group, err := unix.Getpgid(pid); err != nil || group != pid {
			t.Errorf("child %d is in group %d (%v)", pid, group, err)
		}
		r.SignalGroup(pid, syntax.SIGTERM)
		r.status(ended)
	})
}

func TestACommandGetsItsArgumentsEnvironmentDirectoryAndOutput(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		c := shell(`echo "$0 $A $B $(pwd)"; echo error >&2; cat`)
		c.Argv = append(c.Argv, "name")
		c.Env = append(c.Env, "A=1")
		c.Dir, c.Out = dir, out
		ended := make(chan machine.Status, 1)
		if _, err := r.Start(c, ended); err != nil {
			t.Fatal(err)
		}
		if s := r.status(ended); s != (machine.Status{}) {
			t.Error(s)
		}
		text, _ := os.ReadFile(out.Name())
		if want := "name 1  " + dir + "\nerror\n"; string(text) != want {
			t.Errorf("it wrote %q; want %q, and nothing to read", text, want)
		}
	})
}

func TestACommandThatCannotBeExecutedLeavesNothing(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		script := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(script, []byte("no interpreter\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		before := descriptors(t)
		for path, want := range map[string]error{
			"/nowhere/x": syscall.ENOENT, "/etc": syscall.EACCES, "/etc/passwd": syscall.EACCES, script: syscall.ENOEXEC,
		} {
			if _, err := r.Start(Command{Path: path, Argv: []string{"x"}}, make(chan machine.Status, 1)); !errors.Is(err, want) {
				t.Errorf("%s: %v; want %v", path, err, want)
			}
		}
		if n := len(r.waiting); n != 0 {
			t.Errorf("%d are waited for", n)
		}
		if after := descriptors(t); after != before {
			t.Errorf("%d descriptors, before %d", after, before)
		}
	})
}

func TestDescendantsThatLeftTheirSessionAreFoundAndKilled(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		// A daemon of the old school: setsid, and its parent gone at once.
		pid, ended := r.sh(`(setsid sh -c 'trap "" TERM HUP; echo $$ >'` + fifo + `'; while :; do sleep 100; done' &); exit 5`)
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
		pid, ended := r.sh("(echo in >" + fifo + "; exec sleep 100) & exit 0")
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
		got, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "100"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}})
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
		pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "100"},
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
		r := newReaped(t)
		main, ended := r.sh("exec sleep 100")
		helper, helperEnded := 0, make(chan machine.Status, 1)
		c := shell("sleep 100 & wait")
		c.Helper = true
		helper, err := r.Start(c, helperEnded)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Service() {
			if p.Group == helper {
				t.Errorf("a probe's process is the service's: %+v", p)
			}
			if p.PID == main {
				main = 0
			}
		}
		if main != 0 {
			t.Errorf("the main process is not among %+v", r.Service())
		}
		r.KillHelpers()
		if s := r.status(helperEnded); s.Signal != syntax.SIGKILL {
			t.Errorf("the probe %v", s)
		}
		r.forget(helper)
		for _, p := range r.Service() {
			r.SignalGroup(p.Group, syntax.SIGKILL)
		}
		r.status(ended)
	})
}

// What started svcrun may SIGKILL it: then nobody is left to stop the child.
func TestAChildDiesWithItsParent(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	tell := told(t, fifo)
	pid, err := syscall.ForkExec(os.Args[0], os.Args[:1], &syscall.ProcAttr{
		Env: append(os.Environ(), parentEnv+"="+fifo), Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	line := tell()
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	fd := pidfd(t, child)
	_ = unix.Kill(pid, unix.SIGKILL)
	var ws unix.WaitStatus
	_, _ = unix.Wait4(pid, &ws, 0, nil)
	gone(t, fd)
}

// skipAlone skips the test that alone runs, aloud.
func skipAlone(t *testing.T, format string, args ...any) {
	t.Helper()
	fmt.Printf("skip: "+format+"\n", args...)
	t.Skipf(format, args...)
}

// needCores skips where the kernel would write no core into this directory.
func needCores(t *testing.T) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Max == 0 {
		skipAlone(t, "no cores here: RLIMIT_CORE is %d (%v)", limit.Max, err)
	}
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		t.Fatal(err)
	}
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	if piped() || strings.Contains(string(pattern), "/") {
		skipAlone(t, "cores go elsewhere here: core_pattern is %s", pattern)
	}
}

// descriptors counts the open descriptors of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
