package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

const (
	// maxOutput bounds what is kept of a command's output: its tail, in bytes.
	maxOutput = 4096

	// drainOutput is how long a pipe is read on that something outside the
	// command's group holds open.
	drainOutput = 100 * time.Millisecond
)

// Run runs a probe's or a hook's command to its end, and returns how it ended. When ctx ends, the
// whole of its group is killed, and the error is ctx's. It returns only after
// the command has been reaped.
func (t *Table) Run(ctx context.Context, c Command) (machine.Status, error) {
	c.Helper = true
	ended := make(chan machine.Status, 1)
	pid, err := t.Start(c, ended)
	if err != nil {
		return machine.Status{}, fmt.Errorf("cannot execute %s: %w", c.Path, err)
	}
	defer t.forget(pid)
	select {
	case s := <-ended:
		t.SignalGroup(pid, syntax.SIGKILL) // what it left running
		return s, nil
	case <-ctx.Done():
		t.SignalGroup(pid, syntax.SIGKILL)
		return <-ended, ctx.Err()
	}
}

// Output is Run for a command whose output is wanted: the tail of it, bounded.
func (t *Table) Output(ctx context.Context, c Command) (machine.Status, string, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return machine.Status{}, "", fmt.Errorf("cannot make a pipe: %w", err)
	}
	defer func() { _ = out.Close() }()
	kept := make(chan string, 1)
	go func() { kept <- tail(out) }()
	c.Out = in
	s, err := t.Run(ctx, c)
	_ = in.Close()
	_ = out.SetReadDeadline(time.Now().Add(drainOutput))
	return s, <-kept, err
}

// tail reads to the end and keeps the last maxOutput bytes.
func tail(pipe *os.File) string {
	var kept []byte
	buffer := make([]byte, maxOutput)
	for {
		n, err := pipe.Read(buffer)
		kept = append(kept, buffer[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			kept = append(kept, lying(pipe)...)
		}
		if len(kept) > maxOutput {
			kept = append(kept[:0], kept[len(kept)-maxOutput:]...)
		}
		if err != nil {
			return string(kept)
		}
	}
}

// pipeSize is what a pipe holds (pipe(7)), in bytes.
const pipeSize = 64 << 10

// lying is what lies in a pipe whose deadline is over: a busy host may not have let
// svcrun read what the command has written in time.
func lying(pipe *os.File) []byte {
	_ = pipe.SetReadDeadline(time.Time{})
	conn, err := pipe.SyscallConn()
	if err != nil {
		return nil
	}
	text, n := make([]byte, pipeSize), 0
	_ = conn.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), text)
		return true // and waits for no more
	})
	return text[:max(0, n)]
}
