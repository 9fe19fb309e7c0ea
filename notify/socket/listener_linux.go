package socket

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/notify"
)

// maxDescriptors is how many descriptors the kernel lets one datagram carry
// (SCM_MAX_FD in unix(7)).
const maxDescriptors = 253

// Datagram is one received message with what the kernel says of its sender.
// The receiver owns FDs and must call Close.
type Datagram struct {
	Data      []byte
	FDs       []int
	PID       int // 0 where the kernel named none
	UID       uint32
	Truncated bool // larger than notify.MaxBytes
	Lost      bool // with descriptors that could not be taken, as this process may have no more
}

// Close closes the datagram's descriptors.
func (d *Datagram) Close() {
	for _, fd := range d.FDs {
		_ = unix.Close(fd)
	}
	d.FDs = nil
}

// Listener is the socket that a service finds in its $NOTIFY_SOCKET.
type Listener struct {
	fd      int
	once    sync.Once // opens file and conn
	file    *os.File
	conn    syscall.RawConn
	failed  error
	address string
	path    string // to be removed at Close; "" for an abstract name
	data    []byte
	oob     []byte
}

// Listen binds a socket at address, a path or "@" and an abstract name. A
// socket at a path can be written by every user, as systemd's own can be: the
// service may have dropped its uid. Who may speak is decided by the
// credentials of each datagram.
func Listen(address string) (*Listener, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open a notify socket: %w", err)
	}
	l := &Listener{
		fd:      fd,
		address: address,
		data:    make([]byte, notify.MaxBytes+1),
		oob:     make([]byte, unix.CmsgSpace(unix.SizeofUcred)+unix.CmsgSpace(maxDescriptors*4)),
	}
	if err := l.bind(fd); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("cannot bind the notify socket %s: %w", address, err)
	}
	return l, nil
}

// open takes the socket into the runtime's poller. That is left until the socket
// is used: whoever listens for a process starts it first, and a bound socket keeps
// what it is sent.
func (l *Listener) open() error {
	l.once.Do(func() {
		l.file = os.NewFile(uintptr(l.fd), l.address)
		l.conn, l.failed = l.file.SyscallConn()
	})
	return l.failed
}

// bind names the socket and asks the kernel for its senders' credentials.
func (l *Listener) bind(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return err
	}
	if strings.HasPrefix(l.address, "@") {
		return unix.Bind(fd, &unix.SockaddrUnix{Name: l.address})
	}
	if err := os.Remove(l.address); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // what a killed run left behind is in the way
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: l.address}); err != nil {
		return err
	}
	l.path = l.address
	return os.Chmod(l.address, 0o777)
}

// Address is what belongs into the service's $NOTIFY_SOCKET.
func (l *Listener) Address() string {
	if l.path == "" {
		return l.address
	}
	if full, err := filepath.Abs(l.path); err == nil {
		return full
	}
	return l.path
}

// Wait waits until there is a datagram to be received. It waits in the
// runtime's poller, so that Close ends it with os.ErrClosed.
func (l *Listener) Wait() error {
	err := l.open()
	if err == nil {
		waited := false
		err = l.conn.Read(func(fd uintptr) bool {
			if waited { // and the poller says so
				return true
			}
			waited = true
			return readable(fd)
		})
	}
	if err != nil { // the poller's own error: the file is closed
		return fmt.Errorf("cannot read the notify socket: %w", os.ErrClosed)
	}
	return nil
}

// Receive returns the next datagram that has arrived, and false where none has.
func (l *Listener) Receive() (Datagram, bool) {
	var d Datagram
	var failed error
	if l.open() != nil {
		return d, false
	}
	err := l.conn.Control(func(fd uintptr) {
		for d, failed = l.receive(int(fd)); errors.Is(failed, unix.EINTR); {
			d, failed = l.receive(int(fd))
		}
	})
	return d, err == nil && failed == nil
}

// receive takes one datagram off the socket.
func (l *Listener) receive(fd int) (Datagram, error) {
	n, oobn, flags, err := recvmsg(fd, l.data, l.oob)
	if err != nil {
		return Datagram{}, err
	}
	d := Datagram{
		Data:      append([]byte(nil), l.data[:n]...),
		Truncated: n > notify.MaxBytes || flags&unix.MSG_TRUNC != 0,
		Lost:      flags&unix.MSG_CTRUNC != 0,
	}
	d.control(l.oob[:oobn])
	return d, nil
}

// control reads the control messages: credentials and descriptors.
func (d *Datagram) control(oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		d.Lost = true
		return
	}
	for i := range messages {
		if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
			d.FDs = append(d.FDs, fds...)
			continue
		}
		if cred, err := unix.ParseUnixCredentials(&messages[i]); err == nil {
			d.PID, d.UID = int(cred.Pid), cred.Uid
		}
	}
}

// Close ends Receive and removes the socket's file.
func (l *Listener) Close() error {
	err := l.open()
	if err == nil {
		err = l.file.Close()
	}
	if l.path != "" {
		_ = os.Remove(l.path)
	}
	return err
}
