package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// caught is what the signal handler svckit_caught shares with this package: it
// adds to pending, and writes one to fd, an eventfd(2). There is one handler in
// a process, so there is one of this.
var caught struct {
	pending uint64
	fd      int64
	one     uint64
}

// handler is the address of svckit_caught.
func handler() uintptr

// Catcher waits for signals that this process catches.
//
// It takes the place of package os/signal, which would have cost three threads
// and a round trip between two of them for each signal asked for, all before
// the child could be started without losing one.
type Catcher struct {
	fd   int
	file *os.File
	conn syscall.RawConn
}

// Catch has signals caught from now on, one that was ignored too. There can be
// one Catcher in a process.
func Catch(signals ...syntax.Signal) (*Catcher, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("cannot catch signals: %w", err)
	}
	caught.fd, caught.one = int64(fd), 1
	// The runtime's own action for SIGTERM tells what else an action has to
	// have: the signal stack, how a handler returns, and no other signal meanwhile.
	var action sigaction
	if err := getAction(syntax.SIGTERM, &action); err != nil {
		return nil, fmt.Errorf("cannot catch signals: %w", err)
	}
	action[0] = uint64(handler())
	for _, n := range signals {
		if err := setAction(n, &action); err != nil {
			return nil, fmt.Errorf("cannot catch %v: %w", n, err)
		}
	}
	return &Catcher{fd: fd}, nil
}

// Wait waits for the next signals, and returns all that have come since the last
// time; ok is false where it cannot wait. It waits in the runtime's poller, and
// is the first to use it: a child can be started before that costs anything.
func (c *Catcher) Wait() (come SignalSet, ok bool) {
	if c.file == nil {
		c.file = os.NewFile(uintptr(c.fd), "signals")
		var err error
		if c.conn, err = c.file.SyscallConn(); err != nil {
			return 0, false
		}
	}
	for come == 0 {
		err := c.conn.Read(func(fd uintptr) bool {
			var count [8]byte
			_, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&count)), 8)
			return errno != unix.EAGAIN
		})
		if err != nil {
			return 0, false
		}
		come = SignalSet(atomic.SwapUint64(&caught.pending, 0))
	}
	return come, true
}

// The longest that a thread is waited for that was given a signal and no processor
// to note it with, and how often it is looked at.
const (
	overtakenWait = time.Second
	overtakenPoll = time.Millisecond
)

// Overtaken returns the signals that were sent before one that has come and have
// not come yet. The kernel hands out the lowest number first, but each to any
// thread, and on a busy host a thread may lose its processor before the first
// instruction of the handler, while another one notes a later signal.
func (c *Catcher) Overtaken() SignalSet {
	for until := time.Now().Add(overtakenWait); handling() && time.Now().Before(until); {
		time.Sleep(overtakenPoll) //nolint:forbidigo // nobody tells of a thread's progress
	}
	return SignalSet(atomic.SwapUint64(&caught.pending, 0))
}

// unblocked are the signals that a thread need not block in the handler: those that
// nobody can, and the two that glibc keeps for itself (nptl(7)), where it is linked.
const unblocked = SignalSet(1)<<(unix.SIGKILL-1) | 1<<(unix.SIGSTOP-1) | 1<<(32-1) | 1<<(33-1)

// handling says whether a thread of this process handles a signal just now; not
// without /proc.
func handling() bool {
	for _, thread := range numbersIn("/proc/self/task") {
		status, err := ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/status")
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := bytes.Cut(status, []byte("\nSigBlk:\t"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if blocked, err := strconv.ParseUint(string(line), 16, 64); err == nil && SignalSet(blocked)|unblocked == ^SignalSet(0) {
			return true
		}
	}
	return false
}

// WasKilled says whether a process is a child that has died of a signal and was not
// reaped yet.
func WasKilled(pid int) bool {
	const exited = 1 // CLD_EXITED in sigaction(2)
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0 && info.Code != exited
}
