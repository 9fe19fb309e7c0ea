package manager

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/proc"
	supervised "github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify/socket"
)

// handled are the signals that are answered or passed on. SIGWINCH is none: it
// comes whenever a terminal is resized, and servers take it for a wish to stop.
var handled = []os.Signal{
	unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2,
}

const (
	// lastWords is how long a time line that nobody reads is waited for at the end.
	lastWords = 3 * time.Second

	lastSignal = 64

	// blocking is how many threads may be in the kernel at once: with the time
	// line, a start, and the files that two of them need.
	blocking = 4

	// sweepBound is how long what is left at the end may take to die.
	sweepBound = time.Second
)

// runner is the real world of one loop.
type runner struct {
	host    *Host
	given   []string
	secrets map[string][]byte
	path    string // PATH= of services
	table   *proc.Table
	feed    *feed
	order   []string
	units   map[string]*unit

	signals  chan os.Signal
	children chan os.Signal
	prepared chan prepared
	ended    chan machine.Exited
	words    chan string
	closed   chan struct{}
	terminal bool // there was one at the start, and its end is ours
}

// Run runs the services to their end, and returns what to exit with. An error
// comes only before the first of them is started.
func Run(o Options) (int, error) {
	r, err := prepare(o)
	if err != nil {
		return 0, err
	}
	defer r.close()
	l := newLoop(r.world(), machine.New(o.Services, mathrand.Int64N))
	return l.run(), nil
}

// prepare opens what has to be there before anything is started.
func prepare(o Options) (*runner, error) {
	r := &runner{
		host: o.Host, given: o.Env, secrets: o.Secrets, path: servicePath(), units: map[string]*unit{},
		signals: make(chan os.Signal, 16), children: make(chan os.Signal, 1), ended: make(chan machine.Exited),
		prepared: make(chan prepared), words: make(chan string), closed: make(chan struct{}),
	}
	r.catch()
	for _, fd := range proc.InheritedDescriptors() {
		unix.CloseOnExec(fd) // it is none of the services'
	}
	proc.ReserveThreads(blocking)
	var err error
	if r.table, err = proc.NewTable(); err != nil {
		return nil, err
	}
	for i := range o.Services {
		if err := r.add(&o, i); err != nil {
			r.release()
			return nil, err
		}
	}
	r.feed = newFeed(o.Out, timeline.NewWriter(o.Style, time.Now(), r.order))
	for name, u := range r.units {
		go r.listen(name, u.listener)
	}
	return r, nil
}

// catch has signals kept from now on. What is ignored is caught too: a signal
// that is caught has its default disposition again in a service, as under
// systemd; SIGPIPE alone is ignored there.
func (r *runner) catch() {
	r.terminal = proc.HasTerminal() && !signal.Ignored(unix.SIGHUP)
	for n := syntax.Signal(1); n <= lastSignal; n++ {
		if signal.Ignored(unix.Signal(n)) {
			signal.Notify(make(chan os.Signal, 1), unix.Signal(n))
		}
	}
	signal.Ignore(unix.SIGPIPE)
	signal.Notify(r.signals, handled...)
	signal.Notify(r.children, unix.SIGCHLD)
	unix.Umask(0o022)
}

