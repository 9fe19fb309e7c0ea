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

	// flushWait is how long the end waits for it.
	flushWait = 500 * time.Millisecond
)

// sink writes lines beside whoever logs them. A journal that does not read, or
// a pipe that is full, must hold up neither a heartbeat nor a stop: what finds no
// room is dropped.
type sink struct {
	lines   chan string
	written chan struct{} // closed when all lines are
}

// newSink is a sink that writes each line to w in one write, so that no other
// process's cuts it.
func newSink(w io.Writer) *sink {
	s := &sink{lines: make(chan string, maxLines), written: make(chan struct{})}
	go func() {
		defer close(s.written)
		for line := range s.lines {
			_, _ = io.WriteString(w, line)
		}
	}()
	return s
}

// write hands a line over, and never waits.
func (s *sink) write(line string) {
	select {
	case s.lines <- line:
	default:
	}
}

// flush ends the sink, and waits a bounded time until all lines are written.
func (s *sink) flush(d time.Duration) {
	close(s.lines)
	select {
	case <-s.written:
	case <-time.After(d):
	}
}

// raw is a descriptor written to past os.File, which has a program die of
// SIGPIPE that finds nobody at the other end of its stderr (os/signal): a journal
// that is restarted must not take every service with it.
type raw int

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
