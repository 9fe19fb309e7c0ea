package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// Adopted is a descendant that another process has started, and that svcrun
// treats as a child of its own. Its end is seen by a descriptor (pidfd_open(2));
// its status comes by Reap if its parent has gone before it, else never.
type Adopted struct {
	PID, Group int
	file       *os.File
	conn       syscall.RawConn
}

// errNotOurs is for a process that is no living descendant.
var errNotOurs = errors.New("it is no process of the service")

// Adopt hands the status of pid to ended from now on, and that of the process
// before to nobody.
func (t *Table) Adopt(pid, before int, ended chan<- machine.Status) (*Adopted, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, errNotOurs
	}
	a := &Adopted{PID: pid, file: os.NewFile(uintptr(fd), "pidfd")}
	if a.conn, err = a.file.SyscallConn(); err != nil {
		a.Close()
		return nil, fmt.Errorf("cannot watch it: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// The descriptor came first: whatever has its number now, is what it means.
	all := Descendants()
	i := slices.IndexFunc(all, func(p Process) bool { return p.PID == pid })
	if i < 0 || t.helpers[all[i].Group] || a.Ended() {
		a.Close()
		return nil, errNotOurs
	}
	a.Group = all[i].Group
	delete(t.waiting, before)
	t.waiting[pid] = ended
	return a, nil
}

// Release ends the wait for pid's status, and says whether there was one.
func (t *Table) Release(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, waited := t.waiting[pid]
	delete(t.waiting, pid)
	return waited
}

// Wait waits until the process has ended, and returns false where Close came first.
func (a *Adopted) Wait() bool {
	return a.conn.Read(func(uintptr) bool { return a.Ended() }) == nil
}

// Ended says whether the process has ended.
func (a *Adopted) Ended() bool {
	var n int
	err := a.conn.Control(func(fd uintptr) {
		n, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	})
	return err == nil && n > 0
}

// Signal sends a signal to the process, and to no other that has its number.
func (a *Adopted) Signal(s syntax.Signal) {
	_ = a.conn.Control(func(fd uintptr) { _ = unix.PidfdSendSignal(int(fd), unix.Signal(s), nil, 0) })
}

// Close ends the watch.
func (a *Adopted) Close() { _ = a.file.Close() }
