package supervise

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/history/records"
	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/notify/socket"
	"github.com/svckit/svckit/watchdog"
	"github.com/svckit/svckit/watchdog/probe"
)

const (
	// flushWait bounds what a manager that does not read can cost at the end;
	// barrierWait, where something was said of late that it must not miss. Both
	// fit into what a unit of svcgen's spares for svcrun beside the service.
	flushWait   = 500 * time.Millisecond
	barrierWait = 3 * time.Second

	// patientWait is barrierWait where the manager's time to stop has not begun: a
	// manager that starts hundreds of units may hear of nothing else for long, and
	// would then take a service that was ready, and has ended, for one that never was.
	patientWait = 10 * time.Second

	// recent is how long a message may still lie unread at a busy manager.
	recent = 10 * time.Second
)

// passing are messages that are worth nothing once svcrun has ended.
var passing = []string{"STATUS", "WATCHDOG", "WATCHDOG_USEC", "EXTEND_TIMEOUT_USEC", "STOPPING", "MONOTONIC_USEC"}

// service is the real world of one loop.
type service struct {
	o         Options
	table     *proc.Table
	alarm     *kernelAlarm // nil where the kernel has none
	listener  *socket.Listener
	sender    *socket.Sender // nil where nobody listens
	probes    []probe.Probe
	ended     chan machine.Status // the main process's
	main      mainProcess
	mainPID   atomic.Int64   // its pid, for hooks, which run beside the loop
	gone      chan struct{}  // an adopted main process has ended
	received  atomic.Int64   // datagrams of the service
	closed    chan struct{}  // nobody waits for gone any more
	notices   []*notice      // svcrun's ends of the pipes of fd checks
	written   chan struct{}  // something was written to one
	ignored   proc.SignalSet // what the child has to find ignored
	cgroup    string         // svcrun's own, as the kernel names it
	catcher   *proc.Catcher
	signals   chan os.Signal // see passSignals
	children  chan os.Signal
	said      chan struct{}     // the child has said something
	swept     bool              // the first SIGKILL to the whole service has been sent
	attends   bool              // what runs beside the loop has been started
	muted     map[string]bool   // what could not be sent, and has been warned of
	recorder  *records.Recorder // nil where no records are kept
	warnings  chan error        // of what went wrong beside the loop
	forgotten chan struct{}     // closed when earlier failures are forgotten; nil before anybody asked
	stopped   bool              // the service did not just end
	lasting   time.Time         // when something was last sent that must not be lost
}

// Run supervises the service to its end, and returns how svcrun has to end. An
// error comes only before the child is started.
func Run(o Options) (machine.Outcome, error) {
	s, err := prepare(o)
	if err != nil {
		return machine.Outcome{}, err
	}
	defer s.close()
	if o.Machine.Hold = s.holdBack(); o.Machine.Hold.Total() > 0 {
		s.attend()
	}
	w := world{
		signals: s.signals, children: s.children, readable: s.said, gone: s.gone, written: s.written,
		spawn: s.spawn, signal: s.signal, reap: s.reap, others: s.others,
		receive: s.receive, trusts: s.trusts, send: s.send, noticed: s.noticed,
		probe: s.probe, hook: s.hook, log: o.Log,
		adopt: s.adopt, lost: s.lost, answer: socket.Answer,
		note: s.note, forget: s.forget, warnings: s.warnings,
	}
	if s.alarm != nil {
		w.alarm = s.alarm
	}
	l := newLoop(w, o.Machine)
	outcome := l.run()
	s.stopped = !outcome.Record.Stopping.IsZero()
	s.closeRun(outcome)
	return outcome, nil
}

// prepare opens what has to be there before the child is started, and no more:
// the service waits for it. Whatever fails here, fails before that.
func prepare(o Options) (*service, error) {
	s := &service{
		o: o, ended: make(chan machine.Status, 1), muted: map[string]bool{},
		gone: make(chan struct{}), closed: make(chan struct{}), written: make(chan struct{}), said: make(chan struct{}),
		ignored: ignoredAtStart(o.Environ), warnings: make(chan error, 4),
	}
	if err := s.catch(); err != nil { // first of all: a signal must not kill what is being prepared
		return nil, err
	}
	var err error
	if s.table, err = proc.NewTable(); err != nil {
		return nil, err
	}
	for i, c := range append(slices.Clone(o.Machine.Ready), o.Machine.Live...) {
		p, err := s.newProbe(c)
		if err != nil {
			return nil, &RefusedError{Check: c, Live: i >= len(o.Machine.Ready), Reason: err}
		}
		s.probes = append(s.probes, p)
	}
	if err := s.openListener(); err != nil {
		return nil, err
	}
	proc.ReserveThreads(s.blocking()) // on a busy host the service may have used up what there is a moment after its start
	if a, err := newKernelAlarm(); err == nil {
		s.alarm = a
	}
	return s, nil
}

// sweepPercent has the heap swept at 800 KiB instead of 4 MiB: svcrun has less than
// 200 in use, and every probe leaves some behind, for years.
const sweepPercent = 20

// attend starts what runs beside the loop, once. It comes after the child has
// been started, unless the start is held back.
func (s *service) attend() {
	if s.attends {
		return
	}
	s.attends = true
	s.cgroup = cgroupOf("self")
	if s.o.NotifyAddress != "" {
		var err error
		s.sender, err = socket.Dial(s.o.NotifyAddress)
		s.log(err)
	}
	debug.SetGCPercent(sweepPercent)
	go s.passSignals()
	go s.passWords()
	if s.alarm != nil {
		go s.alarm.run(s.closed)
	}
}

