package lab

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// The scripts run mount(8) and its kin in namespaces of their own. They are
// shell because that is what they do: thirty commands in a row.
var (
	//go:embed boot.sh
	bootScript string
	//go:embed enter.sh
	enterScript string
	//go:embed build.sh
	buildScript string
	//go:embed customize.sh
	customizeScript string
	//go:embed probe.sh
	probeScript string
	//go:embed sweep.sh
	sweepScript string
)

// guestPath is PATH in the machine, and sbinPath what the scripts need on the
// host: a plain user's PATH lacks the sbin directories.
const (
	guestPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	sbinPath  = "PATH=" + guestPath
)

// script makes a command of a script: in its own session, so that a terminal's
// ^C reaches the test binary and not the machine, and with the given
// namespaces. It is killed with the thread that starts it, see [startLocked].
func script(text string, namespaces uintptr, env ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-euc", text)
	cmd.Env = append([]string{sbinPath, "LC_ALL=C.UTF-8"}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: namespaces,
		Pdeathsig:  syscall.SIGKILL,
	}
	return cmd
}

// runScript runs a script to its end or the context's, and returns what it
// wrote. An error carries the last lines of that.
func runScript(ctx context.Context, cmd *exec.Cmd) (string, error) {
	out := &Tail{}
	cmd.Stdout, cmd.Stderr = out, out
	ended, err := startLocked(cmd)
	if err != nil {
		return "", err
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = errors.Join(ctx.Err(), cmd.Process.Kill())
		<-ended //nolint:errcheck // it is killed
	}
	if err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, lastLines(out.String(), 15))
	}
	return out.String(), nil
}

// waitDelay is how long output may come after a process has ended, from others
// that hold its pipes.
const waitDelay = 5 * time.Second

// startLocked starts a command whose Pdeathsig shall mean the death of this
// process. The kernel ties it to the thread that forks, so that thread is kept
// until the command has ended. The channel then gives what Wait returned.
func startLocked(cmd *exec.Cmd) (<-chan error, error) {
	cmd.WaitDelay = waitDelay
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
		close(ended)
	}()
	return ended, <-started
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
