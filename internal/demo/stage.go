package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// stage is svcgen run and its time line.
type stage struct {
	out    *output
	cmd    *exec.Cmd
	lines  chan string // of the time line; closed at its end
	at     string      // where the service answers
	begun  bool        // its first line has come
	client *http.Client
}

// startStage starts it. What it would leave behind, it leaves beside the policy.
func startStage(ctx context.Context, out *output, bin, path, port string) (*stage, error) {
	s := &stage{
		out: out, lines: make(chan string), at: "127.0.0.1:" + port,
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	s.cmd = exec.CommandContext(ctx, filepath.Join(bin, "svcgen"), "run", path, "--target", demoTarget)
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(unix.SIGTERM) }
	s.cmd.WaitDelay = 15 * time.Second
	s.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(filepath.Dir(path), "state"))
	s.cmd.Stderr = out.w
	text, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	out.say("$ svcgen run worker.yaml --target %s", demoTarget)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	out.began = time.Now()
	go s.read(text)
	return s, nil
}

// read takes the time line.
func (s *stage) read(text io.Reader) {
	defer close(s.lines)
	for scanner := bufio.NewScanner(text); scanner.Scan(); {
		s.lines <- scanner.Text()
	}
}

// next is the next line of the time line. The demo's own lines count from when
// that began, which is the earlier the sooner a line has come.
func (s *stage) next() (string, bool) {
	line, ok := <-s.lines
	var seconds float64
	if _, err := fmt.Sscanf(line, "%fs", &seconds); err == nil {
		began := time.Now().Add(-time.Duration(seconds * float64(time.Second)))
		if !s.begun || began.Before(s.out.began) {
			s.out.began, s.begun = began, true
		}
	}
	if ok {
		s.out.say("%s", line)
	}
	return line, ok
}

// until prints the time line up to a line that says something.
func (s *stage) until(what string) error {
	for line, ok := s.next(); ok; line, ok = s.next() {
		if strings.Contains(line, what) {
			return nil
		}
	}
	return fmt.Errorf("svcgen run has ended, and nothing said %q", what)
}

// ready waits until the service is, and its live check holds.
func (s *stage) ready() error { return s.until("ready 1/1, live 1/1") }

func (s *stage) crashTwice() error {
	for range 2 {
		s.cue(cueCrash)
		if err := s.ready(); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) hang() error {
	s.cue(cueHang)
	return s.ready()
}

// cue gives the service a cue. What it answers is not the point.
func (s *stage) cue(path string) {
	s.out.now("client", "POST "+path)
	if answer, err := s.client.Post("http://"+s.at+path, "", nil); err == nil {
		_ = answer.Body.Close()
	}
}

// stop asks svcgen for the end while a request is in flight, which is answered
// all the same.
func (s *stage) stop() error {
	answered := make(chan string, 1)
	s.out.now("client", "GET "+cueSlow+", which takes a second")
	go func() { answered <- s.ask() }()
	if err := s.until("| " + slowLine); err != nil {
		return err
	}
	s.out.now("operator", "Ctrl-C")
	if err := s.cmd.Process.Signal(unix.SIGINT); err != nil {
		return err
	}
	if err := s.until("| " + drainedLine); err != nil {
		return err
	}
	s.out.now("client", "answer: "+<-answered)
	for _, ok := s.next(); ok; _, ok = s.next() {
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("svcgen run: %w", err)
	}
	s.out.say("\nsvcgen run ended with exit code 0: the stop went well.")
	return nil
}

// ask sends the slow request, and returns its answer.
func (s *stage) ask() string {
	answer, err := s.client.Get("http://" + s.at + cueSlow)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

// close stops what an error has left running, and removes what it leaves as root.
func (s *stage) close() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(unix.SIGTERM)
		for range s.lines {
		}
		_ = s.cmd.Wait()
	}
	if os.Geteuid() == 0 {
		_ = os.RemoveAll("/var/lib/svckit/svckit-demo")
	}
}
