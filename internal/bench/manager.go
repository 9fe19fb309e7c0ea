package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// manager is the socket where systemd's would be. What it is not asked for
// waits in its queue.
type manager struct {
	fd   int
	path string
}

// newManager binds the socket.
func newManager(path string) (*manager, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_ = unix.Unlink(path)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("cannot bind %s: %w", path, err)
	}
	return &manager{fd: fd, path: path}, nil
}

// receive takes one message, and says when. Descriptors in it are closed by the
// kernel, as there is no room for them: that answers a BARRIER=1.
func (m *manager) receive(limit time.Duration) ([]byte, time.Duration, error) {
	if err := readable(m.fd, limit); err != nil {
		return nil, 0, fmt.Errorf("the manager's socket: %w", err)
	}
	message := make([]byte, 8192)
	n, err := unix.Read(m.fd, message)
	return message[:max(n, 0)], now(), err
}

// status waits for the status that carries a time: how old it has become.
func (m *manager) status() (time.Duration, error) {
	for {
		message, arrived, err := m.receive(answerLimit)
		if err != nil {
			return 0, err
		}
		if sent, ok := statusTime(message); ok {
			return arrived - sent, nil
		}
	}
}

// statusTime is the time in a service's status, which svcrun sends on behind
// its own.
func statusTime(message []byte) (time.Duration, bool) {
	_, rest, found := bytes.Cut(message, []byte("bench:"))
	digits, _, closed := bytes.Cut(rest, []byte(";"))
	nanoseconds, err := strconv.ParseInt(string(digits), 10, 64)
	return time.Duration(nanoseconds), found && closed && err == nil
}

// attend reads what is said until it is told to stop, as a manager does all the
// time; nil has nothing to read.
func (m *manager) attend(heard func(message []byte, arrived time.Duration)) (stop func()) {
	if m == nil {
		return func() {}
	}
	const look = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		for ctx.Err() == nil {
			if readable(m.fd, look) != nil {
				continue // nothing came
			}
			if message, arrived, err := m.receive(look); err == nil {
				heard(message, arrived)
			}
		}
	})
	return func() {
		cancel()
		reading.Wait()
	}
}

// ignore is for messages that need only be taken.
func ignore([]byte, time.Duration) {}

// close closes the socket; nil has none.
func (m *manager) close() {
	if m != nil {
		_ = unix.Close(m.fd)
		_ = unix.Unlink(m.path)
	}
}
