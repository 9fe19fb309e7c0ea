package manager

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/notify/socket"
)

// decider is the machine.
type decider interface {
	Step(now time.Time, event machine.Event) []machine.Action
	Deadline() (time.Time, bool)
}

// world is all that the loop asks of the outside, bound once in Run and faked
// in tests.
type world struct {
	signals  <-chan os.Signal      // but for SIGCHLD
	children <-chan os.Signal      // SIGCHLD: some child has ended
	ended    <-chan machine.Exited // a process that was started, and all that it printed; Left is open
	words    <-chan string         // a unit that has said something
	deserted <-chan struct{}       // closed when nobody reads the time line any more

	units   []string
	spawn   func(machine.Spawn) (pid int, err error)
	signal  func(machine.Signal)
	over    func(machine.Exited) // its end is about to be told
	reap    func()
	left    func(unit string) int
	receive func(unit string) (socket.Datagram, bool)
	mainPID func(unit string) int // whose word alone counts; 0 for nobody's
	begin   func(unit string, run int)
	release func(unit string)
	tell    func(timeline.Event)
	hungUp  func() bool // a SIGHUP is the end of a session
}

const (
	// turn is how many datagrams are heard before the loop looks at anything else.
	turn = 32

	// backlog is more than the kernel keeps for one socket: nothing that was said
	// before an end is missed.
	backlog = 1024
)

// loop owns the machine.
type loop struct {
	world
	machine  decider
	alarm    *time.Timer
	counted  map[string]int // what was left of units when it was last told, where that was anything
	stopping bool           // somebody has asked for it
	code     *int
}

func newLoop(w world, m decider) *loop {
	return &loop{world: w, machine: m, alarm: time.NewTimer(time.Hour), counted: map[string]int{}}
}

// run is the loop: one event after the other, until the machine is done. It
// returns what to exit with.
func (l *loop) run() int {
	defer l.alarm.Stop()
	l.step(machine.Requested{Verb: machine.Start})
	for l.code == nil {
		select {
		case s := <-l.signals:
			l.signalled(s)
		case <-l.children:
			l.reap()
			l.count()
		case e := <-l.ended:
			l.processEnded(e)
		case unit := <-l.words:
			l.hear(unit, turn)
		case <-l.deserted:
			l.deserted = nil
			l.stop("nobody reads the time line any more")
		case <-l.alarm.C:
			l.count()
			l.step(machine.Tick{})
		}
	}
	return *l.code
}

// step has the machine decide, and does what it says. What lies in the sockets
// comes first where a deadline has passed: this process may have been stopped for
// a while, or not have had the processor, and the services have not (systemd
// reads its notify socket before its timers too: src/core/manager.c).
func (l *loop) step(event machine.Event) {
	if deadline, ok := l.machine.Deadline(); ok && !deadline.After(time.Now()) {
		for _, unit := range l.units {
			l.hear(unit, backlog)
		}
	}
	l.stepAt(time.Now(), event)
}

// stepAt steps an event of that moment. What an action answers at once is stepped
// when all actions before it are done.
func (l *loop) stepAt(now time.Time, event machine.Event) {
	for events := []machine.Event{event}; len(events) > 0; events, now = events[1:], time.Now() {
		for _, action := range l.machine.Step(now, events[0]) {
			if answer := l.perform(action, now); answer != nil {
				events = append(events, answer)
			}
		}
	}
	if deadline, ok := l.machine.Deadline(); ok {
		l.alarm.Reset(time.Until(deadline))
	} else {
		l.alarm.Stop()
	}
}

// perform does one action of an event that was stepped at now, and returns its
// answer where it has one. What is told happened then, not when there was time
// to tell it: a wait counts from there.
func (l *loop) perform(action machine.Action, now time.Time) machine.Event {
	switch a := action.(type) {
	case machine.Spawn:
		return l.start(a)
	case machine.Signal:
		l.signal(a)
	case machine.Tell:
		if a.Event.Name == timeline.Starting {
			l.begin(a.Event.Unit, a.Event.Run)
		}
		a.Event.Time = now
		l.tell(a.Event)
	case machine.Release:
		l.release(a.Unit)
	case machine.Done:
		l.code = &a.Code
	}
	return nil
}

