package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// process is one that start started.
type process struct {
	cmd      *exec.Cmd
	log      *journal // what it writes to stderr
	ended    chan struct{}
	signaled time.Time // when signal last sent it something
}

// start runs a program beside the script: start NAME PROGRAM [ARG...]. Its
// output goes to NAME.out, what it logs can be waited for with logged.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME PROGRAM [ARG...]")
	}
	s, name := stageOf(ts), args[0]
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	out, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	log, stderr, err := os.Pipe()
	ts.Check(err)
	p := &process{cmd: exec.Command(path, args[2:]...), log: newJournal(ts.MkAbs(name + ".err")), ended: make(chan struct{})}
	p.cmd.Args[0] = args[1]
	p.cmd.Dir, p.cmd.Env = ts.MkAbs("."), environment(ts)
	p.cmd.Stdout, p.cmd.Stderr = out, stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without the terminal at which the tests may run
	ts.Check(p.cmd.Start())
	s.know(name, p.cmd.Process.Pid)
	s.mu.Lock()
	s.procs[name] = p
	s.mu.Unlock()
	_, _ = out.Close(), stderr.Close()
	go p.wait(log)
}

// wait copies what a program logs, and waits for its end: then all that it has
// logged is there. The pipe may not come to its end, as a daemon holds it open.
func (p *process) wait(log *os.File) {
	defer close(p.ended)
	defer func() { _ = log.Close() }()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(p.log, log)
	}()
	_ = p.cmd.Wait()
	_ = log.SetReadDeadline(time.Now())
	<-copied
	_ = log.SetReadDeadline(time.Time{})
	raw, err := log.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		text := make([]byte, 4096)
		for {
			n, _ := unix.Read(int(fd), text) // what is there, without waiting for more
			if n <= 0 {
				return true
			}
			_, _ = p.log.Write(text[:n])
		}
	})
}

// environment is the script's, in which a variable may be unset by env NAME=.
func environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "STAGE", "GORACE", "WORK", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM",
		"RUNTIME_DIRECTORY", "STATE_DIRECTORY", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "INVOCATION_ID", "SYSTEMD_EXEC_PID",
	} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// end waits for the end of a program and checks how it was: end NAME exit=CODE
// or signal=SIG, and, counted from the last signal to it, within=TIME.
func end(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: end NAME exit=CODE|signal=SIG [within=TIME]")
	}
	p := stageOf(ts).procs[args[0]]
	if p == nil {
		ts.Fatalf("nothing was started as %s", args[0])
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		ts.Fatalf("%s has not ended\n%s", args[0], p.log)
	}
	took := time.Since(p.signaled)
	ws, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	got := fmt.Sprintf("exit=%d", ws.ExitStatus())
	if ws.Signaled() {
		got = "signal=" + syntax.Signal(ws.Signal()).Name()
	}
	if got != args[1] {
		ts.Fatalf("%s ended with %s; want %s\n%s", args[0], got, args[1], p.log)
	}
	if len(args) > 2 {
		bound, err := time.ParseDuration(strings.TrimPrefix(args[2], "within="))
		ts.Check(err)
		if took > bound {
			ts.Fatalf("%s took %v to end; at most %v is promised", args[0], took, bound)
		}
	}
}
