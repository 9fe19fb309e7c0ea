package socket

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls that every message costs are made past the Go runtime: they never
// wait. The runtime would have its monitor thread look on, which wakes a process
// that is at rest otherwise ten times for each message.

// recvmsg is recvmsg(2) without waiting.
func recvmsg(fd int, data, control []byte) (n, controlled, flags int, err error) {
	iov, header := vector(data, control)
	header.Iov = &iov
	r, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&header)), unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, 0, 0, errno
	}
	return int(r), int(header.Controllen), int(header.Flags), nil
}

// sendmsg is sendmsg(2) on a connected socket, without waiting and without SIGPIPE.
func sendmsg(fd int, data, control []byte) error {
	iov, header := vector(data, control)
	header.Iov = &iov
	_, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&header)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	if errno != 0 {
		return errno
	}
	return nil
}

// vector is what both take, but for one pointer to the other.
func vector(data, control []byte) (iov unix.Iovec, header unix.Msghdr) {
	if len(data) > 0 {
		iov.Base = &data[0]
		iov.SetLen(len(data))
	}
	header.SetIovlen(1)
	if len(control) > 0 {
		header.Control = &control[0]
		header.SetControllen(len(control))
	}
	return iov, header
}

// readable says whether there is something to be received.
func readable(fd uintptr) bool {
	poll := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	var now unix.Timespec
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&poll)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
	return errno == 0 && n > 0
}

// unreadBytes is how much of what a socket has sent lies with its readers.
func unreadBytes(fd int) (int, error) {
	var bytes int32
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCOUTQ, uintptr(unsafe.Pointer(&bytes)))
	if errno != 0 {
		return 0, errno
	}
	return int(bytes), nil
}
