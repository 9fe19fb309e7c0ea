package socket

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asks has a goroutine ask for a reload, and returns its request and its answer.
func asks(t *testing.T, l *Listener) (Datagram, <-chan error) {
	t.Helper()
	answer := make(chan error, 1)
	go func() { answer <- Reload(l.Address()) }()
	d, err := next(l)
	if err != nil || string(d.Data) != "X_SVCKIT_RELOAD=1" || len(d.FDs) != 1 {
		t.Fatalf("received %q with %d descriptors, %v", d.Data, len(d.FDs), err)
	}
	return d, answer
}

func TestWhoAsksForAReloadIsTold(t *testing.T) {
	l, _ := pair(t, abstract(t))
	before := openDescriptors(t)
	for failure, want := range map[string]string{
		"":                         "<nil>",
		"not ready within 60s":     "not ready within 60s",
		strings.Repeat("x", 10000): strings.Repeat("x", maxAnswer),
	} {
		d, answer := asks(t, l)
		Answer(d.FDs[0], failure)
		if got := fmt.Sprint(<-answer); got != want {
			t.Errorf("told %.40q; want %.40q", got, want)
		}
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors are open; want the %d from before", after, before)
	}
}

func TestRequestThatIsDroppedIsRefused(t *testing.T) {
	l, _ := pair(t, abstract(t))
	d, answer := asks(t, l)
	d.Close()
	if err := <-answer; !errors.Is(err, ErrRefused) {
		t.Errorf("told %v; want %v", err, ErrRefused)
	}
}

func TestReloadWhereNobodyListensIsToldAtOnce(t *testing.T) {
	for address, want := range map[string]string{
		abstract(t):           "no svcrun listens at @svckit-test-",
		t.TempDir() + "/none": "no such file or directory",
		"relative":            "it must be a path or an abstract name",
	} {
		if err := Reload(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: told %v; want %q", address, err, want)
		}
	}
}

// Whoever waits may have gone, may not read, or may have sent anything.
func TestAnswerNeitherWaitsNorDies(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(pair[0])
	Answer(pair[1], "nobody reads this")
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(pair[0]) }()
	for unix.Sendmsg(pair[1], make([]byte, 1<<16), nil, nil, unix.MSG_DONTWAIT) == nil {
	}
	Answer(pair[1], "there is no room for this")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	fd, err := unix.Dup(int(w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	Answer(fd, "a pipe is no socket")
}

func TestDescriptorsThatCannotBeTakenMakeTheDatagramLost(t *testing.T) {
	l, s := pair(t, abstract(t))
	if err := s.Send([]byte("FDSTORE=1"), []int{0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	full := limit
	free, err := unix.Dup(0) // the lowest number that is free; there may be more above
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(free)
	full.Cur = uint64(free) + 1
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &full); err != nil {
		t.Fatal(err)
	}
	d, ok := l.Receive()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !ok || !d.Lost || d.Truncated {
		t.Errorf("received %v, lost %v, truncated %v, %d descriptors; want it lost", ok, d.Lost, d.Truncated, len(d.FDs))
	}
}

func TestRoomIsWaitedForWhileTheManagerDoesNotRead(t *testing.T) {
	l, s := pair(t, abstract(t))
	s.WaitRoom() // there is room
	for s.queued() <= roomy {
		if err := s.Send([]byte("STATUS=x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	room := make(chan struct{})
	go func() {
		s.WaitRoom()
		close(room)
	}()
	select {
	case <-room:
		t.Fatalf("with %d waiting there is said to be room", s.queued())
	case <-time.After(20 * time.Millisecond):
	}
	for {
		if d, ok := l.Receive(); ok {
			d.Close()
			continue
		}
		select {
		case <-room:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func TestQueueKeepsFewDescriptors(t *testing.T) {
	_, s := pair(t, abstract(t))
	fds := make([]int, maxDescriptors)
	before := openDescriptors(t)
	var failed error
	for range maxQueued {
		if failed = s.Send([]byte("FDSTORE=1"), fds); failed != nil {
			break
		}
	}
	if failed == nil || openDescriptors(t)-before > maxQueuedDescriptors {
		t.Errorf("%d descriptors are kept for a manager that does not read, %v", openDescriptors(t)-before, failed)
	}
	if err := s.Send([]byte("STOPPING=1"), nil); err != nil {
		t.Errorf("svcrun's own word has no room then: %v", err)
	}
}

// queued is how much waits.
func (s *Sender) queued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}
