package supervise

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify/socket"
	"github.com/svckit/svckit/watchdog"
	"github.com/svckit/svckit/watchdog/probe"
)

// world is all that the loop asks of the outside, bound once in Run and faked
// in tests.
type world struct {
	signals  <-chan os.Signal // svcrun's own, but for SIGCHLD
	children <-chan os.Signal // SIGCHLD: some child has ended
	readable <-chan struct{}  // the child has said something
	written  <-chan struct{}  // the child has written to the descriptor of a check
	warnings <-chan error     // what went wrong beside the loop
	alarm    alarm            // of the machine's deadline; nil for one of the runtime's
	gone     <-chan struct{}  // a main process that is no child of svcrun's has ended

	spawn   func() (pid int, err error)
	signal  func(s syntax.Signal, to machine.Target)
	reap    func() (main *machine.Status, left bool)
	others  func() int // alive in the kill scope, the main process not counted
	receive func() (socket.Datagram, bool)
	noticed func() []machine.DescriptorRead // what was written to descriptors of checks
	trusts  func(socket.Datagram) bool
	send    func(s machine.Send, fds []int)
	probe   func(ctx context.Context, id watchdog.ID) error
	hook    func(ctx context.Context, argv []string) error
	adopt   func(pid int) error       // has another process be the main one
	lost    func() machine.Event      // what a main process came to whose status svcrun was not left
	answer  func(fd int, text string) // tells how a reload ended, and closes fd
	note    func(history.Record)      // writes the record of the run down
	forget  func()                    // ends the memory of runs that failed
	log     func(machine.Level, string)
}

// alarm rings once when it was set to. One ring too many does no harm.
type alarm interface {
	C() <-chan time.Time
	Reset(time.Duration)
	Stop()
}

// runtimeAlarm is an alarm by a timer of the Go runtime's.
type runtimeAlarm struct{ timer *time.Timer }

func (a runtimeAlarm) C() <-chan time.Time   { return a.timer.C }
func (a runtimeAlarm) Reset(d time.Duration) { a.timer.Reset(d) }
func (a runtimeAlarm) Stop()                 { a.timer.Stop() }

// loop owns the machine.
type loop struct {
	world
	machine *machine.Machine

	probed    chan machine.Probed
	hooked    chan machine.HookEnded
	probes    context.Context // of all probes that are out
	endProbes context.CancelFunc
	endHook   context.CancelFunc

	current *socket.Datagram // whose descriptors go with the event being stepped
	waiting []int            // descriptors of those who wait for a reload
	changes int              // of the main process
	warned  map[string]bool  // kinds of bad datagrams
	timeout func(watchdog.ID) time.Duration
	outcome *machine.Outcome
}

// newLoop prepares a loop; nothing happens before run.
func newLoop(w world, cfg machine.Config) *loop {
	l := &loop{
		world:   w,
		machine: machine.New(cfg, time.Now()),
		probed:  make(chan machine.Probed),
		hooked:  make(chan machine.HookEnded),
		endHook: func() {},
		warned:  map[string]bool{},
	}
	if l.alarm == nil {
		l.alarm = runtimeAlarm{time.NewTimer(0)}
	}
	l.probes, l.endProbes = context.WithCancel(context.Background())
	checks := append(append([]watchdog.Check(nil), cfg.Ready...), cfg.Live...)
	l.timeout = func(id watchdog.ID) time.Duration { return checks[id].Timeout }
	return l
}

// run is the loop: one event after the other, until the machine is done.
func (l *loop) run() machine.Outcome {
	defer l.end()
	l.tick() // the child is started before anything is waited for
	for l.outcome == nil {
		select {
		case s := <-l.signals:
			if number, ok := s.(syscall.Signal); ok {
				l.step(machine.Signalled{Signal: syntax.Signal(number)})
			}
		case <-l.children:
			l.childEnded()
		case <-l.readable:
			l.hear(turn)
		case <-l.written:
			l.hearNotices()
		case <-l.gone:
			l.mainGone()
		case err := <-l.warnings:
			l.log(machine.Warning, err.Error())
		case p := <-l.probed:
			l.step(p)
		case h := <-l.hooked:
			l.step(h)
		case <-l.alarm.C():
			l.tick()
		}
	}
	return *l.outcome
}

// end stops what runs beside the loop.
func (l *loop) end() {
	l.alarm.Stop()
	l.endProbes()
	l.endHook()
	l.answerAll("the service has ended")
}

