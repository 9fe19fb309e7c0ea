package proc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc/proctest"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// A Table reaps every child of its process, which would be unfair to the test
// binary: each test that has one runs in a process of its own, by alone.

const (
	aloneEnv  = "SVCKIT_PROC_ALONE"  // names the one test that this process is for
	dieEnv    = "SVCKIT_PROC_DIE"    // CODE SIGNAL CORE [DIR]: a process that only calls Die
	shimEnv   = "SVCKIT_PROC_SHIM"   // the parent starts it by way of the shim
	parentEnv = "SVCKIT_PROC_PARENT" // a FIFO: a process that starts a child, which tells its pid there

	// quickEnd spares a process the second that the race detector waits at its end.
	quickEnd = "GORACE=atexit_sleep_ms=0"

	// patience bounds whatever should come at once, on a loaded machine too.
	patience = time.Minute
)

func TestMain(m *testing.M) {
	switch {
	case IsShim(os.Args):
		runtime.LockOSThread()
		os.Exit(Shim(os.Args, os.Environ()))
	case os.Getenv(dieEnv) != "":
		die(os.Getenv(dieEnv))
	case os.Getenv(parentEnv) != "":
		parent(os.Getenv(parentEnv))
	}
	proctest.DefaultSignals()
	os.Exit(m.Run())
}

// die ends this process as how says, however few signals it lets through.
func die(how string) {
	var s machine.Status
	var dir string
	if n, err := fmt.Sscan(how, &s.Code, &s.Signal, &s.Core, &dir); n < 3 {
		panic(err)
	}
	runtime.LockOSThread()
	all := unix.Sigset_t{}
	for i := range all.Val {
		all.Val[i] = ^uint64(0)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &all, nil); err != nil {
		panic(err)
	}
	Die(s, dir)
}

// parent starts a child and waits for it, until it is killed itself. Meanwhile
// threads come, and none goes, as in svcrun: the fifo is told when that is over.
func parent(fifo string) {
	table, err := NewTable()
	if err != nil {
		panic(err)
	}
	ended := make(chan machine.Status, 1)
	c := shell("echo $$ >" + fifo + "; exec sleep 600")
	c.Shim = os.Getenv(shimEnv) != ""
	if _, err := table.Start(c, ended); err != nil {
		panic(err)
	}
	churn(runtime.UnlockOSThread)
	if err := os.WriteFile(fifo, []byte("churned\n"), 0); err != nil {
		panic(err)
	}
	<-time.After(patience) // killed long before
	os.Exit(1)
}

// churn runs many goroutines, some of which have a thread of their own. The
// thread ends with them, unless they give it back.
func churn(giveBack func()) {
	var all sync.WaitGroup
	for i := range 100_000 {
		all.Go(func() {
			if i%1000 == 0 {
				runtime.LockOSThread()
				giveBack()
			}
		})
	}
	all.Wait()
}

// alone runs body in a process of its own, which is this test binary again.
// Its failures are this test's.
func alone(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	if os.Getenv(aloneEnv) == t.Name() {
		body(t)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+pattern, "-test.count=1")
	cmd.Env = append(os.Environ(), aloneEnv+"="+t.Name(), quickEnd)
	cmd.Dir, cmd.WaitDelay = t.TempDir(), patience
	cmd.Stdin = strings.NewReader("svcrun's own input")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if reason, ok := strings.CutPrefix(string(out), "skip: "); ok {
		t.Skip(strings.TrimSpace(reason))
	}
}

// reaped is a Table whose children are reaped as they end, as the loop does it.
type reaped struct {
	*Table
	t      *testing.T
	chld   chan os.Signal
	empty  chan struct{} // closed when, at stop, no child was left
	finish chan struct{}
}

