package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// The shim is this program again, between the fork and the command's exec. It
// does what only the process itself can: it names its own pid in the variables
// that must name the command's, and ignores the signals that the command has to
// find ignored, though svcrun has handlers for them. How it went comes back on a
// pipe that closes at the exec, as syscall.ForkExec's own does.

// shimWord is the shim's first argument. No flag of svcrun has three dashes.
const shimWord = "---exec"

// shimPath is this very program, replaced on disk or not.
const shimPath = "/proc/self/exe"

// pidVariables name the pid of the process that they are meant for
// (sd_listen_fds(3), systemd.exec(5), sd_watchdog_enabled(3)).
var pidVariables = []string{"LISTEN_PID", "SYSTEMD_EXEC_PID", "WATCHDOG_PID"}

// IsShim says whether this process was started to be the shim.
func IsShim(args []string) bool { return len(args) > 1 && args[1] == shimWord }

// Shim executes the command that it was started for, and returns only if that
// fails, with the code to exit with. It has to run on the first thread: an exec
// from another would lose the death signal.
func Shim(args, environ []string) int {
	const failed = 203 // nobody sees it: svcrun is told why
	if len(args) < 7 {
		return failed
	}
	report, err := strconv.Atoi(args[2])
	if err != nil || report < 3 {
		return failed
	}
	unix.CloseOnExec(report)
	ignore, err := strconv.ParseUint(args[3], 16, 64)
	if err == nil {
		err = limitFiles(args[4])
	}
	if err == nil {
		err = become(args[5], args[6:], ownPID(environ, os.Getpid()), SignalSet(ignore))
	}
	errno := unix.EINVAL
	_ = errors.As(err, &errno)
	_, _ = unix.Write(report, []byte(strconv.Itoa(int(errno))))
	return failed
}

// become is execve(2) with these signals ignored, and with the mask that this
// process began with.
func become(path string, argv, environ []string, ignore SignalSet) error {
	if !ignore.Has(syntax.SIGHUP) { // which this process's own entry point ignores
		if err := dispose(syntax.SIGHUP, sigDfl); err != nil {
			return err
		}
	}
	for n := syntax.Signal(1); n <= maxSignal; n++ {
		if ignore.Has(n) {
			if err := dispose(n, sigIgn); err != nil {
				return err
			}
		}
	}
	defer blockAsGiven()()
	return syscall.Exec(path, argv, environ)
}

// limitFiles has the command find a limit of open files, or as much of it as the
// hard limit of this process lets it have (systemd: src/basic/rlimit-util.c,
// setrlimit_closest).
func limitFiles(text string) error {
	limit, err := strconv.ParseUint(text, 10, 64)
	if err != nil || limit == 0 {
		return err
	}
	err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: limit})
	if !errors.Is(err, unix.EPERM) {
		return err
	}
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil {
		return err
	}
	limit = min(limit, most.Max)
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: limit, Max: limit})
}

// ownPID is environ with pid in the variables that name one.
func ownPID(environ []string, pid int) []string {
	environ = append([]string(nil), environ...)
	for i, entry := range environ {
		for _, name := range pidVariables {
			if strings.HasPrefix(entry, name+"=") {
				environ[i] = name + "=" + strconv.Itoa(pid)
			}
		}
	}
	return environ
}

// startShim starts c by way of the shim, and returns when the command has been
// executed or cannot be. The caller holds the lock: nothing else forks or reaps.
func startShim(c Command, attr *syscall.ProcAttr) (int, error) {
	news, report, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("cannot make a pipe: %w", err)
	}
	defer func() { _ = news.Close() }()
	// Where it takes nobody's number.
	at := len(attr.Files)
	for passedOn(at) {
		at++
	}
	attr.Files = withDescriptors(attr.Files, map[int]*os.File{at: report})
	argv := []string{
		os.Args[0], shimWord, strconv.Itoa(at), strconv.FormatUint(uint64(c.Ignore), 16), strconv.FormatUint(c.NoFile, 10), c.Path,
	}
	pid, err := syscall.ForkExec(shimPath, append(argv, c.Argv...), attr)
	_ = report.Close()
	if err != nil {
		return 0, fmt.Errorf("by way of %s: %w", shimPath, err)
	}
	if err := shimError(news); err != nil {
		reapShim(pid)
		return 0, err
	}
	return pid, nil
}

// shimError is what the shim reports: nothing, once the command is executed or
// the shim has been killed, which is the command's end then.
func shimError(news *os.File) error {
	text, err := io.ReadAll(io.LimitReader(news, 8))
	if err != nil || len(text) == 0 {
		return err
	}
	errno, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	return syscall.Errno(errno)
}

// reapShim takes the end of a shim that has failed.
func reapShim(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
