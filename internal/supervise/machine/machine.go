package machine

import (
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// Machine is one service's life. The loop that owns it calls Step for every
// event, runs the actions, and calls Step with a Tick at Deadline.
type Machine struct {
	cfg     Config
	monitor *watchdog.Monitor
	state   State
	reason  reason
	now     time.Time // of the event being stepped
	actions []Action  // of the event being stepped

	record  history.Record
	phaseAt time.Time // when the record's last phase began
	noted   bool      // the record is as the loop has it

	deadline time.Time // the state's own, set anew by every transition; zero for none
	beat     time.Time // when a heartbeat is owed; meaningful in Ready and Reloading
	extend   time.Time // when the manager is asked for more time; meaningful in Delaying and Starting
	stableAt time.Time // when health will have been unbroken for long enough; zero where it is broken
	stable   bool      // it has been, and the manager has been told so

	main           int  // the main process's pid; 0 before it runs
	running        bool // the child has been exec'd
	served         bool // READY=1 has gone out
	triggered      bool // WATCHDOG=trigger has gone out: no heartbeat follows
	childReloading bool // the child said RELOADING=1, and not yet READY=1
	childStatus    string
	statusSent     string
	warned         map[string]bool // kinds of what has been warned of
	reloadWanted   bool            // asked for before the service was ready
	reloadFailed   string          // why the last reload failed; "" if it was done
	awaited        bool            // somebody waits for the end of the reload

	stopAt      time.Time // when the service began to stop; zero before
	termAt      time.Time // when the first request to stop came; zero before
	hookRunning bool      // in Draining the pre-stop hook, in Reloading the command
	selfStop    bool      // the child said STOPPING=1: no signals
	steps       []drain.Step
	step        int // the step that runs; meaningful in Stopping
	sent        []syntax.Signal
	killUntil   time.Time // meaningful in Killing

	mainGone   bool // the main process has ended, as status says
	mainKilled bool // it needed SIGKILL
	execFailed bool // the command could not be executed
	status     Status
	left       int // others in the kill scope, as last counted

	failedCheck string // the check that had the last word, for the end line
	failedTimes int
	failedSaid  string
}

// New is a machine that starts its child at the first Tick, or after the start
// delay.
func New(cfg Config, now time.Time) *Machine {
	m := &Machine{
		cfg:     cfg,
		monitor: watchdog.NewMonitor(cfg.Ready, cfg.Live),
		now:     now,
		extend:  now,
		warned:  map[string]bool{},
		noted:   true,
	}
	m.record.Begun = now
	m.enter(Delaying, now.Add(cfg.Hold.Total()))
	return m
}

// State is the present state.
func (m *Machine) State() State { return m.state }

// CountsScope says whether the loop has to tell ScopeChanged when a process of
// the kill scope ends.
func (m *Machine) CountsScope() bool {
	return m.state == Ending || m.state == Aborting || m.state == Killing
}

// Step takes an event that happened at now, and returns what is to be done.
// After Exit it returns nothing more.
func (m *Machine) Step(now time.Time, event Event) []Action {
	m.now, m.actions = now, nil
	if m.state == Done {
		return nil
	}
	switch event := event.(type) {
	case Tick:
	case Spawned:
		m.spawned(event.PID)
	case SpawnFailed:
		m.spawnFailed(event.Reason)
	case MainExited:
		m.mainExited(event)
	case ScopeChanged:
		m.scopeChanged(event.Left)
	case Signalled:
		m.signalled(event.Signal)
	case Probed:
		m.probed(event)
	case Heard:
		m.heard(event.Said)
	case DescriptorRead:
		m.descriptorRead(event)
	case HookEnded:
		m.hookEnded(event.Failure)
	case Adopted:
		m.adopted(event.PID)
	case NotAdopted:
		m.warnOnce("MAINPID", "the service sent MAINPID= of a process that cannot be its main one: "+event.Reason)
	}
	m.settle()
	return m.actions
}

// settle does what has become due, whatever the event was.
func (m *Machine) settle() {
	for !m.deadline.IsZero() && !m.now.Before(m.deadline) {
		m.expire()
	}
	for _, id := range m.monitor.Silent(m.now) {
		m.checkUnhealthy(id)
	}
	if m.readyNow() {
		m.serve()
	}
	for _, id := range m.monitor.Due(m.now) {
		m.do(Probe{id})
	}
	m.askForTime()
	m.heartbeat()
	m.beStable()
	m.tellStatus()
	m.answerReload()
	m.note()
}

// Deadline is when Step wants a Tick, if ever.
func (m *Machine) Deadline() (time.Time, bool) {
	next := m.deadline
	sooner := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if t, ok := m.monitor.Next(); ok {
		sooner(t)
	}
	if m.beats() && m.monitor.Fresh(m.now) {
		sooner(m.beat)
	}
	if m.waits() {
		sooner(m.extend)
	}
	if m.awaitsStability() {
		sooner(m.stableAt)
	}
	return next, !next.IsZero()
}

// expire does what the state's deadline asks for. Each case leaves the state,
// or sets a later deadline, or clears it.
func (m *Machine) expire() {
	switch m.state {
	case Delaying:
		m.enter(Starting, time.Time{})
		m.do(Spawn{})
	case Starting:
		m.startTimedOut()
	case Ready, Done:
		m.deadline = time.Time{}
	case Reloading:
		m.reloadTimedOut()
	case Draining:
		m.drainExpired()
	case Stopping:
		m.nextStep()
	case Ending, Aborting:
		m.kill()
	case Killing:
		m.killExpired()
	}
}

// enter goes to a state with its deadline; zero for none.
func (m *Machine) enter(s State, deadline time.Time) {
	m.state, m.deadline = s, deadline
	m.stateBegins()
}

// do appends actions to what this event asks for.
func (m *Machine) do(actions ...Action) { m.actions = append(m.actions, actions...) }

// send tells the manager something, where there is one.
func (m *Machine) send(fields ...notify.Field) {
	if m.cfg.Managed {
		m.do(Send{Message: fields})
	}
}

// log writes a line for the journal.
func (m *Machine) log(level Level, text string) { m.do(Log{level, text}) }
