package proc

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
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
