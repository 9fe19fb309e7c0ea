package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/policy"
)

// svcgen is svcgen run as a stage for scenarios, each with a process of its own.
// It runs as nobody: it needs no root, and so leaves nothing in the directories
// that are root's.
type svcgen struct {
	target string
	dir    string // of the scenarios, and of all that they write
}

// nobody is a user that owns nothing (systemd: src/basic/user-util.h,
// UID_NOBODY).
const nobody = 65534

// newSvcgen has copies of the programs where nobody can execute them.
func newSvcgen(dir, target string, programs ...string) (*svcgen, error) {
	s := &svcgen{target: target, dir: dir}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	for _, program := range programs {
		text, err := os.ReadFile(program)
		if err == nil {
			err = os.WriteFile(s.program(filepath.Base(program)), text, 0o755)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, s.mkdir(filepath.Join(dir, "home"))
}

func (s *svcgen) program(name string) string { return filepath.Join(s.dir, name) }

// mkdir makes a directory of nobody's.
func (s *svcgen) mkdir(dir string) error {
	return errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, nobody, nobody))
}

func (s *svcgen) prepare(_ context.Context, staged map[string]scenario) (map[string]stage, error) {
	stages := map[string]stage{}
	for name, sc := range staged {
		one := &onSvcgen{svcgen: s, dir: filepath.Join(s.dir, name), units: map[string]*unitTold{}}
		if err := s.mkdir(one.dir); err != nil {
			return nil, err
		}
		file := sc.file(name, one.dir, s.program("service"))
		if err := os.WriteFile(filepath.Join(one.dir, "policy.yaml"), []byte(file), 0o644); err != nil {
			return nil, err
		}
		for _, svc := range sc.services {
			one.units[svc.unit(name)] = &unitTold{said: said{down: true}, hook: svc.hook}
		}
		stages[name] = one
	}
	return stages, nil
}

// onSvcgen is a scenario's stage under svcgen run.
type onSvcgen struct {
	*svcgen
	dir string
	cmd *exec.Cmd // the last that was started

	mu     sync.Mutex
	units  map[string]*unitTold
	output bytes.Buffer // all that was told
	over   chan struct{}
}

// unitTold is what has been told of a unit.
type unitTold struct {
	said
	hook   bool
	runs   []run
	failed bool        // the state that the last event leaves it in
	exit   policy.Exit // of the last main process
}

// told is an event as svcgen run prints it.
type told struct {
	Time     time.Time
	Unit     string
	Event    timeline.Name
	Restarts int
	Cause    history.Cause
	Result   policy.Result
	Exit     struct {
		Code   *int
		Signal *string
		Core   bool
	}
	Detail  map[string]string
	Restart bool
}

// Start starts the program, when the one before it has ended.
func (s *onSvcgen) Start(ctx context.Context) error {
	if s.cmd != nil {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	cmd := exec.Command(s.program("svcgen"), "run", "policy.yaml", "--svcrun", s.program("svcrun"), "--target", s.target, "--format=json")
	home := s.program("home")
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Stderr = &lockedWriter{&s.mu, &s.output}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s.mu.Lock()
	for _, u := range s.units {
		u.down = u.hook
	}
	s.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.cmd, s.over = cmd, make(chan struct{})
	go s.listen(cmd, out, s.over)
	return nil
}

// wait waits for the end of the program.
func (s *onSvcgen) wait(ctx context.Context) error {
	select {
	case <-s.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lockedWriter is a writer that others use too.
type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}

// listen takes the events up to the end of the program.
func (s *onSvcgen) listen(cmd *exec.Cmd, out io.Reader, over chan<- struct{}) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		s.heard(lines.Bytes())
	}
	err := cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(&s.output, "svcgen run has ended:", err)
	for _, u := range s.units {
		u.down = true
	}
	close(over)
}

// heard takes one event.
func (s *onSvcgen) heard(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output.Write(append(line, '\n'))
	var e told
	if err := json.Unmarshal(line, &e); err != nil {
		fmt.Fprintln(&s.output, "no event:", err)
		return
	}
	if u := s.units[e.Unit]; u != nil {
		u.take(e)
	}
}

func (u *unitTold) take(e told) {
	last := &run{}
	if len(u.runs) > 0 {
		last = &u.runs[len(u.runs)-1]
	}
	switch e.Event {
	case timeline.Starting:
		u.starts++
		u.down = false
		r := run{start: history.Requested, restarts: e.Restarts, began: e.Time}
		if e.Restarts > 0 {
			r.start = history.Automatic
		}
		u.runs = append(u.runs, r)
	case timeline.Ready:
		u.readies++
		last.ready = e.Time
	case timeline.Reloaded:
		u.reloads++
	case timeline.Ended:
		u.ends++
		last.ended, last.cause, last.result, last.restart = e.Time, e.Cause, string(e.Result), e.Restart
		last.main, last.command = exitOf(e.Exit.Code, e.Exit.Signal, e.Exit.Core), e.Detail["command"]
		u.exit = last.main
		u.down, u.failed = !e.Restart, !e.Restart && e.Result != policy.Success
	case timeline.Refused:
		r := run{start: history.Requested, cause: e.Cause, began: e.Time}
		if last.restart {
			r.start, r.restarts = history.Automatic, last.restarts+1
		}
		u.runs = append(u.runs, r)
		u.down, u.failed = true, e.Cause == history.StartLimit
	default:
	}
}

func (s *onSvcgen) signal(signal syscall.Signal) error {
	if s.cmd == nil {
		return errors.New("svcgen run has not been started")
	}
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Close ends the program, if it has not ended; its services do not outlive it.
func (s *onSvcgen) Close() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		<-s.over
	}
}

func (s *onSvcgen) Stop(context.Context) error   { return s.signal(syscall.SIGTERM) }
func (s *onSvcgen) Reload(context.Context) error { return s.signal(syscall.SIGHUP) }

func (s *onSvcgen) Signal(_ context.Context, pid int, signal syscall.Signal) error {
	return syscall.Kill(pid, signal)
}

func (s *onSvcgen) Dir() string { return s.dir }

func (s *onSvcgen) Said(unit string) said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.units[unit].said
}

func (s *onSvcgen) Log(context.Context) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.SplitAfter(s.output.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-logLines):], "")
}

// Observe waits for the end of the program, and tells what it told.
func (s *onSvcgen) Observe(ctx context.Context) (map[string]observation, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]observation{}
	for unit, u := range s.units {
		o := observation{runs: u.runs, final: "inactive, " + u.exit.String()}
		if u.failed {
			o.final = "failed, " + u.exit.String()
		}
		all[unit] = o
	}
	return all, nil
}