// start starts a process.
func (l *loop) start(a machine.Spawn) machine.Event {
	pid, err := l.spawn(a)
	if err == nil {
		return machine.Spawned{Unit: a.Unit, Role: a.Role, PID: pid}
	}
	failed := machine.SpawnFailed{Unit: a.Unit, Role: a.Role, Reason: err.Error()}
	if why := (*startError)(nil); errors.As(err, &why) {
		failed.Status, failed.Exec = why.status, why.status == statusExec
	}
	return failed
}

// processEnded tells the machine of an end, after what was said before it.
func (l *loop) processEnded(e machine.Exited) {
	l.hear(e.Unit, backlog)
	l.over(e)
	e.Left = l.left(e.Unit)
	l.note(e.Unit, e.Left)
	l.step(e)
}

// count looks again at units of which something was left.
func (l *loop) count() {
	for _, unit := range l.units {
		before, known := l.counted[unit]
		if !known {
			continue
		}
		if left := l.left(unit); left != before {
			l.note(unit, left)
			l.step(machine.LeftChanged{Unit: unit, Left: left})
		}
	}
}

// note keeps in mind what is left of a unit.
func (l *loop) note(unit string, left int) {
	if left == 0 {
		delete(l.counted, unit)
		return
	}
	l.counted[unit] = left
}

// hear takes what a unit's main process has said, up to most datagrams.
func (l *loop) hear(unit string, most int) {
	for range most {
		d, ok := l.receive(unit)
		if !ok {
			return
		}
		l.hearOne(unit, &d)
		d.Close() // which is the answer to a barrier
	}
}

// hearOne takes one datagram. As with NotifyAccess=main, what others say counts
// for nothing, and what is no message is dropped, as systemd drops it.
func (l *loop) hearOne(unit string, d *socket.Datagram) {
	if d.PID == 0 || d.PID != l.mainPID(unit) || d.Truncated {
		return
	}
	if message, err := notify.Parse(d.Data); err == nil {
		l.stepAt(l.saidAt(), machine.Heard{Unit: unit, Said: notify.Sort(message)})
	}
}

// saidAt is when a message that is read now was said: nobody knows, and so it
// was in time.
func (l *loop) saidAt() time.Time {
	now := time.Now()
	if deadline, ok := l.machine.Deadline(); ok && !deadline.After(now) {
		return deadline.Add(-1)
	}
	return now
}

// signalled does what a signal asks for.
func (l *loop) signalled(s os.Signal) {
	switch s {
	case unix.SIGHUP:
		if l.hungUp() {
			l.stop("the terminal has gone")
			return
		}
		l.step(machine.Requested{Verb: machine.Reload})
	case unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH:
		l.pass(s)
	case unix.SIGTERM, unix.SIGINT, unix.SIGQUIT:
		l.stop("")
	}
}

// stop stops everything, and faster each time that it is asked for.
func (l *loop) stop(why string) {
	if why != "" {
		l.tell(timeline.Event{Time: time.Now(), Name: timeline.Note, Text: why})
	}
	verb := machine.Stop
	if l.stopping {
		verb = machine.Hurry
	}
	l.stopping = true
	l.step(machine.Requested{Verb: verb})
}

// pass passes a signal on that only the service can know the meaning of: where
// there are several, nobody can tell whose it is.
func (l *loop) pass(s os.Signal) {
	number, ok := s.(unix.Signal)
	if ok && len(l.units) == 1 && l.mainPID(l.units[0]) != 0 {
		l.signal(machine.Signal{Unit: l.units[0], Signal: syntax.Signal(number), To: machine.ToMain})
	}
}
