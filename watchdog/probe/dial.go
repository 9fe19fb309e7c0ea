package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/watchdog"
)

// Conn is a connection to an endpoint.
type Conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

// door is where a check connects to.
type door struct {
	network, address string
	resolve          Resolver
	owner            *owner // nil where anyone may answer
}

// newDoor prepares to connect; owned, to nobody but the service.
func newDoor(network, address string, owned bool, host Host) (d door, err error) {
	d = door{network: network, address: address}
	if owned {
		if d.owner, err = newOwner(host.Service); err != nil {
			return d, err
		}
	}
	if network == "tcp" {
		d.resolve, err = host.resolver(address)
	}
	return d, err
}

// open connects. A stranger has seen nothing of the check by then.
func (d door) open(ctx context.Context) (Conn, error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, err
	}
	if d.owner == nil {
		return conn, nil
	}
	if err := d.owner.verify(ctx, conn); err != nil {
		_ = conn.Close() // nothing has been written to it
		return nil, err
	}
	return conn, nil
}

// newOpen holds when a connection opens.
func newOpen(network string, c watchdog.Check, host Host) (attempt, error) {
	door, err := newDoor(network, c.Target, c.Owned, host)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		conn, err := door.open(ctx)
		if err != nil {
			return err
		}
		return conn.Close()
	}, nil
}

// dial connects, by "tcp" to HOST:PORT, by "unix" to a stream or seqpacket
// socket. The addresses of a name are tried one after the other.
func (d door) dial(ctx context.Context) (*connection, error) {
	if d.network == "unix" {
		return dialUnix(ctx, d.address)
	}
	host, port, err := splitPort(d.address)
	if err != nil {
		return nil, err
	}
	addresses, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	return dialAny(ctx, addresses, port)
}

// splitPort takes HOST:PORT and [IPv6]:PORT of a valid check apart.
func splitPort(address string) (host string, port uint16, err error) {
	colon := max(0, strings.LastIndexByte(address, ':'))
	number, err := strconv.ParseUint(strings.TrimPrefix(address[colon:], ":"), 10, 16)
	return strings.Trim(address[:colon], "[]"), uint16(number), err
}

// dialAny connects to the first address that lets it. Each has the part of
// the remaining time that is fair to those after it: one that drops packets
// must not cost the next its turn.
func dialAny(ctx context.Context, addresses []netip.Addr, port uint16) (conn *connection, err error) {
	for i, address := range addresses {
		turn, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			turn, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(addresses)-i))
		}
		conn, err = dialTCP(turn, netip.AddrPortFrom(address.Unmap(), port))
		cancel()
		if err == nil {
			break
		}
	}
	return conn, err
}

// dialTCP connects to an address. A connection within this host may come out at
// its own beginning, where nobody listens and the port is one that the kernel
// gives to clients.
func dialTCP(ctx context.Context, to netip.AddrPort) (*connection, error) {
	family, address, err := sockaddr(to)
	if err != nil {
		return nil, err
	}
	s, err := connect(ctx, family, unix.SOCK_STREAM, address)
	if err != nil {
		return nil, err
	}
	if s.toItself() {
		_ = s.Close()
		return nil, unix.ECONNREFUSED
	}
	return s, nil
}

// dialUnix connects to a stream socket, or else to a seqpacket socket. The
// kernel says EPROTOTYPE where a file is of the other type; in the abstract
// namespace each type has names of its own.
func dialUnix(ctx context.Context, name string) (*connection, error) {
	to := &unix.SockaddrUnix{Name: name}
	s, err := connect(ctx, unix.AF_UNIX, unix.SOCK_STREAM, to)
	abstract := name[0] == '@' && errors.Is(err, unix.ECONNREFUSED)
	if abstract || errors.Is(err, unix.EPROTOTYPE) {
		s, err = connect(ctx, unix.AF_UNIX, unix.SOCK_SEQPACKET, to)
	}
	if errors.Is(err, unix.EAGAIN) { // connect(2) on a Unix socket
		err = errors.New("the listener's queue is full")
	}
	return s, err
}

// connect opens a connection, and waits for it in the runtime's poller. Package
// net would do it too, at the cost of 70 KiB and a twentieth of a millisecond for
// every service that svcrun runs.
func connect(ctx context.Context, family, kind int, to unix.Sockaddr) (*connection, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot open a socket: %w", err)
	}
	err = unix.Connect(fd, to)
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		_ = unix.Close(fd)
		return nil, err
	}
	s := &connection{file: os.NewFile(uintptr(fd), "socket")}
	if s.raw, err = s.file.SyscallConn(); err == nil {
		err = s.connected(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// connection is a connected socket. Its errors are the kernel's alone: the check's
// label says already where it goes.
type connection struct {
	file *os.File
	raw  syscall.RawConn
}

// connected waits until the socket is connected, or cannot be.
func (c *connection) connected(ctx context.Context) error {
	defer interrupt(ctx, c)()
	var failed error
	err := c.raw.Write(func(fd uintptr) bool {
		number, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		switch {
		case err != nil:
			failed = err
		case number != 0:
			failed = unix.Errno(number)
		default: // connected, or not yet
			_, err := unix.Getpeername(int(fd))
			return !errors.Is(err, unix.ENOTCONN)
		}
		return true
	})
	return errors.Join(failed, err)
}

// names are the addresses of both ends; nil where there is none.
func (c *connection) names() (here, there unix.Sockaddr) {
	_ = c.raw.Control(func(fd uintptr) {
		here, _ = unix.Getsockname(int(fd))
		there, _ = unix.Getpeername(int(fd))
	})
	return here, there
}

// toItself says whether both ends are one.
func (c *connection) toItself() bool {
	here, there := c.names()
	return addrPort(here) == addrPort(there)
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	return n, bare(err)
}

func (c *connection) Write(p []byte) (int, error) {
	n, err := c.file.Write(p)
	return n, bare(err)
}

func (c *connection) Close() error                  { return c.file.Close() }
func (c *connection) SetDeadline(t time.Time) error { return c.file.SetDeadline(t) }