// newReaped is such a Table. At the end of the test no child may be left.
func newReaped(t *testing.T) *reaped {
	table, err := NewTable()
	if err != nil {
		t.Fatal(err)
	}
	r := &reaped{
		Table: table, t: t,
		chld: make(chan os.Signal, 1), empty: make(chan struct{}), finish: make(chan struct{}),
	}
	signal.Notify(r.chld, unix.SIGCHLD)
	go r.loop()
	t.Cleanup(r.done)
	return r
}

func (r *reaped) loop() {
	finish := r.finish
	for {
		_, left := r.Reap()
		if finish == nil && !left {
			close(r.empty)
			return
		}
		select {
		case <-r.chld:
		case <-finish:
			finish = nil
		}
	}
}

// done waits until no child is left, and kills what does not end.
func (r *reaped) done() {
	close(r.finish)
	select {
	case <-r.empty:
	case <-time.After(patience):
		r.t.Errorf("left behind: %+v", Descendants())
		SignalAll(Descendants(), syntax.SIGKILL)
	}
	signal.Stop(r.chld)
}

// sh starts a shell script.
func (r *reaped) sh(script string) (int, chan machine.Status) {
	r.t.Helper()
	ended := make(chan machine.Status, 1)
	pid, err := r.Start(shell(script), ended)
	if err != nil {
		r.t.Fatal(err)
	}
	return pid, ended
}

// shell is a script as a Command.
func shell(script string) Command {
	return Command{Path: "/bin/sh", Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}}
}

// status waits for how a process ended.
func (r *reaped) status(ended <-chan machine.Status) machine.Status {
	r.t.Helper()
	select {
	case s := <-ended:
		return s
	case <-time.After(patience):
		r.t.Fatalf("no status came; alive: %+v", Descendants())
		return machine.Status{}
	}
}

// gone waits until a process has ended, without being its parent.
func gone(t *testing.T, pidfd int) {
	t.Helper()
	defer func() { _ = unix.Close(pidfd) }()
	for deadline := time.Now().Add(patience); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(time.Until(deadline)/time.Millisecond))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			t.Fatalf("the process is still alive (%v)", err)
		}
		return
	}
}

// pidfd is a handle on a process that outlives its number.
func pidfd(t *testing.T, pid int) int {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("no process %d: %v", pid, err)
	}
	return fd
}

// told waits for a line that a process writes into a new FIFO of that name.
func told(t *testing.T, fifo string) func() string {
	t.Helper()
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(fifo, os.O_RDWR, 0) // never at its end, and never blocks at its start
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return func() string {
		t.Helper()
		_ = f.SetReadDeadline(time.Now().Add(patience))
		var line []byte
		for one := make([]byte, 1); ; line = append(line, one[0]) {
			if _, err := f.Read(one); err != nil {
				t.Fatalf("%s: %v after %q", fifo, err, line)
			}
			if one[0] == '\n' {
				return string(line)
			}
		}
	}
}

// fatal are the signals whose default is to end a process.
func fatal() []syntax.Signal {
	var out []syntax.Signal
	for s := syntax.Signal(1); s <= 64; s++ {
		switch s.Name() {
		case "CHLD", "CONT", "URG", "WINCH", "STOP", "TSTP", "TTIN", "TTOU":
		default:
			out = append(out, s)
		}
	}
	return out
}

// piped says whether the kernel hands cores to a program, which decides by
// itself whether there is one.
func piped() bool {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	return err != nil || strings.HasPrefix(string(pattern), "|")
}

// skipAlone skips the test that alone runs, aloud.
func skipAlone(t *testing.T, format string, args ...any) {
	t.Helper()
	fmt.Printf("skip: "+format+"\n", args...)
	t.Skipf(format, args...)
}

// needCores skips where the kernel would write no core into this directory.
func needCores(t *testing.T) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Max == 0 {
		skipAlone(t, "no cores here: RLIMIT_CORE is %d (%v)", limit.Max, err)
	}
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		t.Fatal(err)
	}
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	if piped() || strings.Contains(string(pattern), "/") {
		skipAlone(t, "cores go elsewhere here: core_pattern is %s", pattern)
	}
}

// descriptors counts the open descriptors of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
