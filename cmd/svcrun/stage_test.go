package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// stage is what one script has running, and what it has been told.
type stage struct {
	mu        sync.Mutex
	changed   *sync.Cond
	told      map[string]int // how often each name was told
	awaited   map[string]int // how many of those waitfor has taken
	pids      map[string]int // of children and of what start started
	handles   map[string]int // pidfds of the same
	procs     map[string]*process
	manager   *manager
	endpoints map[string]*endpoint
}

// stageKey finds the stage of a script.
type stageKey struct{}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

// setStage opens the socket on which children tell, and keeps svcrun's
// environment small and known.
func setStage(env *testscript.Env) error {
	s := &stage{
		told: map[string]int{}, awaited: map[string]int{}, pids: map[string]int{}, handles: map[string]int{},
		procs: map[string]*process{}, endpoints: map[string]*endpoint{},
	}
	s.changed = sync.NewCond(&s.mu)
	env.Values[stageKey{}] = s
	address := filepath.Join(env.WorkDir, "stage")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		return err
	}
	go s.listen(conn)
	env.Vars = append(env.Vars, "STAGE="+address, "GORACE=atexit_sleep_ms=0")
	env.Defer(func() {
		_ = conn.Close()
		s.clear()
	})
	return nil
}

// listen takes what children tell.
func (s *stage) listen(conn *net.UnixConn) {
	buffer := make([]byte, 256)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		var name string
		var pid int
		if _, err := fmt.Sscan(string(buffer[:n]), &name, &pid); err == nil {
			s.know(name, pid)
		}
	}
}

// know notes that name was told, by a process.
func (s *stage) know(name string, pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[name]++
	if handle, err := unix.PidfdOpen(pid, 0); err == nil {
		if old, ok := s.handles[name]; ok {
			_ = unix.Close(old)
		}
		s.pids[name], s.handles[name] = pid, handle
	}
	s.changed.Broadcast()
}

// clear kills whatever is left.
func (s *stage) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.procs {
		_ = p.cmd.Process.Kill()
	}
	for _, handle := range s.handles {
		_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
		_ = unix.Close(handle)
	}
	for _, p := range s.procs {
		<-p.ended
	}
	if s.manager != nil {
		s.manager.close()
	}
	for _, e := range s.endpoints {
		e.close()
	}
}

// until waits until ok, which is asked anew whenever something was told.
func (s *stage) until(ok func() bool) bool {
	late := false
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.changed.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !ok() {
		if late {
			return false
		}
		s.changed.Wait()
	}
	return true
}

// signalTo sends a signal: signal SIG NAME.
func signalTo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signal SIG NAME")
	}
	number, err := syntax.ParseSignal(args[0])
	ts.Check(err)
	s := stageOf(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	handle, ok := s.handles[args[1]]
	if !ok {
		ts.Fatalf("nobody is known as %s", args[1])
	}
	if p := s.procs[args[1]]; p != nil {
		p.signaled = time.Now()
	}
	ts.Check(unix.PidfdSendSignal(handle, unix.Signal(number), nil, 0))
}

// waitFor waits until each name has been told once more than it was waited for.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	for _, name := range args {
		if neg || !s.until(func() bool { return s.told[name] > s.awaited[name] }) {
			ts.Fatalf("%s was not told\n%s", name, s.logs())
		}
		s.mu.Lock()
		s.awaited[name]++
		s.mu.Unlock()
	}
}

// pause is for what svcrun promises of time itself: pause TIME.
func pause(ts *testscript.TestScript, _ bool, args []string) {
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	time.Sleep(d) //nolint:forbidigo // time itself is what is waited for
}

// memory checks that a process never held more than so much: memory NAME MIB.
func memory(ts *testscript.TestScript, _ bool, args []string) {
	s := stageOf(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pids[args[0]]))
	ts.Check(err)
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	var kib, bound int
	_, err = fmt.Sscan(peak, &kib)
	ts.Check(err)
	_, err = fmt.Sscan(args[1], &bound)
	ts.Check(err)
	if kib > bound<<10 {
		ts.Fatalf("%s held %d KiB", args[0], kib)
	}
}

// told checks how often a name was told so far: told NAME N.
func told(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := fmt.Sprint(s.told[args[0]]); (got == args[1]) == neg {
		ts.Fatalf("%s was told %s times", args[0], got)
	}
}

// logs is what all programs of the script have logged.
func (s *stage) logs() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for name, p := range s.procs {
		fmt.Fprintf(&b, "%s: %s\n", name, p.log)
	}
	return b.String()
}

// gone waits until the processes of these names have ended.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		if neg || !stageOf(ts).ended(ts, name, patience) {
			ts.Fatalf("%s is still alive", name)
		}
	}
}

// alive checks that the processes of these names live.
func alive(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		if stageOf(ts).ended(ts, name, 0) != neg {
			ts.Fatalf("%s is alive: %v", name, neg)
		}
	}
}

// ended says whether a process ends within d.
func (s *stage) ended(ts *testscript.TestScript, name string, d time.Duration) bool {
	s.mu.Lock()
	handle, ok := s.handles[name]
	s.mu.Unlock()
	if !ok {
		ts.Fatalf("nobody is known as %s", name)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, int(d/time.Millisecond))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

// logged waits until a program has logged a line that matches: logged NAME REGEXP.
func logged(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: logged NAME REGEXP")
	}
	s := stageOf(ts)
	p, pattern := s.procs[args[0]], regexp.MustCompile("(?m)"+args[1])
	if neg {
		if pattern.MatchString(p.log.String()) {
			ts.Fatalf("%s has logged %s:\n%s", args[0], args[1], p.log)
		}
		return
	}
	if !p.log.until(pattern) {
		ts.Fatalf("%s has not logged %s:\n%s", args[0], args[1], p.log)
	}
}

// journal is a log that can be waited for, with a copy in a file for grep.
type journal struct {
	mu    sync.Mutex
	text  bytes.Buffer
	file  string
	wrote chan struct{} // closed and made anew when something was written
}

func newJournal(file string) *journal {
	return &journal{file: file, wrote: make(chan struct{})}
}

func (j *journal) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Write(text)
	close(j.wrote)
	j.wrote = make(chan struct{})
	return len(text), os.WriteFile(j.file, j.text.Bytes(), 0o600)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// until waits for a match.
func (j *journal) until(pattern *regexp.Regexp) bool {
	for late := time.After(patience); ; {
		j.mu.Lock()
		found, wrote := pattern.Match(j.text.Bytes()), j.wrote
		j.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-wrote:
		case <-late:
			return false
		}
	}
}
