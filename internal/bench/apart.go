package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// apartVariable marks the process that measures.
const apartVariable = "SVCKIT_BENCH_APART"

// apart runs this program again in a session of its own, and returns its exit
// code. There it has no terminal that a wrapper could make its own: Ctrl-C ends
// this process, which ends the other one. And a session is a group for the
// scheduler (sched(7), autogroup), which can be put before other work as a
// whole.
func apart(ctx context.Context) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), apartVariable+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil // it has said why
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
