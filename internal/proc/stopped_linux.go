package proc

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// statusOffset is where si_status is in siginfo_t after a wait, with 64-bit
// pointers (waitid(2)); the library keeps it to itself.
const statusOffset = 24

// StoppedBy is the signal that has stopped a child since this was asked last, 0
// for none. It takes no child's end.
func (t *Table) StoppedBy(pid int) syntax.Signal {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.waiting[pid]; !ok {
		return 0
	}
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil); err != nil || info.Signo == 0 {
		return 0
	}
	raw := (*[unsafe.Sizeof(info)]byte)(unsafe.Pointer(&info))
	return syntax.Signal(binary.NativeEndian.Uint32(raw[statusOffset:]))
}
