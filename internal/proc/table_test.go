package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
			pid, ended := r.sh("exec sleep 600")
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
		pid, err := table.Start(shell("exec sleep 600"), ended)
		if err != nil {
			t.Fatal(err)
		}
		if n, left := table.Reap(); n != 0 || !left {
			t.Errorf("with a living child: reaped %d, left %v", n, left)
		}
		fd := pidfd(t, pid)
		if WasKilled(pid) {
			t.Error("a child that lives is dead")
		}
		table.SignalChild(pid, syntax.SIGKILL)
		gone(t, fd)
		if !WasKilled(pid) || WasKilled(os.Getpid()) {
			t.Error("the child's death is not seen, or one that is none")
		}
		if n, left := table.Reap(); n != 1 || left || len(ended) != 1 {
			t.Errorf("after its end: reaped %d, left %v, %d statuses", n, left, len(ended))
		}
	})
}

func TestAChildLeadsAGroupOfItsOwn(t *testing.T) {
	alone(t, func(t *testing.T) {
		r := newReaped(t)
		pid, ended := r.sh("exec sleep 600")
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
