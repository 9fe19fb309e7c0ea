package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/timeline"
)

const (
	// maxLine is the longest line that is one, as in the journal (LineMax= in
	// journald.conf(5)), in bytes.
	maxLine = 48 << 10

	// flushBound is how long a time line that does not get on may keep the end of
	// a process from being acted on.
	flushBound = time.Second

	// flushBytes bounds what is read at a process's end, while others that have
	// its streams go on to print.
	flushBytes = 1 << 20
)

// output is what a process and those it starts print.
type output struct {
	event timeline.Event // of a line, but for time, stream and text
	say   func(timeline.Event)

	mu   sync.Mutex
	tail tail
	end  *history.EndLine // the last line of stderr, where it is svcrun's

	streams []*stream
}

// stream is one of the standard streams: a pipe, and who reads it.
type stream struct {
	*output
	name    string
	file    *os.File
	write   *os.File // the other end, until the process has it
	main    bool     // svcrun's last line is looked for
	line    []byte   // what has come of the next one
	held    string   // a line that is svcrun's last one if no other follows
	flushed chan struct{}
	once    sync.Once
}

// newOutput makes the streams of a process.
func newOutput(event timeline.Event, main bool, say func(timeline.Event)) (*output, error) {
	o := &output{event: event, say: say}
	for _, name := range []string{"stdout", "stderr"} {
		s, err := o.newStream(name)
		if err != nil {
			o.abandon()
			return nil, err
		}
		s.main = main && name == "stderr"
		o.streams = append(o.streams, s)
	}
	return o, nil
}

// newStream makes a pipe whose end here waits in the runtime's poller, and whose
// other end blocks, as programs expect it.
func (o *output) newStream(name string) (*stream, error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	_ = unix.SetNonblock(fds[0], true)
	return &stream{
		output: o, name: name, flushed: make(chan struct{}),
		file: os.NewFile(uintptr(fds[0]), name), write: os.NewFile(uintptr(fds[1]), name),
	}, nil
}

// abandon closes everything: no process came of it.
func (o *output) abandon() {
	for _, s := range o.streams {
		_ = s.file.Close()
		_ = s.write.Close()
	}
}

// begin reads, from when the process has its ends.
func (o *output) begin() {
	for _, s := range o.streams {
		_ = s.write.Close()
		go s.read()
	}
}

// finish is called when the process has ended: it returns what svcrun said last
// and the last lines, once all is read that was printed before.
func (o *output) finish() (*history.EndLine, []string) {
	for _, s := range o.streams {
		_ = s.file.SetReadDeadline(time.Now())
	}
	bound, cancel := context.WithTimeout(context.Background(), flushBound)
	defer cancel()
	for _, s := range o.streams {
		select {
		case <-s.flushed:
		case <-bound.Done():
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.end, o.tail.lines
}

// read reads to the end, which comes when the last process that has the stream
// has ended.
func (s *stream) read() {
	defer func() { _ = s.file.Close() }()
	buffer := make([]byte, 16<<10)
	for {
		n, err := s.file.Read(buffer)
		s.take(buffer[:n])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.readNow(buffer)
			s.flush()
			_ = s.file.SetReadDeadline(time.Time{})
		case err != nil:
			s.flush()
			return
		}
	}
}

// readNow reads what is there, without waiting for more.
func (s *stream) readNow(buffer []byte) {
	conn, err := s.file.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) {
		for total := 0; total < flushBytes; {
			n, err := unix.Read(int(fd), buffer)
			if n <= 0 && !errors.Is(err, unix.EINTR) {
				return
			}
			s.take(buffer[:max(0, n)])
			total += n
		}
	})
}

// take cuts what was read into lines.
func (s *stream) take(text []byte) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		whole := end >= 0
		if !whole {
			end = len(text)
		}
		part := text[:min(end, maxLine-len(s.line))]
		s.line = append(s.line, part...)
		switch {
		case len(part) < end: // too long: what follows is a line of its own
			text = text[len(part):]
		case whole:
			text = text[end+1:]
		default:
			return
		}
		s.emit(string(s.line))
		s.line = s.line[:0]
	}
}

// flush ends a line that has no end, and says that all is read. What comes after
// the first time is of processes that the service has left behind.
func (s *stream) flush() {
	if len(s.line) > 0 {
		s.emit(string(s.line))
		s.line = s.line[:0]
	}
	s.once.Do(func() {
		if end, ok := history.ParseEndLine(s.held); ok {
			s.mu.Lock()
			s.end = &end
			s.mu.Unlock()
			s.held = ""
		}
		s.main = false
		close(s.flushed)
	})
}

// emit tells a line. What may be svcrun's last one is held back until another
// follows: a service may print the like of it, but not after svcrun.
func (s *stream) emit(line string) {
	if s.held != "" {
		s.tell(s.held)
		s.held = ""
	}
	if s.main {
		if _, ok := history.ParseEndLine(line); ok {
			s.held = line
			return
		}
	}
	s.tell(line)
}

func (s *stream) tell(line string) {
	s.mu.Lock()
	s.tail.add(line)
	s.mu.Unlock()
	e := s.event
	e.Time, e.Stream, e.Text = time.Now(), s.name, line
	s.say(e)
}
