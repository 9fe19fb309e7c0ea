package supervise

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelAlarm is an alarm by timerfd_create(2). A timer of the Go runtime's wakes
// its monitor thread as well and counts in milliseconds: four wake-ups for a
// heartbeat instead of one, and a SIGKILL that comes a millisecond late.
type kernelAlarm struct {
	fd   int
	ring chan time.Time
}

// newKernelAlarm is an alarm that is not set.
func newKernelAlarm() (*kernelAlarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	return &kernelAlarm{fd, make(chan time.Time)}, err
}

func (a *kernelAlarm) C() <-chan time.Time { return a.ring }

// Reset has it ring once, after d.
func (a *kernelAlarm) Reset(d time.Duration) { a.set(max(d, 1)) } // zero would be none

// Stop has it not ring.
func (a *kernelAlarm) Stop() { a.set(0) }

// set is timerfd_settime(2), past the runtime: it never waits.
func (a *kernelAlarm) set(d time.Duration) {
	when := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(a.fd), 0, uintptr(unsafe.Pointer(&when)), 0, 0, 0)
}

// run rings, until nobody listens any more.
func (a *kernelAlarm) run(closed <-chan struct{}) {
	file := os.NewFile(uintptr(a.fd), "alarm")
	conn, err := file.SyscallConn()
	for err == nil {
		if err = conn.Read(a.rung); err != nil {
			return
		}
		select {
		case a.ring <- time.Now():
		case <-closed:
			return
		}
	}
}

// rung takes what the kernel has counted, if anything.
func (*kernelAlarm) rung(fd uintptr) bool {
	var count uint64
	_, _, errno := unix.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&count)), unsafe.Sizeof(count))
	return errno != syscall.EAGAIN
}
