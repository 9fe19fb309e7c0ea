package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// program is the svcrun that make has built, as it is installed and without the
// race detector, where that would take too long; else this test binary.
func program() string {
	if built := filepath.Join(os.Getenv("SVCKIT_BIN"), "svcrun"); os.Getenv("SVCKIT_BIN") != "" {
		if _, err := os.Stat(built); err == nil {
			return built
		}
	}
	return "svcrun"
}

// endings runs svcrun over many shell scripts, a few at a time, and says how
// each svcrun ended. Cores are off, so that deaths are alike everywhere.
func endings(t *testing.T, scripts []string) []syscall.WaitStatus {
	t.Helper()
	got := make([]syscall.WaitStatus, len(scripts))
	var group sync.WaitGroup
	room := make(chan struct{}, 4)
	for i, script := range scripts {
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			cmd := exec.Command(program(), "--", "/bin/sh", "-c", "ulimit -c 0; "+script)
			cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			_ = cmd.Wait()
			got[i], _ = cmd.ProcessState.Sys().(syscall.WaitStatus)
		})
	}
	group.Wait()
	return got
}

func TestEveryExitCodeIsPassedOn(t *testing.T) {
	var scripts []string
	for code := range 256 {
		scripts = append(scripts, fmt.Sprintf("exit %d", code))
	}
	for code, ws := range endings(t, scripts) {
		if !ws.Exited() || ws.ExitStatus() != code {
			t.Errorf("exit %d was passed on as %#x", code, ws)
		}
	}
}

func TestEveryFatalSignalIsPassedOn(t *testing.T) {
	var scripts []string
	var fatal []syntax.Signal
	for s := syntax.Signal(1); s <= 64; s++ {
		if strings.Contains(" CHLD CONT URG WINCH STOP TSTP TTIN TTOU ", " "+s.Name()+" ") {
			continue // these end nobody
		}
		fatal = append(fatal, s)
		scripts = append(scripts, fmt.Sprintf("kill -%d $$", s))
	}
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	for i, ws := range endings(t, scripts) {
		if !ws.Signaled() || ws.Signal() != unix.Signal(fatal[i]) {
			t.Errorf("death of %s was passed on as %#x", fatal[i], ws)
		}
		if ws.CoreDump() && !strings.HasPrefix(string(pattern), "|") {
			t.Errorf("death of %s without a core was passed on with one", fatal[i])
		}
	}
}
