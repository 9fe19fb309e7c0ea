// Command floor is the smallest wrapper in Go: it starts its child, hands
// SIGTERM on, and ends as the child ended.
//
//	floor [-g MS] COMMAND [ARG...]
//
// -g: SIGKILL that long after SIGTERM.
package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	args, grace := os.Args[1:], time.Duration(0)
	if len(args) > 2 && args[0] == "-g" {
		ms, _ := strconv.Atoi(args[1])
		args, grace = args[2:], time.Duration(ms)*time.Millisecond
	}
	child, err := syscall.ForkExec(args[0], args, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		os.Exit(203)
	}
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	go func() {
		for range terms {
			_ = syscall.Kill(child, syscall.SIGTERM)
			if grace > 0 {
				time.AfterFunc(grace, func() { _ = syscall.Kill(child, syscall.SIGKILL) })
			}
		}
	}()
	var status syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(child, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if status.Signaled() {
		signal.Reset(status.Signal())
		_ = syscall.Kill(os.Getpid(), status.Signal())
	}
	os.Exit(status.ExitStatus())
}
