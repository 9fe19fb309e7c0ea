package supervise

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify/socket"
	"github.com/svckit/svckit/watchdog"
)

// These tests run the loop in a world without processes, sockets and clocks:
// testing/synctest has time pass, and finds a goroutine that the loop leaves.

// fake is a world that a test plays, and a log of what the loop did in it.
// After synctest.Wait the loop waits for its next event, and the test may look.
type fake struct {
	t        *testing.T
	signals  chan os.Signal
	children chan os.Signal
	readable chan struct{}
	begun    time.Time

	spawnFails error
	adoptFails error
	gone       chan struct{}
	lost       machine.Event
	inbox      []socket.Datagram
	written    []machine.DescriptorRead
	talks      int          // datagrams that the child still has to say, without a pause
	stranger   map[int]bool // pids that are not the service's
	ended      *machine.Status
	alive      atomic.Int32 // of the kill scope, the main process not counted
	left       bool

	probed func(ctx context.Context, id watchdog.ID) error // nil holds at once
	hooked func(ctx context.Context) error                 // nil ends at once

	mu      sync.Mutex // probes and hooks run beside the loop
	log     []string
	probing int // probes that are out
	outcome chan machine.Outcome
	noted   []history.Record
}

// start runs a loop in such a world.
func start(t *testing.T, cfg machine.Config, prepare ...func(*fake)) *fake {
	f := &fake{
		t: t, signals: make(chan os.Signal), children: make(chan os.Signal, 1), readable: make(chan struct{}, 1), gone: make(chan struct{}),
		begun: time.Now(), stranger: map[int]bool{}, outcome: make(chan machine.Outcome, 1),
	}
	for _, p := range prepare {
		p(f)
	}
	l := newLoop(f.world(), cfg)
	go func() {
		f.outcome <- l.run()
		close(f.outcome)
	}()
	t.Cleanup(f.finish)
	synctest.Wait()
	return f
}

// finish ends a loop that a failed test has left running.
func (f *fake) finish() {
	f.left, f.ended = false, &machine.Status{}
	select {
	case f.children <- syscall.SIGCHLD:
	default:
	}
	for range f.outcome {
	}
}

func (f *fake) world() world {
	return world{
		signals: f.signals, children: f.children, readable: f.readable,
		spawn: func() (int, error) {
			f.did("spawn")
			return 100, f.spawnFails
		},
		signal: func(s syntax.Signal, to machine.Target) {
			f.did("%s to %s", s.Name(), []string{"main", "group", "scope"}[to])
		},
		reap: func() (*machine.Status, bool) {
			ended := f.ended
			f.ended = nil
			return ended, f.left
		},
		others:  func() int { return int(f.alive.Load()) },
		receive: f.receive, noticed: f.notices,
		trusts: func(d socket.Datagram) bool { return !f.stranger[d.PID] },
		send: func(s machine.Send, fds []int) {
			text := strings.ReplaceAll(string(s.Message.Encode()), "\n", " ")
			if len(fds) > 0 {
				text += fmt.Sprintf(" with %d", fds)
			}
			f.did("say %s", text)
		},
		probe: f.probe,
		hook: func(ctx context.Context, argv []string) error {
			f.did("hook %s", strings.Join(argv, " "))
			if f.hooked == nil {
				return nil
			}
			return f.hooked(ctx)
		},
		log:  func(level machine.Level, text string) { f.did("log %d %s", level, text) },
		gone: f.gone,
		adopt: func(pid int) error {
			f.did("adopt %d", pid)
			return f.adoptFails
		},
		lost:   func() machine.Event { return f.lost },
		note:   func(r history.Record) { f.noted = append(f.noted, r) },
		forget: func() { f.did("forget") },
		answer: func(fd int, failure string) {
			f.did("answer %q", failure)
			_ = syscall.Close(fd)
		},
	}
}

// notices are what the child has written to descriptors.
func (f *fake) notices() []machine.DescriptorRead {
	written := f.written
	f.written = nil
	return written
}

// receive takes the next datagram; while there is another, the socket stays
// readable.
func (f *fake) receive() (d socket.Datagram, ok bool) {
	switch {
	case len(f.inbox) > 0:
		d, f.inbox = f.inbox[0], f.inbox[1:]
		return d, true
	case f.talks > 0:
		f.talks--
		select {
		case f.readable <- struct{}{}:
		default:
		}
		return words("X_TALK=1"), true
	}
	return d, false
}

