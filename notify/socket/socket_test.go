package socket

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair is a listener and a sender to it.
func pair(t *testing.T, address string) (*Listener, *Sender) {
	t.Helper()
	l, err := Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s, err := Dial(l.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Flush(time.Second) })
	return l, s
}

// next waits for a datagram.
func next(l *Listener) (Datagram, error) {
	for {
		if d, ok := l.Receive(); ok {
			return d, nil
		}
		if err := l.Wait(); err != nil {
			return Datagram{}, err
		}
	}
}

// abstract is a name of this test's own.
func abstract(t *testing.T) string {
	return fmt.Sprintf("@svckit-test-%d-%s", os.Getpid(), t.Name())
}

func TestDatagramArrivesWithItsSendersCredentials(t *testing.T) {
	for _, address := range []string{abstract(t), filepath.Join(t.TempDir(), "notify")} {
		l, s := pair(t, address)
		if err := s.Send([]byte("READY=1"), nil); err != nil {
			t.Fatal(err)
		}
		d, err := next(l)
		if err != nil {
			t.Fatal(err)
		}
		if string(d.Data) != "READY=1" || d.PID != os.Getpid() || d.UID != uint32(os.Getuid()) || d.Truncated {
			t.Errorf("%s: received %+v; want READY=1 of pid %d, whole", address, d, os.Getpid())
		}
	}
}

func TestSocketFileIsOpenToEveryUserAndGoneAfterClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("mode is %v, %v; want 0777", info.Mode(), err)
	}
	_ = l.Close()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Close the file is still there: %v", err)
	}
}

func TestWhatAKilledRunLeftBehindIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = first.file.Close() // as a SIGKILL would: the file stays
	second, err := Listen(path)
	if err != nil {
		t.Fatalf("second Listen: %v", err)
	}
	_ = second.Close()
}

func TestOversizedDatagramIsMarkedTruncated(t *testing.T) {
	l, s := pair(t, abstract(t))
	for size, want := range map[int]bool{4096: false, 4097: true, 60000: true} {
		if err := s.Send(bytes.Repeat([]byte("x"), size), nil); err != nil {
			t.Fatal(err)
		}
		d, err := next(l)
		if err != nil || d.Truncated != want {
			t.Errorf("%d bytes: truncated %v, %v; want %v", size, d.Truncated, err, want)
		}
	}
}

func TestDescriptorsArriveAndCloseLeavesNone(t *testing.T) {
	l, s := pair(t, abstract(t))
	before := openDescriptors(t)
	var fds []int
	for range maxDescriptors {
		fds = append(fds, int(os.Stdin.Fd()))
	}
	if err := s.Send([]byte("FDSTORE=1"), fds); err != nil {
		t.Fatal(err)
	}
	d, err := next(l)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.FDs) != maxDescriptors || d.Truncated {
		t.Errorf("received %d descriptors, truncated %v; want %d", len(d.FDs), d.Truncated, maxDescriptors)
	}
	d.Close()
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors are open; want the %d from before", after, before)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestSendNeverWaitsAndKeepsTheOrder(t *testing.T) {
	l, s := pair(t, abstract(t))
	const messages = 600 // more than the kernel queues for a listener that does not read
	for i := range messages {
		if err := s.Send(fmt.Appendf(nil, "N=%d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range messages {
		d, err := next(l)
		if want := fmt.Sprintf("N=%d", i); err != nil || string(d.Data) != want {
			t.Fatalf("received %q, %v; want %q", d.Data, err, want)
		}
	}
}

func TestManagerThatReadsNothingCostsABoundedQueue(t *testing.T) {
	l, s := pair(t, abstract(t))
	before := openDescriptors(t)
	var failed error
	sent := 0
	for ; failed == nil && sent < 10*maxQueued; sent++ {
		failed = s.Send([]byte("FDSTORE=1"), []int{int(os.Stdin.Fd())})
	}
	if failed == nil {
		t.Errorf("%d messages were taken by nobody; want an error after about %d", sent, maxQueued)
	}
	s.Flush(50 * time.Millisecond)
	for {
		d, ok := l.Receive()
		if !ok {
			break
		}
		d.Close()
	}
	if after := openDescriptors(t); after > before {
		t.Errorf("%d descriptors are open; want at most the %d from before", after, before)
	}
}

func TestManagerWithANewSocketUnderTheOldNameIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	first, s := pair(t, path)
	_ = first.Close()
	second, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	if err := s.Send([]byte("WATCHDOG=1"), nil); err != nil {
		t.Fatalf("Send after the manager's re-execution: %v", err)
	}
	if d, err := next(second); err != nil || string(d.Data) != "WATCHDOG=1" {
		t.Errorf("received %q, %v; want WATCHDOG=1", d.Data, err)
	}
}

func TestCloseEndsWait(t *testing.T) {
	l, err := Listen(abstract(t))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		done <- l.Wait()
	}()
	_ = l.Close()
	if err := <-done; !errors.Is(err, os.ErrClosed) {
		t.Errorf("Wait ended with %v; want os.ErrClosed", err)
	}
}

func TestAddressThatNoSocketCanHaveIsRefusedWithTheCure(t *testing.T) {
	for _, address := range []string{"vsock:2:1234", "relative", ""} {
		if _, err := Dial(address); err == nil || !strings.Contains(err.Error(), "must be a path") {
			t.Errorf("Dial(%q) = %v; want a refusal that says what it must be", address, err)
		}
	}
}

func TestManagerThatComesLateIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	s, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Flush(time.Second)
	if err := s.Send([]byte("READY=1"), nil); !errors.Is(err, unix.ENOENT) {
		t.Errorf("Send to nobody = %v; want ENOENT", err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := s.Send([]byte("READY=1"), nil); err != nil {
		t.Errorf("Send when the manager has come: %v", err)
	}
}

func TestBarrierWaitsUntilTheManagerHasReadAllBeforeIt(t *testing.T) {
	l, s := pair(t, abstract(t))
	if err := s.Send([]byte("READY=1"), nil); err != nil {
		t.Fatal(err)
	}
	var read []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 {
			d, err := next(l)
			if err != nil {
				return
			}
			read = append(read, string(d.Data))
			d.Close()
		}
	}()
	if err := s.Barrier(time.Minute); err != nil {
		t.Errorf("Barrier: %v", err)
	}
	<-done
	if len(read) != 2 || read[0] != "READY=1" || read[1] != "BARRIER=1" {
		t.Errorf("the manager read %q", read)
	}
}

func TestWhatTheManagerHasNotReadIsKnown(t *testing.T) {
	l, s := pair(t, abstract(t))
	for range 3 {
		if s.Unread() {
			t.Error("it has read all, and something is unread")
		}
		for range 2 {
			if err := s.Send([]byte("READY=1"), nil); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if !s.Unread() {
				t.Error("it has not read all, and nothing is unread")
			}
			if _, err := next(l); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestBarrierDoesNotWaitForAManagerThatDoesNotRead(t *testing.T) {
	_, s := pair(t, abstract(t))
	if err := s.Barrier(20 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Barrier to a manager that does not read = %v; want its deadline", err)
	}
}
