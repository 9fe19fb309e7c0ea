package socket

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/notify"
)

// A reload is asked for as a barrier is (sd_notify_barrier(3)): with a
// descriptor, which is closed when it is over. It is one end of a pair of
// sockets, since a word on how it went is sent before, and a socket can be
// written to without the risk of waiting for its reader, or of SIGPIPE.

// done is the word for a reload that went well; every other is a reason.
const done = "done"

// maxAnswer bounds the reason, in bytes.
const maxAnswer = 1024

// ErrRefused says that the listener did not take the request.
var ErrRefused = errors.New("svcrun did not take the request: it has ended, or this process is not of its unit; see its log")

// Answer tells whoever waits at fd how the reload ended, without waiting for it
// to be read, and closes fd. An empty failure says that it was done.
func Answer(fd int, failure string) {
	if failure == "" {
		failure = done
	}
	text := []byte(failure)
	_ = unix.Sendmsg(fd, text[:min(len(text), maxAnswer)], nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	_ = unix.Close(fd)
}

// Reload asks the svcrun that listens at address for a reload, and waits until
// it is over.
func Reload(address string) error {
	s, err := Dial(address)
	if err != nil {
		return err
	}
	defer s.Flush(0)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot make a pair of sockets: %w", err)
	}
	own := os.NewFile(uintptr(pair[0]), "reload")
	defer func() { _ = own.Close() }()
	err = s.Send(notify.Message{{Key: notify.ReloadKey, Value: "1"}}.Encode(), []int{pair[1]})
	_ = unix.Close(pair[1])
	if err != nil {
		return fmt.Errorf("no svcrun listens at %s: %w", address, err)
	}
	answer, err := io.ReadAll(io.LimitReader(own, maxAnswer))
	switch {
	case err != nil:
		return fmt.Errorf("cannot read svcrun's answer: %w", err)
	case len(answer) == 0:
		return ErrRefused
	case string(answer) != done:
		return errors.New(string(answer))
	}
	return nil
}
