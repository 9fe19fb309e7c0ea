package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// instanceLimit is how long a wrapper and its service may live.
const instanceLimit = 90 * time.Second

// answerLimit is how long anything may take that is waited for.
const answerLimit = time.Minute

// endLimit is how long a wrapper may take to end with its service before it is
// killed.
const endLimit = 300 * time.Millisecond

// What a service says, and what it is told; testdata/service.c is the other end.
const (
	saidMain   = 'm' // the first instruction
	saidTERM   = 't' // the first instruction of the handler
	saidExit   = 'x' // the last one before _exit
	tellStatus = 's' // send a status with the time in it
	tellExit   = 'x' // exit with 0
)

// instance is a wrapper that runs, with its service.
//
// The service's standard input and output are its line to the harness. Its
// output ends when wrapper and service have both gone, and with its input the
// service ends too, so that none is left behind even where the harness is
// killed.
type instance struct {
	pid     int
	begun   time.Duration // the clock just before the fork
	usage   unix.Rusage   // of what has been waited for
	told    int           // the service's standard input
	said    int           // its standard output
	manager *manager      // what the wrapper's $NOTIFY_SOCKET leads to; nil if it has none

	guard   sync.Mutex // of what follows, as a time limit may strike at any moment
	pidfd   int
	service int // a pidfd of the service, or -1
	calm    []func() bool
}

// order is what is to be launched.
type order struct {
	argv   []string
	dir    string
	env    []string
	stderr *os.File
	// session: it is not to share the harness's.
	session bool
}

// launch starts a wrapper. The calling goroutine must be locked to its thread:
// the wrapper dies with that thread.
func launch(ctx context.Context, o order) (*instance, error) {
	var in, out [2]int
	if err := errors.Join(unix.Pipe2(in[:], unix.O_CLOEXEC), unix.Pipe2(out[:], unix.O_CLOEXEC)); err != nil {
		return nil, err
	}
	i := &instance{told: in[1], said: out[0], pidfd: -1, service: -1}
	attr := &syscall.ProcAttr{
		Dir: o.dir, Env: o.env,
		Files: []uintptr{uintptr(in[0]), uintptr(out[1]), o.stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: o.session, Setpgid: !o.session, Pdeathsig: unix.SIGKILL, PidFD: &i.pidfd},
	}
	var err error
	i.begun = now()
	i.pid, err = syscall.ForkExec(o.argv[0], o.argv, attr)
	_, _ = unix.Close(in[0]), unix.Close(out[1])
	if err == nil && i.pidfd < 0 {
		_ = unix.Kill(i.pid, unix.SIGKILL)
		_, _ = i.wait()
		err = errors.New("this kernel has no pidfd")
	}
	if err != nil {
		_, _ = unix.Close(i.told), unix.Close(i.said)
		return nil, fmt.Errorf("cannot start %s: %w", o.argv[0], err)
	}
	i.calm = append(i.calm, time.AfterFunc(instanceLimit, i.kill).Stop, context.AfterFunc(ctx, i.kill))
	return i, nil
}

// begin waits until the service has reached its main, and says when that was.
func (i *instance) begin() (time.Duration, error) {
	begun, pid, err := i.next(saidMain)
	if err != nil {
		return 0, err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, fmt.Errorf("the service has gone at once: %w", err)
	}
	i.guard.Lock()
	i.service = fd
	i.guard.Unlock()
	hurryApart(pid)
	return begun, nil
}

// next waits for what the service says of that kind: when it was, and its pid.
func (i *instance) next(kind byte) (when time.Duration, pid int, err error) {
	for {
		var record [24]byte
		n, err := i.read(record[:], answerLimit)
		if err != nil {
			return 0, 0, err
		}
		if n != len(record) {
			return 0, 0, fmt.Errorf("the service has ended before it said %q", kind)
		}
		if record[0] == kind {
			field := func(at int) int64 { return int64(binary.NativeEndian.Uint64(record[at:])) }
			return time.Duration(field(8)), int(field(16)), nil
		}
	}
}

// read reads what the service says; 0 bytes when it and its wrapper have gone.
func (i *instance) read(record []byte, limit time.Duration) (int, error) {
	if err := readable(i.said, limit); err != nil {
		return 0, fmt.Errorf("the service: %w", err)
	}
	return unix.Read(i.said, record)
}

// tell tells the service what to do.
func (i *instance) tell(what byte) error {
	if _, err := unix.Write(i.told, []byte{what}); err != nil {
		return fmt.Errorf("the service does not listen: %w", err)
	}
	return nil
}

// term sends the wrapper SIGTERM, and says when.
func (i *instance) term() (time.Duration, error) {
	sent := now()
	return sent, unix.PidfdSendSignal(i.pidfd, unix.SIGTERM, nil, 0)
}

// wait waits for the wrapper's end, and says when it was seen. It may take as
// long as instanceLimit.
func (i *instance) wait() (time.Duration, error) {
	for {
		_, err := unix.Wait4(i.pid, nil, 0, &i.usage)
		gone := now()
		if errors.Is(err, unix.EINTR) {
			continue
		}
		i.pid = 0
		return gone, err
	}
}

// nothingLeft fails if the service has outlived its wrapper.
func (i *instance) nothingLeft() error {
	var record [24]byte
	for {
		n, err := i.read(record[:], answerLimit)
		if err != nil {
			return fmt.Errorf("the service outlives its wrapper: %w", err)
		}
		if n == 0 {
			return nil
		}
	}
}

// kill kills the wrapper and the service. It may come from any goroutine.
func (i *instance) kill() {
	i.guard.Lock()
	defer i.guard.Unlock()
	for _, fd := range []int{i.pidfd, i.service} {
		if fd >= 0 {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
	}
}

// dismiss lets the service end, and the wrapper with it, in its own way.
func (i *instance) dismiss() {
	if i.told >= 0 {
		_ = unix.Close(i.told)
		i.told = -1
	}
}

// end sees to it that nothing of the instance is left.
func (i *instance) end() { i.endBy(now() + endLimit) }

// endBy is end with the moment from which on the wrapper is killed.
func (i *instance) endBy(deadline time.Duration) {
	if i.pidfd < 0 {
		return // it has ended before
	}
	for _, stop := range i.calm {
		stop()
	}
	i.dismiss()
	if i.pid != 0 {
		_ = readable(i.pidfd, deadline-now())
		i.kill()
		_, _ = i.wait()
	}
	i.kill() // a service that its wrapper has left behind
	_ = i.nothingLeft()
	i.guard.Lock()
	defer i.guard.Unlock()
	for _, fd := range []int{i.said, i.pidfd, i.service} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	i.pidfd, i.service = -1, -1
	i.manager.close()
}

// readable waits until there is something to read, or the other end is closed.
func readable(fd int, limit time.Duration) error {
	until := now() + limit
	for {
		left := until - now()
		if left <= 0 {
			return fmt.Errorf("nothing said in %v", limit)
		}
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(left.Milliseconds())+1)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// pause waits that long, on this thread: a timer of the runtime's would have to
// wait for another thread of it, which is not before all other work.
func pause(ctx context.Context, d time.Duration) error {
	const look = 100 * time.Millisecond
	for until := now() + d; ctx.Err() == nil; {
		left := until - now()
		if left <= 0 {
			return nil
		}
		if _, err := unix.Poll(nil, int(min(left, look).Milliseconds())+1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return context.Cause(ctx)
}

// now is the monotonic clock, which all processes of the host share.
func now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}
