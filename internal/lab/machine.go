package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// A Machine is a booted systemd. Its methods may be called from several
// goroutines.
type Machine struct {
	lab     *Lab
	suite   Suite
	name    string   // of its control group, and of its socket
	lock    *os.File // keeps the root from being removed
	console *Tail    // what the scripts and process 1 wrote before there was a journal

	notify  *net.UnixConn // on which process 1 says how it is; nil until boot
	process *os.Process   // process 1; nil until it is started
	ended   chan struct{} // closed when process 1 has ended
	version string

	units     atomic.Int64 // counts the names that were given out
	writes    atomic.Int64 // counts the files that were written
	closeOnce sync.Once
	closeErr  error
}

// Suite is the Debian suite that the machine runs.
func (m *Machine) Suite() Suite { return m.suite }

// Pid is process 1 of the machine as the host numbers it: nsenter -t wants it,
// and the machine's files are below /proc/PID/root.
func (m *Machine) Pid() int { return m.process.Pid }

// Ended is closed when the machine has ended, by Close or by itself.
func (m *Machine) Ended() <-chan struct{} { return m.ended }

// FullVersion is the version that the running systemd gives itself, with the
// distribution's part: "252.39-1~deb12u2".
func (m *Machine) FullVersion() string { return m.version }

// Version is the number that systemd's NEWS goes by: 252.
func (m *Machine) Version() int {
	digits := m.version
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	number, _ := strconv.Atoi(digits) // readVersion has seen to it
	return number
}

func (m *Machine) readVersion(ctx context.Context) (string, error) {
	out, err := m.Output(ctx, "systemctl", "show", "--value", "--property=Version")
	version := strings.TrimSpace(out)
	if err == nil && (version == "" || version[0] < '0' || version[0] > '9') {
		err = fmt.Errorf("the %s machine's systemd gives its version as %q, not as a number", m.suite, version)
	}
	return version, err
}

// A Result is how a command ended.
type Result struct {
	Stdout, Stderr string
	// Code is the exit status, or 128 and the signal that killed it.
	Code int
}

// enterGroup moves a command into the machine's group for visitors: else it
// would see a path out of the machine in /proc/self/cgroup.
const enterGroup = `echo 0 >/sys/fs/cgroup/lab/cgroup.procs && exec "$@"`

// ErrEnded says that there is no machine any more. Its pid may be another
// process's by then, so nothing may be asked of that.
var ErrEnded = errors.New("the machine has ended")

func (m *Machine) alive() error {
	select {
	case <-m.ended:
		return ErrEnded
	default:
		return nil
	}
}

// Command prepares a command that runs as root in the machine, outside of all
// units, with an environment of its own. When the context ends, it and the
// processes of its group are killed.
func (m *Machine) Command(ctx context.Context, argv ...string) *exec.Cmd {
	enter := []string{
		"--target", strconv.Itoa(m.Pid()), "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup",
		// The machine's own root and not its mount namespace's, which is the host's
		// where this process itself runs in a chroot.
		"--root", "--wd", "--",
		"/bin/sh", "-c", enterGroup, "sh",
	}
	cmd := exec.CommandContext(ctx, "nsenter", append(enter, argv...)...)
	cmd.Env = []string{"PATH=" + guestPath, "HOME=/root", "LANG=C.UTF-8", "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = waitDelay
	if err := m.alive(); err != nil {
		cmd.Err = err
	}
	return cmd
}

// Exec runs a command in the machine to its end. A command that fails is not an
// error here, one that cannot be run to its end is.
func (m *Machine) Exec(ctx context.Context, argv ...string) (Result, error) {
	var stdout, stderr strings.Builder
	cmd := m.Command(ctx, argv...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	result := Result{Stdout: stdout.String(), Stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return result, fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	case m.alive() != nil:
		return result, fmt.Errorf("%s: %w", argv[0], ErrEnded)
	case !errors.As(err, &exit):
		return result, fmt.Errorf("%s: %w", argv[0], err)
	}
	result.Code = exitCode(exit.Sys().(syscall.WaitStatus))
	return result, nil
}

func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// Output runs a command and returns its standard output. A command that fails
// is an error that tells what it said.
func (m *Machine) Output(ctx context.Context, argv ...string) (string, error) {
	result, err := m.Exec(ctx, argv...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("%s: exit code %d\n%s", strings.Join(argv, " "), result.Code, lastLines(result.Stdout+result.Stderr, 30))
	}
	return result.Stdout, err
}

// Signal sends a signal to a process, by its pid in the machine.
func (m *Machine) Signal(ctx context.Context, pid int, sig syscall.Signal) error {
	_, err := m.Output(ctx, "kill", "-"+strconv.Itoa(int(sig)), strconv.Itoa(pid))
	return err
}
