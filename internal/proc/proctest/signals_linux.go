// Package proctest gives tests of processes a known start: whoever runs them
// may ignore signals (nohup does, and some shells in the background), which
// every process of the test would inherit.
//
// DefaultSignals is its entry point.
package proctest

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// DefaultSignals gives every signal that is ignored its default disposition.
func DefaultSignals() {
	const (
		last        = 64
		sigsetBytes = 8
		ignored     = 1 // SIG_IGN, as the kernel has it in the first word of struct sigaction
	)
	for s := uintptr(1); s <= last; s++ {
		var action, fallback [8]uint64 // more than the kernel's struct has anywhere
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, 0, uintptr(unsafe.Pointer(&action)), sigsetBytes, 0, 0)
		if errno == 0 && action[0] == ignored {
			_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&fallback)), 0, sigsetBytes, 0, 0)
		}
	}
}
