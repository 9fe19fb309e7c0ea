package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"

	"github.com/svckit/svckit/internal/syntax"
)

// duplicate has a file open under a number of at least so much that an exec keeps.
func duplicate(t *testing.T, f *os.File, atLeast int) int {
	t.Helper()
	n, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, atLeast)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(n) })
	return n
}

// shimmed is a script by way of the shim.
func shimmed(script string, ignore ...syntax.Signal) Command {
	c := shell(script)
	c.Shim, c.Ignore = true, NewSignalSet(ignore...)
	return c
}

func TestTheShimNamesTheCommandsOwnPid(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		c := shimmed("echo $$ $LISTEN_PID $SYSTEMD_EXEC_PID $LISTEN_PID_ $LISTEN_FDS >" + fifo)
		c.Env = []string{"LISTEN_PID=1", "A=1", "SYSTEMD_EXEC_PID=1", "LISTEN_PID_=x", "LISTEN_FDS=2"}
		pid := r.begin(c)
		if got, want := tell(), fmt.Sprintf("%d %d %d x 2", pid, pid, pid); got != want {
			t.Errorf("pid and variables %q; want %q", got, want)
		}
	})
}

func TestTheShimAddsNoVariable(t *testing.T) {
	given := []string{"A=1", "ODD", "EMPTY=", "LISTEN_PIDS=1"}
	if got := ownPID(given, 7); strings.Join(got, " ") != strings.Join(given, " ") {
		t.Errorf("%q; want %q", got, given)
	}
}

func TestTheShimIgnoresWhatItIsToldTo(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		const read = `while read name value; do [ "$name" = SigIgn: ] && echo $value; done </proc/$$/status >`
		r.begin(shimmed(read+fifo, syntax.SIGUSR1, 11, 27, 64))
		if got, want := tell(), "8000000004000600"; got != want {
			t.Errorf("SigIgn %s; want %s", got, want)
		}
		r.begin(shimmed(read + fifo))
		if got, want := tell(), "0000000000000000"; got != want {
			t.Errorf("SigIgn %s; want %s", got, want)
		}
	})
}

func TestWhatTheShimCannotExecuteIsTheCallersError(t *testing.T) {
	alone(t, func(t *testing.T) {
		dir := t.TempDir()
		plain, text := filepath.Join(dir, "plain"), filepath.Join(dir, "text")
		for file, mode := range map[string]os.FileMode{plain: 0o644, text: 0o755} {
			if err := os.WriteFile(file, []byte("no program\n"), mode); err != nil {
				t.Fatal(err)
			}
		}
		r := newReaped(t)
		before := descriptors(t)
		for path, want := range map[string]error{
			"/nowhere/x": unix.ENOENT, plain: unix.EACCES, text: unix.ENOEXEC, dir: unix.EACCES, plain + "/x": unix.ENOTDIR,
		} {
			c := shimmed("")
			c.Path = path
			if pid, err := r.Start(c, nil); !errors.Is(err, want) || pid != 0 {
				t.Errorf("%s: %d, %v; want %v", path, pid, err, want)
			}
		}
		if n := descriptors(t); n != before {
			t.Errorf("%d descriptors, before %d", n, before)
		}
	})
}

func TestDescriptorsAreFoundUnderTheirNumbers(t *testing.T) {
	for _, shim := range []bool{false, true} {
		t.Run(fmt.Sprintf("shim=%v", shim), func(t *testing.T) {
			alone(t, func(t *testing.T) {
				out, in, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = out.Close() }()
				want := []int{0, 1, 2, 3, 30} // 3 is the directory that ls reads
				want = append(want, InheritedDescriptors()...)
				kept := duplicate(t, in, 20)
				want = append(want, kept)
				r := newReaped(t)
				c := shell(fmt.Sprintf("echo 20 >/proc/self/fd/%d; exec ls /proc/self/fd >/proc/self/fd/30", kept))
				c.Shim, c.Descriptors = shim, map[int]*os.File{30: in}
				r.begin(c)
				_ = in.Close()
				_ = unix.Close(kept)
				text, err := io.ReadAll(out)
				if err != nil {
					t.Fatal(err)
				}
				slices.Sort(want)
				if got := numbers(t, strings.TrimPrefix(string(text), "20\n")); !slices.Equal(got, want) {
					t.Errorf("descriptors %v; want %v", got, want)
				}
			})
		})
	}
}

// begin starts a command and reaps it at the end of the test.
func (r *reaped) begin(c Command) int {
	r.t.Helper()
	ended := make(chan machine.Status, 1)
	pid, err := r.Start(c, ended)
	if err != nil {
		r.t.Fatal(err)
	}
	return pid
}

// numbers reads numbers, and sorts them.
func numbers(t *testing.T, text string) []int {
	t.Helper()
	var found []int
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, n)
	}
	slices.Sort(found)
	return found
}

func TestTheShimLimitsOpenFilesAsFarAsItMay(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		c := shimmed("echo $(ulimit -S -n) $(ulimit -H -n) >" + fifo)
		c.NoFile = 77
		r.begin(c)
		if got := tell(); got != "77 77" {
			t.Errorf("limits %s; want 77 77", got)
		}
	})
}

func TestASessionOfItsOwnHasNoTerminal(t *testing.T) {
	alone(t, func(t *testing.T) {
		fifo := filepath.Join(t.TempDir(), "fifo")
		tell := told(t, fifo)
		r := newReaped(t)
		c := shell("read pid name state parent group session terminal rest </proc/$$/stat; echo $$ $group $session $terminal >" + fifo)
		c.Session = true
		pid := r.begin(c)
		// pid (name) state parent group session terminal
		if got, want := tell(), fmt.Sprintf("%d %d %d 0", pid, pid, pid); got != want {
			t.Errorf("pid, group, session and terminal %q; want %q", got, want)
		}
	})
}