// blocking is how many probes and writers a file system that hangs can keep in
// the kernel at once.
func (s *service) blocking() (count int) {
	for _, p := range s.probes {
		if p != nil {
			count++
		}
	}
	if s.o.StateDir != "" {
		count++
	}
	return count
}

// openListener opens the socket for the child: in the runtime directory, or, if
// that cannot be written, under an abstract name. A full or read-only directory
// must not keep a service from starting.
func (s *service) openListener() error {
	at := s.o.ListenAddress
	if at == "" && s.o.RuntimeDir != "" {
		var err error
		if s.listener, err = socket.Listen(filepath.Join(s.o.RuntimeDir, "notify")); err == nil {
			return nil
		}
		s.o.Log(machine.Warning, err.Error()+"; using an abstract name")
	}
	if at == "" {
		// A pid alone may be another svcrun's too, in another pid namespace that
		// shares this network namespace: the containers of one pod.
		at = fmt.Sprintf("@svckit/%d/%016x/notify", os.Getpid(), rand.Uint64())
	}
	var err error
	s.listener, err = socket.Listen(at)
	return err
}

// newProbe is the probe of a check; what the child itself answers has none.
func (s *service) newProbe(c watchdog.Check) (probe.Probe, error) {
	if c.Kind.Spoken() {
		return nil, nil
	}
	return probe.New(c, probe.Host{Run: runner{s.table, helperEnv(s.o.Environ)}, Service: s.pids})
}

// pids are the service's processes.
func (s *service) pids() []int {
	var pids []int
	for _, p := range s.table.Service() {
		pids = append(pids, p.PID)
	}
	return pids
}

// close ends what runs beside the loop, and waits a bounded time for the
// manager to take what it has been told.
func (s *service) close() {
	s.table.KillHelpers()
	close(s.closed)
	s.closeNotices()
	if s.main.adopted != nil {
		s.main.adopted.Close()
	}
	_ = s.listener.Close()
	if s.sender == nil {
		return
	}
	// The manager may drop what it finds unread from a sender that has gone,
	// READY=1 of a service that ends at once too.
	if time.Since(s.lasting) < recent && s.sender.Unread() {
		wait := barrierWait
		if !s.stopped {
			wait = patientWait
		}
		if err := s.sender.Barrier(wait); err != nil {
			s.o.Log(machine.Warning, err.Error())
		}
	}
	s.sender.Flush(flushWait)
}

// How long the child may have to wait for its next turn; the longer one after a
// turn that it has used up: that bounds what of a flood gets through to the
// manager, whose socket is that of all services.
const (
	pace      = 2 * time.Millisecond
	floodPace = 20 * time.Millisecond
)

// passWords tells that the child has said something. What it says while the
// manager does not read waits in the kernel, and at last it does itself.
func (s *service) passWords() {
	var last time.Time
	wait := pace
	for s.listener.Wait() == nil {
		if s.sender != nil {
			s.sender.WaitRoom()
		}
		time.Sleep(wait - time.Since(last)) //nolint:forbidigo // a pace is time itself
		before := s.received.Load()
		last = time.Now()
		s.said <- struct{}{}
		runtime.Gosched() // until the loop has heard it, or there would be more to hear
		wait = pace
		if s.received.Load()-before >= turn {
			wait = floodPace
		}
	}
}

// send tells the manager something.
func (s *service) send(m machine.Send, fds []int) {
	if s.sender == nil {
		return
	}
	message := m.Message
	if m.Stamped {
		var ts unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		stamp := strconv.FormatInt(ts.Nano()/int64(time.Microsecond), 10)
		message = append(slices.Clone(message), notify.Field{Key: "MONOTONIC_USEC", Value: stamp})
	}
	if !s.lasting.IsZero() && !s.sender.Unread() {
		s.lasting = time.Time{} // it has been read, whatever becomes of what follows
	}
	if slices.ContainsFunc(message, func(f notify.Field) bool { return !slices.Contains(passing, f.Key) }) {
		s.lasting = time.Now()
	}
	key := message[0].Key
	if err := s.sender.Send(message.Encode(), fds); err != nil && !s.muted[key] {
		s.muted[key] = true
		s.o.Log(machine.Warning, "cannot tell the manager "+key+"=: "+err.Error())
	}
}

// probe asks a check once.
func (s *service) probe(ctx context.Context, id watchdog.ID) error {
	return s.probes[id].Probe(ctx)
}

// receive takes the next datagram, and counts it.
func (s *service) receive() (socket.Datagram, bool) {
	d, ok := s.listener.Receive()
	if ok {
		s.received.Add(1)
	}
	return d, ok
}

// hook runs the pre-stop hook or the reload command; its output is the
// service's, and it is told the main process as ExecReload= is (systemd.exec(5)).
func (s *service) hook(ctx context.Context, argv []string) error {
	env := append(without(helperEnv(s.o.Environ), "MAINPID"), "MAINPID="+strconv.FormatInt(s.mainPID.Load(), 10))
	status, err := s.table.Run(ctx, proc.Command{Argv: argv, Path: argv[0], Env: env})
	if err == nil && status != (machine.Status{}) {
		err = errors.New(strings.TrimSpace(argv[0] + " " + status.String()))
	}
	return err
}

// runner runs the commands of exec checks by the one reaper there is.
type runner struct {
	table *proc.Table
	env   []string
}

// Run is probe.Runner.
func (r runner) Run(ctx context.Context, argv []string) (probe.Result, error) {
	status, output, err := r.table.Output(ctx, proc.Command{Argv: argv, Path: argv[0], Env: r.env})
	return probe.Result{Code: status.Code, Signal: int(status.Signal), Output: output}, err
}
