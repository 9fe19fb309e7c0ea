package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// At whatever moment svcrun is killed or stopped, nothing of the service is left:
// the child, and with a stop its children too, hold a pipe open for as long as
// they live. A stop is never lost: svcrun ends well of it, or dies of it before
// there is a child.
func TestAnEndAtAnyMomentLeavesNothingBehind(t *testing.T) {
	for i := range 60 {
		moment := time.Duration(rand.IntN(12000)) * time.Microsecond
		signal, script := unix.SIGKILL, "exec sleep 600"
		if i%2 == 0 {
			signal, script = unix.SIGTERM, "sleep 600 & exec sleep 600"
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("svcrun", "--live=exec:/bin/sleep 600,interval=10ms,timeout=10ms,failures=1000", "--kill-wait=20s",
			"--", "/bin/sh", "-c", script)
		cmd.Stdout = w
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		time.Sleep(moment) //nolint:forbidigo // any moment is meant
		_ = cmd.Process.Signal(signal)
		_ = r.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("%v after %v: something of the service is alive: %v", signal, moment, err)
		}
		_ = cmd.Wait()
		_ = r.Close()
		how := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if signal == unix.SIGTERM && how.ExitStatus() != 0 && how.Signal() != unix.SIGTERM {
			t.Errorf("stopped after %v: %v", moment, cmd.ProcessState)
		}
	}
}

// A manager that signals all of a unit (KillMode=control-group) signals svcrun
// first: the stop was asked for, although the child has often ended before svcrun
// could ask it to.
func TestAChildThatTheManagerStopsBesideSvcrunHasNotEndedByItself(t *testing.T) {
	for range 20 {
		cmd := exec.Command("svcrun", "--", "/bin/sh", "-c", "echo $$; exec sleep 600")
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		var log bytes.Buffer
		cmd.Stderr = &log
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Fscan(out, &pid); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = unix.Kill(pid, unix.SIGTERM) // its parent may have been quicker
		if err := cmd.Wait(); err != nil || !strings.Contains(log.String(), "end cause=stop-requested") {
			t.Errorf("svcrun ended with %v, and said %q", err, log.String())
		}
	}
}