// add opens what a unit has from before its first start.
func (r *runner) add(o *Options, i int) error {
	s := &o.Services[i]
	u := &unit{plan: s, running: map[machine.Role]*process{}, preparing: make(chan struct{}, 1)}
	var err error
	if u.who, err = r.host.identify(s, o.AsMe); err != nil {
		return err
	}
	if err := unused(s.Surroundings.Dirs); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	if u.listener, err = r.listenFor(s.Name); err != nil {
		return err
	}
	r.units[s.Name], r.order = u, append(r.order, s.Name)
	if err := r.host.rivals(s.Name); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	if u.sockets, err = listen(s.Surroundings.Sockets, r.host.Root); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// longestPath is what a socket's path may have (unix(7)), with some to spare.
const longestPath = 100

// notifyName is the name of a unit's notify socket.
func notifyName(unit string) string { return unit + ".notify" }

// listenFor opens a unit's notify socket: in the manager's directory, or under an
// abstract name where that is none, or full, or its path too long for a socket.
func (r *runner) listenFor(unit string) (*socket.Listener, error) {
	if path := filepath.Join(r.host.Dir, notifyName(unit)); r.host.Dir != "" && len(path) <= longestPath {
		if l, err := socket.Listen(path); err == nil {
			return l, nil
		}
	}
	return socket.Listen(fmt.Sprintf("@svckit/%s/notify", randomID()))
}

// world is the loop's.
func (r *runner) world() world {
	return world{
		signals: r.signals, children: r.children, ended: r.ended, words: r.words, deserted: r.feed.gone,
		units:   r.order,
		prepare: r.prepare, prepared: r.prepared, spawn: r.spawn, signal: r.signal, reap: func() { r.table.Reap() },
		over:    func(e machine.Exited) { r.units[e.Unit].over(e) },
		left:    func(name string) int { return r.left(r.units[name]) },
		receive: func(name string) (socket.Datagram, bool) { return r.units[name].listener.Receive() },
		mainPID: func(name string) int { return r.units[name].pid(machine.Main) },
		begin:   func(name string, run int) { r.units[name].begin(run, randomID()) },
		release: func(name string) { r.units[name].release(r.host) },
		tell:    r.feed.tell,
		hungUp:  func() bool { return r.terminal && !proc.HasTerminal() },
	}
}

// listen tells the loop when a unit has said something.
func (r *runner) listen(name string, l *socket.Listener) {
	for l.Wait() == nil {
		select {
		case r.words <- name:
		case <-r.closed:
			return
		}
	}
}

// await waits for a process's end and for what it printed.
func (r *runner) await(p *process, ended <-chan supervised.Status) {
	status := <-ended
	line, tail := p.output.finish()
	select {
	case r.ended <- machine.Exited{Unit: p.unit.plan.Name, Role: p.role, PID: p.pid, Exit: status.Exit(), Line: line, Tail: tail}:
	case <-r.closed:
	}
}

// signal sends a signal to whom it is for.
func (r *runner) signal(s machine.Signal) {
	u := r.units[s.Unit]
	switch s.To {
	case machine.ToMain:
		r.table.SignalChild(u.pid(machine.Main), s.Signal)
	case machine.ToControl:
		r.table.SignalChild(u.pid(machine.Control), s.Signal)
	case machine.ToAll:
		for _, role := range []machine.Role{machine.Main, machine.Control} {
			if pid := u.pid(role); pid != 0 {
				r.table.SignalChild(pid, s.Signal)
			}
		}
		for _, p := range r.alive(u) {
			if !u.isOwn(p.PID) {
				_ = unix.Kill(p.PID, unix.Signal(s.Signal))
			}
		}
	}
}

// release gives back what a unit has beside its processes.
func (u *unit) release(h *Host) {
	if u.sockets != nil {
		u.sockets.close()
		u.sockets = nil
	}
	if u.surrounded { // else they are not this run's
		removeDirs(u.plan.Surroundings.Dirs)
		takeCredentials(h.Credentials(u.plan.Name))
	}
}

// release gives back what all units have.
func (r *runner) release() {
	for _, u := range r.units {
		u.release(r.host)
		_ = u.listener.Close()
	}
}

// close ends what runs beside the loop: nothing of the services stays.
func (r *runner) close() {
	r.sweep()
	close(r.closed)
	r.release()
	r.feed.close(lastWords)
}

// sweep kills whatever is left.
func (r *runner) sweep() {
	bound := time.After(sweepBound)
	for {
		_, left := r.table.Reap()
		if !left {
			return
		}
		proc.SignalAll(r.table.Service(), syntax.SIGKILL)
		select {
		case <-r.children:
		case <-bound:
			return
		}
	}
}

// randomID is 128 random bits, as an invocation id is (sd-id128(3)).
func randomID() string {
	var id [16]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}
