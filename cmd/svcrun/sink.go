package main

import (
	"errors"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxLines is how many lines wait for a log that is slow.
	maxLines = 64

	// maxAtOnce is what a pipe that can be written has room for (PIPE_BUF in
	// pipe(7)).
	maxAtOnce = 4096

	// flushWait is how long the end waits for what waits.
	flushWait = 500 * time.Millisecond
)

// sink writes lines, and never keeps whoever logs them waiting. A journal that
// does not read, or a pipe that is full, must hold up neither a heartbeat nor a
// stop: what finds no room is written beside, by a goroutine that is begun only
// then, and what finds no room there either is dropped.
type sink struct {
	fd      raw
	waiting chan string   // nil until something has to wait
	written chan struct{} // closed when all that waited is written
}

// write writes a line in one write, so that no other process's cuts it.
func (s *sink) write(line string) {
	if s.waiting == nil && len(line) <= maxAtOnce && s.fd.writable() {
		_, _ = io.WriteString(s.fd, line)
		return
	}
	if s.waiting == nil {
		s.waiting, s.written = make(chan string, maxLines), make(chan struct{})
		go s.work()
	}
	select {
	case s.waiting <- line:
	default:
	}
}

// work writes what waits.
func (s *sink) work() {
	defer close(s.written)
	for line := range s.waiting {
		_, _ = io.WriteString(s.fd, line)
	}
}

// flush ends the sink, and waits a bounded time until all lines are written.
func (s *sink) flush(d time.Duration) {
	if s.waiting == nil {
		return
	}
	close(s.waiting)
	select {
	case <-s.written:
	case <-time.After(d):
	}
}

// raw is a descriptor written to past os.File, which has a program die of
// SIGPIPE that finds nobody at the other end of its stderr (os/signal): a journal
// that is restarted must not take every service with it.
type raw int

// writable says whether a short write would not block, be it that it fails.
func (fd raw) writable() bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
	return err == nil && n > 0
}

func (fd raw) Write(p []byte) (n int, err error) {
	for n < len(p) {
		m, err := unix.Write(int(fd), p[n:])
		switch {
		case err == nil:
			n += m
		case errors.Is(err, unix.EAGAIN):
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		case !errors.Is(err, unix.EINTR):
			return n, err
		}
	}
	return n, nil
}
