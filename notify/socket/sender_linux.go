package socket

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What waits for a manager that does not read is bounded: in datagrams, of which
// the service's may take half, and in descriptors.
const (
	maxQueued            = 1000
	roomy                = maxQueued / 2
	maxQueuedDescriptors = 1024
)

// Sender speaks to the manager. It sends at once where the manager's queue has
// room, which is nearly always; else a queue of its own keeps the order, and
// the caller never waits: a busy PID 1 must not hold up a stop.
type Sender struct {
	fd   int
	addr *unix.SockaddrUnix

	mu      sync.Mutex
	file    *os.File // once something has had to wait: see open
	conn    syscall.RawConn
	queue   []packet
	kept    int        // descriptors in the queue
	drained *sync.Cond // when the queue has become shorter
	dropped int
}

// packet is a datagram that waits, with descriptors of its own.
type packet struct {
	data []byte
	fds  []int
}

// Dial prepares to send to address, the value of $NOTIFY_SOCKET: a path, or
// "@" and an abstract name. It does not fail where nobody listens there yet:
// each Send tries again.
func Dial(address string) (*Sender, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open a socket to the manager: %w", err)
	}
	s := &Sender{fd: fd, addr: &unix.SockaddrUnix{Name: address}}
	s.drained = sync.NewCond(&s.mu)
	_ = unix.Connect(fd, s.addr)
	return s, nil
}

// open takes the socket into the runtime's poller. There it would wake this
// program each time that the manager has read something, so it is left until
// there is something to wait for. The mutex is held.
func (s *Sender) open() (err error) {
	if s.file == nil {
		s.file = os.NewFile(uintptr(s.fd), s.addr.Name)
		s.conn, err = s.file.SyscallConn()
	}
	return err
}

// close closes the socket, once. The mutex is held.
func (s *Sender) close() {
	switch {
	case s.fd < 0:
	case s.file != nil:
		_ = s.file.Close()
	default:
		_ = unix.Close(s.fd)
	}
	s.fd = -1
}

// CheckAddress says what is wrong with a value of $NOTIFY_SOCKET, if anything.
func CheckAddress(address string) error {
	if strings.HasPrefix(address, "/") || strings.HasPrefix(address, "@") && len(address) > 1 {
		return nil
	}
	return fmt.Errorf("cannot use NOTIFY_SOCKET=%q; it must be a path or an abstract name that begins with @", address)
}

// Send sends data with descriptors, of which the caller keeps its own copies.
// An error is the socket's, and nothing that a caller can mend.
func (s *Sender) Send(data []byte, fds []int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		err := s.try(data, fds)
		if !errors.Is(err, unix.EAGAIN) {
			return err
		}
	}
	return s.enqueue(data, fds)
}

// try sends without waiting. A manager may have come late, or have a new socket
// under the old name: connect again, once.
func (s *Sender) try(data []byte, fds []int) error {
	err := transmit(s.fd, data, fds)
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOTCONN) {
		if err = unix.Connect(s.fd, s.addr); err == nil {
			err = transmit(s.fd, data, fds)
		}
	}
	return err
}

// transmit is sendmsg(2) without SIGPIPE and without waiting.
func transmit(fd int, data []byte, fds []int) error {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		err := sendmsg(fd, data, rights)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// enqueue keeps a datagram for later; the first one starts the goroutine that
// waits for room. The mutex is held.
func (s *Sender) enqueue(data []byte, fds []int) error {
	if len(s.queue) >= maxQueued || s.kept+len(fds) > maxQueuedDescriptors {
		s.dropped++
		return fmt.Errorf("the manager has not read %d messages; %d dropped", len(s.queue), s.dropped)
	}
	if err := s.open(); err != nil {
		return fmt.Errorf("cannot wait for the manager: %w", err)
	}
	p := packet{data: append([]byte(nil), data...)}
	for _, fd := range fds {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			p.close()
			return fmt.Errorf("cannot keep a descriptor for the manager: %w", err)
		}
		p.fds = append(p.fds, own)
	}
	s.queue = append(s.queue, p)
	s.kept += len(p.fds)
	if len(s.queue) == 1 {
		go s.drain()
	}
	return nil
}

// drain sends the queue in its order, and ends when it is empty.
func (s *Sender) drain() {
	for {
		s.mu.Lock()
		s.drained.Broadcast()
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		p := s.queue[0]
		s.mu.Unlock()

		err := s.conn.Write(func(fd uintptr) bool {
			return !errors.Is(transmit(int(fd), p.data, p.fds), unix.EAGAIN)
		})
		p.close()

		s.mu.Lock()
		s.queue = s.queue[1:]
		s.kept -= len(p.fds)
		if err != nil { // closed: nobody will read the rest
			for _, rest := range s.queue {
				rest.close()
			}
			s.queue, s.kept = nil, 0
		}
		s.mu.Unlock()
	}
}

func (p packet) close() {
	for _, fd := range p.fds {
		_ = unix.Close(fd)
	}
}

// WaitRoom waits until the queue is at most half full. Whoever reads messages to
// pass them on waits here before the next one: a service that speaks faster than
// its manager reads then waits itself, as it would for the manager's own socket.
func (s *Sender) WaitRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > roomy {
		s.drained.Wait()
	}
}

// Unread says whether something that was sent lies with the manager still, as
// far as can be known: the kernel counts it to this socket until it is read
// (Linux: net/unix/af_unix.c, unix_outq_len). A manager works off what it has
// read before it looks at anything else (systemd: src/core/manager.c,
// manager_dispatch_notify_fd).
func (s *Sender) Unread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes, err := unreadBytes(s.fd)
	return len(s.queue) > 0 || err != nil || bytes > 0
}

// Barrier waits until the manager has worked off all that was sent before, for
// at most d (sd_notify_barrier(3)): it closes a descriptor that it gets. A
// manager that finds the sender gone may drop what it has not worked off.
func (s *Sender) Barrier(d time.Duration) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cannot make a pipe: %w", err)
	}
	defer func() { _ = r.Close() }()
	err = s.Send([]byte("BARRIER=1"), []int{int(w.Fd())})
	_ = w.Close()
	if err != nil {
		return err
	}
	_ = r.SetReadDeadline(time.Now().Add(d))
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the manager has not worked off what it was told: %w", err)
	}
	return nil
}

// Flush waits until the queue is empty, for at most d, and closes the socket.
func (s *Sender) Flush(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		file := s.file // there is one, as something waits
		defer time.AfterFunc(d, func() { _ = file.Close() }).Stop()
	}
	for len(s.queue) > 0 {
		s.drained.Wait()
	}
	s.close()
}
