package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// endOf runs a process in dir that ends by Die(s, own), and says how its parent
// saw it end.
func endOf(t *testing.T, s machine.Status, dir, own string) machine.Status {
	t.Helper()
	pid, err := syscall.ForkExec(os.Args[0], os.Args[:1], &syscall.ProcAttr{
		Dir: dir, Files: []uintptr{0, 1, 2},
		Env: append(os.Environ(), quickEnd, fmt.Sprintf("%s=%d %d %v %s", dieEnv, s.Code, s.Signal, s.Core, own)),
	})
	if err != nil {
		t.Fatal(err)
	}
	var ws unix.WaitStatus
	for {
		if _, err := unix.Wait4(pid, &ws, 0, nil); err != unix.EINTR {
			return status(ws)
		}
	}
}

// The exit codes are few here: cmd/svcrun has all 256, of a whole svcrun.
func TestDieExitsWithTheCode(t *testing.T) {
	for _, code := range []int{0, 1, 2, 64, 69, 127, 128, 137, 203, 255} {
		if got, want := endOf(t, machine.Status{Code: code}, "", ""), (machine.Status{Code: code}); got != want {
			t.Errorf("Die(%v) was seen as %v", want, got)
		}
	}
}

func TestDieDiesOfTheSameSignalWithoutACore(t *testing.T) {
	dir := t.TempDir()
	for _, s := range fatal() {
		if got, want := endOf(t, machine.Status{Signal: s}, dir, ""), (machine.Status{Signal: s}); got != want {
			t.Errorf("Die(%v) was seen as %v", want, got)
		}
	}
	if left, _ := filepath.Glob(dir + "/*"); left != nil {
		t.Errorf("a core was left: %v", left)
	}
}

// dumping are the signals whose default is a core.
var dumping = []syntax.Signal{3, 4, 5, 6, 7, 8, 11, 24, 25, 31}

func TestDieLeavesASmallCoreWhereTheChildLeftOne(t *testing.T) {
	alone(t, func(t *testing.T) {
		needCores(t)
		// The child may have raised its own limit.
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
			t.Fatal(err)
		}
		limit.Cur = 0
		if err := unix.Setrlimit(unix.RLIMIT_CORE, &limit); err != nil {
			t.Fatal(err)
		}
		for _, s := range dumping {
			dir := t.TempDir()
			if got, want := endOf(t, machine.Status{Signal: s, Core: true}, t.TempDir(), dir), (machine.Status{Signal: s, Core: true}); got != want {
				t.Errorf("Die(%v) was seen as %v", want, got)
			}
			cores, _ := filepath.Glob(dir + "/*")
			if len(cores) != 1 {
				t.Errorf("%v: cores are %v", s, cores)
				continue
			}
			if info, err := os.Stat(cores[0]); err != nil || info.Size() > 1<<20 {
				t.Errorf("%v: the core has %d bytes, for nothing in it (%v)", s, info.Size(), err)
			}
		}
	})
}

// The child's core, which a hang or a crash is debugged with, must not be
// overwritten by svcrun's own empty one.
func TestDieNeverOverwritesTheChildsCore(t *testing.T) {
	alone(t, func(t *testing.T) {
		needCores(t)
		dir := t.TempDir()
		const precious = "the child's core"
		name := filepath.Join(dir, coreName(t))
		if err := os.WriteFile(name, []byte(precious), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"", "/nowhere", t.TempDir()} {
			if got := endOf(t, machine.Status{Signal: syntax.SIGABRT, Core: true}, dir, own); got.Signal != syntax.SIGABRT {
				t.Errorf("died as %v", got)
			}
			if text, err := os.ReadFile(name); err != nil || string(text) != precious {
				t.Errorf("with %q of its own: the child's core of %d bytes now has %d (%v)", own, len(precious), len(text), err)
			}
		}
	})
}

// coreName is what a core is called whose name says nothing of its process.
func coreName(t *testing.T) string {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSpace(string(pattern))
	if strings.Contains(name, "%") {
		skipAlone(t, "cores have names of their own here: %s", name)
	}
	return name
}