// step has the machine decide, and does what it says. What an action answers at
// once is stepped when all actions before it are done.
func (l *loop) step(event machine.Event) {
	for event != nil {
		actions := l.machine.Step(time.Now(), event)
		event = nil
		for _, action := range actions {
			if answer := l.perform(action); answer != nil {
				event = answer
			}
		}
	}
	if deadline, ok := l.machine.Deadline(); ok {
		l.alarm.Reset(time.Until(deadline))
	} else {
		l.alarm.Stop()
	}
}

// perform does one action, and returns its answer where it has one already.
func (l *loop) perform(action machine.Action) machine.Event {
	switch a := action.(type) {
	case machine.Spawn:
		return l.startChild()
	case machine.Send:
		l.tell(a)
	case machine.Signal:
		l.signal(a.Signal, a.To)
	case machine.Probe:
		go l.ask(l.probes, a.ID)
	case machine.StopProbes:
		l.endProbes()
		l.probes, l.endProbes = context.WithCancel(context.Background())
	case machine.Hook:
		var ctx context.Context
		ctx, l.endHook = context.WithCancel(context.Background())
		go l.runHook(ctx, a.Argv)
	case machine.StopHook:
		l.endHook()
	case machine.Adopt:
		return l.changeMain(a.PID)
	case machine.Await:
		l.await()
	case machine.Answer:
		l.answerAll(a.Failure)
	case machine.Note:
		l.note(a.Record)
	case machine.Forget:
		l.forget()
	case machine.Log:
		l.log(a.Level, a.Text)
	case machine.Exit:
		l.outcome = &a.Outcome
	}
	return nil
}

// tick says that the deadline has passed. Where the machine waits for the scope
// to become empty, it is counted first: the last of it need not be svcrun's own
// child, whose end svcrun is told of.
func (l *loop) tick() {
	if l.machine.CountsScope() {
		l.step(machine.ScopeChanged{Left: l.others()})
	}
	l.step(machine.Tick{})
}

// startChild starts the child.
func (l *loop) startChild() machine.Event {
	pid, err := l.spawn()
	if err != nil {
		return machine.SpawnFailed{Reason: err.Error()}
	}
	return machine.Spawned{PID: pid}
}

// tell sends a message, with the descriptors of the event where it asks so.
func (l *loop) tell(s machine.Send) {
	var fds []int
	if s.Attached && l.current != nil {
		fds = l.current.FDs
	}
	l.send(s, fds)
}

// ask runs one probe. Its answer is void once the probes have been stopped.
func (l *loop) ask(all context.Context, id watchdog.ID) {
	ctx, cancel := context.WithTimeout(all, l.timeout(id))
	defer cancel()
	answer := machine.Probed{ID: id}
	if err := l.probe(ctx, id); err != nil {
		answer.Failure, answer.Unknown = err.Error(), errors.Is(err, probe.ErrUnattributed)
	}
	if all.Err() != nil { // or the select below may still choose to answer
		return
	}
	select {
	case l.probed <- answer:
	case <-all.Done():
	}
}

// runHook runs the hook. Its end is void once it has been stopped.
func (l *loop) runHook(ctx context.Context, argv []string) {
	var ended machine.HookEnded
	if err := l.hook(ctx, argv); err != nil {
		ended.Failure = err.Error()
	}
	if ctx.Err() != nil {
		return
	}
	select {
	case l.hooked <- ended:
	case <-ctx.Done():
	}
}

// childEnded reaps, hears what was said before, and tells the machine. What was
// the main process's end is none where its last word named another one.
func (l *loop) childEnded() {
	main, left := l.reap()
	if main == nil && !l.machine.CountsScope() {
		return
	}
	changes := l.changes
	l.hear(backlog)
	l.hearNotices()
	if l.changes != changes {
		main = nil
	}
	others := 0
	if left {
		others = l.others()
	}
	if main != nil {
		l.step(machine.MainExited{Status: *main, Left: others})
		return
	}
	l.step(machine.ScopeChanged{Left: others})
}

// changeMain has the process that the service named be the main one.
func (l *loop) changeMain(pid int) machine.Event {
	if err := l.adopt(pid); err != nil {
		return machine.NotAdopted{Reason: err.Error()}
	}
	l.changes++
	return machine.Adopted{PID: pid}
}

// mainGone takes the end of a main process that another one had started: its
// status is svcrun's to take, or that process's.
func (l *loop) mainGone() {
	l.childEnded()
	if event := l.lost(); event != nil {
		l.step(event)
	}
}