// probe counts the probes that are out; the loop may not have two of a check.
func (f *fake) probe(ctx context.Context, id watchdog.ID) error {
	f.out(1)
	defer f.out(-1)
	if f.probed == nil {
		return nil
	}
	return f.probed(ctx, id)
}

func (f *fake) out(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probing += n
}

// did notes what the loop did, with the time since its start.
func (f *fake) did(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf("%v ", time.Since(f.begun))+fmt.Sprintf(format, args...))
}

// done is what the loop did so far.
func (f *fake) done() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// wait has time pass.
func (f *fake) wait(d time.Duration) *fake {
	time.Sleep(d) //nolint:forbidigo // the bubble's time, which passes at once
	synctest.Wait()
	return f
}

// send sends svcrun a signal.
func (f *fake) send(s syntax.Signal) *fake {
	f.signals <- syscall.Signal(s)
	synctest.Wait()
	return f
}

// say has the child say something.
func (f *fake) say(datagrams ...socket.Datagram) *fake {
	f.inbox = append(f.inbox, datagrams...)
	f.readable <- struct{}{}
	synctest.Wait()
	return f
}

// exit ends the main process.
func (f *fake) exit(s machine.Status) *fake {
	f.ended = &s
	f.children <- syscall.SIGCHLD
	synctest.Wait()
	return f
}

// words is a datagram of the child.
func words(lines ...string) socket.Datagram {
	return socket.Datagram{Data: []byte(strings.Join(lines, "\n")), PID: 100}
}

// expect checks that these things were done in this order, others in between.
func (f *fake) expect(want ...string) {
	f.t.Helper()
	rest := f.done()
	for _, w := range want {
		i := slices.IndexFunc(rest, func(line string) bool { return strings.Contains(line, w) })
		if i < 0 {
			f.t.Fatalf("%q was not done (in its turn):\n%s", w, strings.Join(f.done(), "\n"))
		}
		rest = rest[i+1:]
	}
}

// never checks that something was not done.
func (f *fake) never(text string) {
	f.t.Helper()
	if f.count(text) > 0 {
		f.t.Errorf("%q was done:\n%s", text, strings.Join(f.done(), "\n"))
	}
}

// count counts what was done.
func (f *fake) count(text string) int {
	n := 0
	for _, line := range f.done() {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// ends checks how svcrun ended; then nothing may be out any more.
func (f *fake) ends(want machine.Status) {
	f.t.Helper()
	synctest.Wait()
	select {
	case got := <-f.outcome:
		if got.Status != want {
			f.t.Errorf("ended with %v; want %v\n%s", got.Status, want, strings.Join(f.done(), "\n"))
		}
	default:
		f.t.Fatalf("not ended:\n%s", strings.Join(f.done(), "\n"))
	}
	if f.probing != 0 {
		f.t.Errorf("%d probes are out after the end", f.probing)
	}
}

// probed is a check that is probed every interval.
func probed(interval time.Duration) watchdog.Check {
	return watchdog.Check{
		Kind: watchdog.TCP, Target: "127.0.0.1:1", Interval: interval, Timeout: min(interval, 2*time.Second),
		Failures: 3, Successes: 1,
	}
}

// spoken is a notify check.
func spoken(timeout time.Duration) watchdog.Check {
	return watchdog.Check{Kind: watchdog.Notify, Interval: 10 * time.Second, Timeout: timeout, Failures: 1, Successes: 1}
}

// typical is what most tests configure: a ready and a live check, a hook, and a
// manager that wants a heartbeat every 20 s.
func typical() machine.Config {
	return machine.Config{
		Ready: []watchdog.Check{probed(10 * time.Second)}, Live: []watchdog.Check{probed(5 * time.Second)},
		OnUnhealthy: watchdog.Drain, StartTimeout: 90 * time.Second, EarlyExit: machine.EarlyExitFail,
		Drain: drain.Plan{
			PreStop: []string{"/bin/deregister"}, PreStopTimeout: 10 * time.Second, Delay: 5 * time.Second,
			Steps:    []drain.Step{{Signal: syntax.SIGTERM, Wait: 30 * time.Second}},
			KillWait: 5 * time.Second,
		},
		AbortWait: 10 * time.Second,
		Reload:    machine.Reload{Signal: syntax.SIGHUP, Timeout: time.Minute},
		Managed:   true, WatchdogPeriod: 20 * time.Second,
	}
}
