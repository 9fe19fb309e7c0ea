package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/watchdog"
)

// notice is svcrun's end of a pipe whose other end the child was given under a
// number, to write a newline there when it is ready: the convention of s6.
type notice struct {
	number int
	file   *os.File
	conn   syscall.RawConn
}

// openDescriptors opens a pipe for each descriptor that a ready check names, and
// returns the child's ends by their numbers.
func (s *service) openDescriptors() (map[int]*os.File, error) {
	pipes := map[int]*os.File{}
	for _, c := range s.o.Machine.Ready {
		if c.Kind != watchdog.FD {
			continue
		}
		number, err := c.Descriptor()
		if err != nil {
			return nil, err
		}
		if pipes[number] != nil {
			continue
		}
		if pipes[number], err = s.openNotice(number); err != nil {
			return nil, fmt.Errorf("cannot make a pipe for descriptor %d: %w", number, err)
		}
	}
	return pipes, nil
}

// openNotice opens one pipe, and begins to wait for what is written to it.
func (s *service) openNotice(number int) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	n := &notice{number: number, file: read}
	if n.conn, err = read.SyscallConn(); err != nil {
		return nil, err
	}
	s.notices = append(s.notices, n)
	go func() {
		for n.wait() {
			select {
			case s.written <- struct{}{}:
			case <-s.closed:
				return
			}
		}
	}()
	return write, nil
}

// wait waits until there is something to read, and returns false when it is closed.
func (n *notice) wait() bool {
	return n.conn.Read(func(fd uintptr) bool {
		ready, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return ready != 0
	}) == nil
}

// read takes what has been written, and says whether that was the newline, and
// whether no more is to come. Whatever else is written there is nobody's.
func (n *notice) read() (newline, over bool) {
	_ = n.conn.Control(func(fd uintptr) {
		var text [512]byte
		for !newline && !over {
			count, err := unix.Read(int(fd), text[:])
			switch {
			case errors.Is(err, unix.EINTR):
			case errors.Is(err, unix.EAGAIN):
				return
			default:
				newline = count > 0 && bytes.IndexByte(text[:count], '\n') >= 0
				over = count <= 0
			}
		}
	})
	return newline, over
}

// noticed tells which descriptors got their newline, or their end, since it was
// asked last. Each is told once, and closed then, as s6 does.
func (s *service) noticed() []machine.DescriptorRead {
	var told []machine.DescriptorRead
	open := s.notices[:0]
	for _, n := range s.notices {
		newline, over := n.read()
		if !newline && !over {
			open = append(open, n)
			continue
		}
		_ = n.file.Close()
		told = append(told, machine.DescriptorRead{Descriptor: n.number, Newline: newline})
	}
	s.notices = open
	return told
}

// closeNotices ends the wait for what was not written.
func (s *service) closeNotices() {
	for _, n := range s.notices {
		_ = n.file.Close()
	}
}
