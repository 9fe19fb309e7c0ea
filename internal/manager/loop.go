package manager

import (
	"errors"
	"fmt"
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
	prepared <-chan prepared       // a start that may go on
	ended    <-chan machine.Exited // a process that was started, and all that it printed; Left is open
	words    <-chan string         // a unit that has said something
	deserted <-chan struct{}       // closed when nobody reads the time line any more

	units   []string
	prepare func(a machine.Spawn, number int) // answered by prepared, after some time
	spawn   func(prepared) (pid int, err error)
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

	// oversleep is how late this process can be for want of a processor. One that
	// is later was stopped.
	oversleep = time.Second

	// oneStop is how close together signals are one wish to stop: timeout(1), for
	// one, signals a program, and then the group that it is in.
	oneStop = 100 * time.Millisecond
)

// loop owns the machine.
type loop struct {
	world
	machine  decider
	alarm    *time.Timer
	counted  map[string]int // what was left of units when it was last told, where that was anything
	starts   int            // so far
	wanted   map[place]int  // starts that are being prepared, by their numbers
	stopping bool           // somebody has asked for it
	asked    time.Time      // when, the last time
	stepped  time.Time      // the machine's time of the last step
	slept    time.Duration  // how far the machine's time is behind
	code     *int
}

// place is where in a unit a process belongs.
type place struct {
	unit string
	role machine.Role
}

func newLoop(w world, m decider) *loop {
	return &loop{world: w, machine: m, alarm: time.NewTimer(time.Hour), counted: map[string]int{}, wanted: map[place]int{}}
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
		case p := <-l.prepared:
			l.start(p)
		case e := <-l.ended:
			l.processEnded(e)
		case unit := <-l.words:
			l.hear(unit, turn)
		case <-l.deserted:
			l.deserted = nil
			l.stopFor("nobody reads the time line any more")
		case <-l.alarm.C:
			l.count()
			l.step(machine.Tick{})
		}
	}
	return *l.code
}

// now is the machine's time. While this process was stopped, by Ctrl-Z or with its
// container, services could not give it what they owed: such time does not pass
// here, and it has a moment before the deadline in which to hear them.
func (l *loop) now() time.Time {
	now := time.Now().Add(-l.slept)
	if deadline, ok := l.machine.Deadline(); ok && now.Sub(deadline) > oversleep {
		awake := deadline.Add(-oversleep)
		if awake.Before(l.stepped) {
			awake = l.stepped
		}
		l.slept += now.Sub(awake)
		l.tell(timeline.Event{Time: time.Now(), Name: timeline.Note, Text: fmt.Sprintf(
			"this process was stopped for %s; that counts for no time limit", syntax.AboutDuration(now.Sub(awake)))})
		return awake
	}
	return now
}

// step has the machine decide, and does what it says. What lies in the sockets
// comes first where a deadline has passed: the services may have had the processor
// when this process had not (systemd reads its notify socket before its timers
// too: src/core/manager.c).
func (l *loop) step(event machine.Event) {
	if deadline, ok := l.machine.Deadline(); ok && !deadline.After(l.now()) {
		for _, unit := range l.units {
			l.hear(unit, backlog)
		}
	}
	l.stepAt(l.now(), event)
}

// stepAt steps an event of that moment.
func (l *loop) stepAt(now time.Time, event machine.Event) {
	l.stepped = now
	for _, action := range l.machine.Step(now, event) {
		l.perform(action, now)
	}
	if deadline, ok := l.machine.Deadline(); ok {
		l.alarm.Reset(deadline.Sub(l.now()))
	} else {
		l.alarm.Stop()
	}
}

// perform does one action of an event that was stepped at now.
func (l *loop) perform(action machine.Action, now time.Time) {
	switch a := action.(type) {
	case machine.Spawn:
		l.starts++
		l.wanted[place{a.Unit, a.Role}] = l.starts
		l.prepare(a, l.starts)
	case machine.Signal:
		l.signal(a)
	case machine.Tell:
		l.tellAt(now, a.Event)
	case machine.Release:
		l.release(a.Unit)
	case machine.Done:
		l.code = &a.Code
	}
}

// tellAt tells of what the machine decided at now, and not when there was time to
// tell it: a wait counts from there.
func (l *loop) tellAt(now time.Time, e timeline.Event) {
	switch e.Name {
	case timeline.Starting:
		l.begin(e.Unit, e.Run)
	case timeline.Ended: // what is still being prepared for the run, nobody waits for
		delete(l.wanted, place{e.Unit, machine.Main})
		delete(l.wanted, place{e.Unit, machine.Control})
	default:
	}
	e.Time = now.Add(l.slept)
	l.tell(e)
}

// start starts a process, if it is still wanted.
func (l *loop) start(p prepared) {
	at := place{p.Unit, p.Role}
	if l.wanted[at] != p.number {
		return
	}
	delete(l.wanted, at)
	pid, err := l.spawn(p)
	if err == nil {
		l.step(machine.Spawned{Unit: p.Unit, Role: p.Role, PID: pid})
		return
	}
	failed := machine.SpawnFailed{Unit: p.Unit, Role: p.Role, Reason: err.Error()}
	if why := (*startError)(nil); errors.As(err, &why) {
		failed.Status = why.status
	}
	l.step(failed)
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
	now := l.now()
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
			l.stopFor("the terminal has gone")
			return
		}
		l.step(machine.Requested{Verb: machine.Reload})
	case unix.SIGUSR1, unix.SIGUSR2:
		l.pass(s)
	case unix.SIGTERM, unix.SIGINT, unix.SIGQUIT:
		l.stop()
	}
}

// stopFor stops everything for a reason of the manager's own. It never hurries a
// stop: Ctrl-C ends the reader of the time line too, where that is another
// program of the same terminal.
func (l *loop) stopFor(why string) {
	if !l.stopping {
		l.tell(timeline.Event{Time: time.Now(), Name: timeline.Note, Text: why})
		l.stop()
	}
}

// stop stops everything, and faster each time that somebody asks for it.
func (l *loop) stop() {
	verb := machine.Stop
	switch now := time.Now(); {
	case !l.stopping:
		l.stopping, l.asked = true, now
	case now.Sub(l.asked) > oneStop:
		verb, l.asked = machine.Hurry, now
	default:
		return
	}
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
