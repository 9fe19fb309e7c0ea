package wire

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Window is how many calls may be under way: a bus allows each connection 128
// replies that it still owes.
const Window = 120

// Conn is a connection. It is for one goroutine.
type Conn struct {
	socket net.Conn
	reader reader
	out    []byte // calls that are not sent yet
	serial uint32 // of the last call
}

// DialPeer connects to a program that speaks D-Bus without a bus, at a path.
func DialPeer(ctx context.Context, path string) (*Conn, error) {
	return dial(ctx, &net.UnixAddr{Name: path, Net: "unix"})
}

// DialBus connects to a bus: the first of an address list (D-Bus specification,
// "Server Addresses") that answers.
func DialBus(ctx context.Context, addresses string) (*Conn, error) {
	sockets, err := parseAddresses(addresses)
	if err != nil {
		return nil, err
	}
	for _, at := range sockets {
		var c *Conn
		if c, err = dial(ctx, at); err != nil {
			continue
		}
		const bus = "org.freedesktop.DBus"
		if _, err = c.Call(ctx, Call{Destination: bus, Path: "/org/freedesktop/DBus", Interface: bus, Member: "Hello"}); err == nil {
			return c, nil
		}
		_ = c.Close()
	}
	return nil, err
}

func dial(ctx context.Context, at *net.UnixAddr) (*Conn, error) {
	var dialer net.Dialer
	socket, err := dialer.DialContext(ctx, "unix", at.Name)
	if err != nil {
		return nil, err
	}
	c := &Conn{socket: socket, reader: reader{in: bufio.NewReaderSize(socket, 64<<10)}}
	defer c.bind(ctx)()
	if err := c.authenticate(); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s: %w", at.Name, within(ctx, err))
	}
	return c, nil
}

// authenticate says who this is, which the kernel confirms to the peer. It goes
// on to messages at once, as systemd's own programs do: there is no other way to
// be let in.
func (c *Conn) authenticate() error {
	uid := hex.EncodeToString([]byte(strconv.Itoa(os.Geteuid())))
	if _, err := c.socket.Write([]byte("\x00AUTH EXTERNAL " + uid + "\r\nBEGIN\r\n")); err != nil {
		return err
	}
	line, err := c.reader.in.ReadSlice('\n')
	if err != nil {
		return cutOff(err)
	}
	if answer := strings.TrimSpace(string(line)); !strings.HasPrefix(answer, "OK") {
		return fmt.Errorf("it refuses this user: %.80q", answer)
	}
	return nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.socket.Close() }

// Call calls a method and waits for the reply's values.
func (c *Conn) Call(ctx context.Context, call Call) (values []any, err error) {
	failed := c.CallAll(ctx, 1, func(int) Call { return call }, func(_ int, got []any, callErr error) error {
		values, err = got, callErr
		return nil
	})
	if failed != nil {
		return nil, failed
	}
	return values, err
}

// CallAll calls so many methods and hands each answer to take, in whatever order
// they come. An error that take returns ends it; what is answered later is passed
// over.
func (c *Conn) CallAll(ctx context.Context, calls int, call func(int) Call, take func(i int, values []any, err error) error) error {
	defer c.bind(ctx)()
	first, sent := c.serial+1, 0
	for answered := 0; answered < calls; {
		if sent < calls && sent-answered <= Window/2 { // half a window a time: the peer never waits, and a write carries many calls
			n := min(calls, answered+Window)
			if err := c.send(sent, n, call); err != nil {
				return within(ctx, err)
			}
			sent = n
		}
		m, err := c.reader.next()
		if err != nil {
			return within(ctx, err)
		}
		i := int(m.answers - first)
		if m.kind != typeReply && m.kind != typeError || m.answers < first || i >= sent {
			continue // a signal, or an answer to what nobody waits for
		}
		answered++
		values, err := m.values()
		if err := take(i, values, err); err != nil {
			return err
		}
	}
	return nil
}

// send sends the calls from one number up to another.
func (c *Conn) send(from, to int, call func(int) Call) error {
	c.out = c.out[:0]
	for i := from; i < to; i++ {
		c.serial++
		var err error
		if c.out, err = call(i).append(c.out, c.serial); err != nil {
			return err
		}
	}
	_, err := c.socket.Write(c.out)
	return cutOff(err)
}

// bind has the end of the context end what goes on, until unbind: a deadline
// that is over ends a read that waits.
func (c *Conn) bind(ctx context.Context) (unbind func()) {
	stop := context.AfterFunc(ctx, func() { _ = c.socket.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// within is the context's error where that is the reason for one.
func within(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
