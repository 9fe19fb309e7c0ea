package manager

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/timeline"
)

// atTerminal has a manager run at a new terminal, as the leader of its session:
// what is written to keys is typed there.
func atTerminal(t *testing.T) (keys *os.File, prepare func(*exec.Cmd)) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("skipped: there are no terminals here: %v", err)
	}
	keys = os.NewFile(uintptr(fd), "ptmx")
	t.Cleanup(func() { _ = keys.Close() })
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	return keys, func(cmd *exec.Cmd) {
		cmd.Stdin = screen
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	}
}

func TestCtrlCReachesTheManagerAloneWhichDrains(t *testing.T) {
	t.Parallel()
	keys, prepare := atTerminal(t)
	m := manage(t, shell("typed", "trap 'echo INT' INT; trap 'echo TERM; exit 0' TERM; (: </dev/tty) 2>/dev/null || echo no terminal; "+
		"echo up; while :; do sleep 0.02; done", ""), prepare)
	m.prints("no terminal")
	m.prints("up")
	if _, err := keys.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	m.until("TERM", func(e event) bool {
		if e.Text == "INT" {
			t.Error("the service was interrupted by the terminal")
		}
		return e.Text == "TERM"
	})
	m.ends(0)
}

func TestTheEndOfTheSessionDrainsTheServices(t *testing.T) {
	t.Parallel()
	keys, prepare := atTerminal(t)
	m := manage(t, shell("hung-up", "trap 'echo HUP' HUP; trap 'echo TERM; exit 0' TERM; echo up; while :; do sleep 0.02; done", ""), prepare)
	m.prints("up")
	m.nth(1, timeline.Ready)
	_ = keys.Close()
	m.prints("TERM")
	m.ends(0)
}

func TestSIGHUPReloadsAServiceWhereNoTerminalHasGone(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("reloads", "trap 'echo HUP' HUP; trap 'exit 0' TERM; echo up; while :; do sleep 0.02; done", "reload: {signal: HUP}\n"))
	m.prints("up")
	m.nth(1, timeline.Ready)
	m.signal(syscall.SIGHUP)
	m.prints("HUP")
	m.nth(1, timeline.Reloaded)
	m.signal(syscall.SIGTERM)
	m.ends(0)
}

// A window that is resized is no word to a server: nginx and httpd take SIGWINCH
// for a wish to stop.
func TestTheSizeOfAWindowIsNoneOfTheServices(t *testing.T) {
	t.Parallel()
	keys, prepare := atTerminal(t)
	m := manage(t, shell("resized", "trap 'echo WINCH' WINCH; trap 'echo USR1' USR1; trap 'exit 0' TERM; echo up; while :; do sleep 0.02; done", ""), prepare)
	m.prints("up")
	if err := unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 100}); err != nil {
		t.Fatal(err)
	}
	m.signal(syscall.SIGUSR1)
	m.prints("USR1")
	m.signal(syscall.SIGTERM)
	m.ends(0)
	for _, e := range m.events {
		if e.Text == "WINCH" {
			t.Error("the service was told")
		}
	}
}
