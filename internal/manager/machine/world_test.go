package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/policy"
)

// world is a machine among processes that do whatever they may, and what is
// known of them without asking it. What it does is checked as it comes.
type world struct {
	t     *rapid.T
	m     *Machine
	now   time.Time
	units map[string]*actual
	names []string
	pid   int
	done  bool
	quiet bool // a stop of all was asked for, and nothing is to start any more
}

// actual is what there really is of a unit.
type actual struct {
	plan      plan.Service
	processes [2]actualProcess
	left      int
	killed    bool // all of it got SIGKILL in this run
	ghosts    []int

	runs        int
	open, ready bool
	restart     bool // the last end promised a restart, which has not been told yet
	result      policy.Result
	verdict     verdict
}

type actualProcess struct {
	asked bool
	pid   int
}

func newWorld(t *rapid.T, services []plan.Service) *world {
	random := rapid.Int64Range(0, 1<<40)
	w := &world{t: t, now: time.Unix(1000, 0), units: map[string]*actual{}, m: New(services, func(n int64) int64 {
		return random.Draw(t, "jitter") % n
	})}
	for _, s := range services {
		w.units[s.Name] = &actual{plan: s}
		w.names = append(w.names, s.Name)
	}
	return w
}

// String is where the units are.
func (w *world) String() string {
	var all []string
	for _, u := range w.m.units {
		all = append(all, fmt.Sprintf("%s is %s, %+v", u.plan.Name, u.state, u.job))
	}
	return strings.Join(all, "; ")
}

// step steps the machine, and checks all that it does.
func (w *world) step(event Event) {
	_, inTime := event.(Tick)
	for _, u := range w.units {
		pending := u.processes[Main].asked && u.processes[Main].pid == 0 || u.processes[Control].asked && u.processes[Control].pid == 0
		u.verdict.blind = u.verdict.blind || inTime && u.verdict.pushed && pending
	}
	actions := w.m.Step(w.now, event)
	if w.done && len(actions) > 0 {
		w.t.Fatalf("after Done it does %#v", actions)
	}
	for _, action := range actions {
		w.check(action)
		if told, ok := action.(Tell); ok && told.Event.Name == timeline.Ended {
			w.checkResult(told.Event, inTime)
		} else if u := w.units[unitOf(action)]; u != nil && u.open {
			u.verdict.seesAction(action, inTime)
		}
	}
	if at, ok := w.m.Deadline(); ok && !at.After(w.now) {
		w.t.Fatalf("after %#v the deadline is %v ago", event, w.now.Sub(at))
	}
	for _, u := range w.m.units {
		w.checkUnit(u)
	}
}

func (w *world) check(action Action) {
	switch a := action.(type) {
	case Spawn:
		w.checkSpawn(w.units[a.Unit], a)
	case Signal:
		w.checkSignal(w.units[a.Unit], a)
	case Tell:
		w.checkTold(w.units[a.Event.Unit], a.Event)
	case Release:
		if w.units[a.Unit].open {
			w.t.Fatalf("%s: released during a run", a.Unit)
		}
	case Done:
		w.done = true
		for name, u := range w.units {
			if u.open || u.processes != [2]actualProcess{} || u.left > 0 && !u.killed {
				w.t.Fatalf("done, and of %s there is %s", name, u)
			}
		}
	}
}

// String is what there is of the unit.
func (u *actual) String() string {
	return fmt.Sprintf("run %d, open %v, ready %v; processes %+v, %d left, killed %v; result %s", u.runs, u.open, u.ready, u.processes, u.left, u.killed, u.result)
}

func (u *actual) alive() bool {
	return u.processes[Main].asked || u.processes[Control].asked || u.left > 0
}

// unitOf is the unit that an action is about.
func unitOf(of Action) string {
	switch of := of.(type) {
	case Spawn:
		return of.Unit
	case Signal:
		return of.Unit
	case Tell:
		return of.Event.Unit
	}
	return ""
}

// checkResult: the result of a run is the first thing that went wrong in it.
func (w *world) checkResult(e timeline.Event, inTime bool) {
	v := &w.units[e.Unit].verdict
	v.seesTold(e, inTime)
	if e.End.Result != v.result && !v.blind {
		w.t.Fatalf("%s: the result is %s, and the first thing that went wrong %s", e.Unit, e.End.Result, v.result)
	}
}

// checkSpawn: never are there two of a kind, and only one of Before at a time.
func (w *world) checkSpawn(u *actual, a Spawn) {
	if u.processes[a.Role].asked {
		w.t.Fatalf("%s: a second process of role %d", a.Unit, a.Role)
	}
	if !u.open || w.quiet {
		w.t.Fatalf("%s: a process without a run, or after a stop", a.Unit)
	}
	u.processes[a.Role] = actualProcess{asked: true}
}

// checkSignal: nobody is signalled who is not there.
func (w *world) checkSignal(u *actual, a Signal) {
	switch {
	case a.To == ToAll && a.Signal == syntax.SIGKILL && u.alive():
		u.killed = true
	case a.To == ToMain && u.processes[Main].pid != 0, a.To == ToControl && u.processes[Control].pid != 0:
	default:
		w.t.Fatalf("%s: %s to %d, and there is %s", a.Unit, a.Signal, a.To, u)
	}
}

// checkTold: runs begin and end one after the other, and a restart is told
// where one comes.
func (w *world) checkTold(u *actual, e timeline.Event) {
	bad := func(format string, args ...any) {
		w.t.Fatalf("%s: %s: %s", e.Unit, e.Name, fmt.Sprintf(format, args...))
	}
	if u != nil && u.restart && e.Name != timeline.Restarting && e.Name != timeline.Note && e.Name != timeline.Refused {
		bad("where the restart should be told")
	}
	switch e.Name {
	case timeline.Starting:
		if u.open || e.Run != u.runs+1 {
			bad("run %d after run %d, which is over: %v", e.Run, u.runs, !u.open)
		}
		w.checkOrder(u)
		u.runs, u.open, u.ready, u.killed, u.result, u.verdict = e.Run, true, false, false, policy.Success, newVerdict()
	case timeline.Ready:
		if !u.open || u.ready {
			bad("twice, or outside of a run")
		}
		u.ready = true
	case timeline.Ended:
		if !u.open || e.End == nil || e.Run != u.runs {
			bad("of run %d, %s", e.Run, u)
		}
		u.open, u.restart = false, e.End.Restart
		w.buryLiving(u)
	case timeline.Restarting:
		if !u.restart {
			bad("nobody decided so")
		}
		u.restart = false
	case timeline.Refused:
		if u.open {
			bad("during a run")
		}
	}
}

// checkOrder: a unit is started when those before it are up, or are not coming.
func (w *world) checkOrder(u *actual) {
	for _, name := range u.plan.After {
		if before := w.units[name]; before.open && !before.ready {
			w.t.Fatalf("%s starts while %s, which it is after, is being started: %s", u.plan.Name, name, w)
		}
	}
}

// buryLiving: a run is over when its processes are, or would not die.
func (w *world) buryLiving(u *actual) {
	if u.alive() && !u.killed {
		w.t.Fatalf("%s: the run is over, and there is %s, which nobody has killed", u.plan.Name, u)
	}
	for role := range u.processes {
		if pid := u.processes[role].pid; pid != 0 {
			u.ghosts = append(u.ghosts, pid)
		}
		u.processes[role] = actualProcess{}
	}
}

// checkUnit: the first failure of a run is its result.
func (w *world) checkUnit(u *unit) {
	known := w.units[u.plan.Name]
	if !known.open {
		return
	}
	if known.result != policy.Success && u.run.result != known.result {
		w.t.Fatalf("%s: the result was %s, and is %s", u.plan.Name, known.result, u.run.result)
	}
	known.result = u.run.result
}

// The events that the world can come up with.

func (w *world) anyUnit() *actual {
	return w.units[rapid.SampledFrom(w.names).Draw(w.t, "unit")]
}

func (w *world) anyRole() Role { return Role(rapid.IntRange(0, 1).Draw(w.t, "role")) }

func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"tick":    func(*rapid.T) { w.tick() },
		"pass":    func(t *rapid.T) { w.pass(time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "time"))) },
		"answer":  func(*rapid.T) { w.answer() },
		"answers": func(*rapid.T) { w.answer() }, // which is what happens most
		"exit":    func(t *rapid.T) { w.exit(anyExit(t)) },
		"ghost":   func(*rapid.T) { w.ghost() },
		"left":    func(t *rapid.T) { w.setLeft(rapid.IntRange(0, 1).Draw(t, "left")) },
		"says":    func(t *rapid.T) { w.says(anyWords(t)) },
		"ready":   func(*rapid.T) { w.says("READY=1") },
		"request": func(t *rapid.T) {
			unit := rapid.SampledFrom(append([]string{""}, w.names...)).Draw(t, "whom")
			w.step(Requested{Verb(rapid.IntRange(0, 3).Draw(t, "verb")), unit})
		},
	}
}

func (w *world) tick() {
	if at, ok := w.m.Deadline(); ok {
		w.now = at
	}
	w.step(Tick{})
}

func (w *world) pass(d time.Duration) {
	until := w.now.Add(d)
	for range 100 {
		at, ok := w.m.Deadline()
		if !ok || at.After(until) {
			break
		}
		w.now = at
		w.step(Tick{})
	}
	w.now = until
}

// answer answers the first Spawn that waits for it.
func (w *world) answer() {
	for _, name := range w.names {
		u := w.units[name]
		for role, p := range u.processes {
			if !p.asked || p.pid != 0 {
				continue
			}
			if failure := rapid.IntRange(0, 9).Draw(w.t, "failure"); failure < 2 {
				u.processes[role] = actualProcess{}
				e := SpawnFailed{Unit: name, Role: Role(role), Reason: "no", Status: 203 * failure}
				u.verdict.seesFailure(u, e)
				w.step(e)
				return
			}
			w.pid++
			u.processes[role].pid = w.pid
			w.step(Spawned{name, Role(role), w.pid})
			return
		}
	}
}

func (w *world) exit(exit policy.Exit) {
	u, role := w.anyUnit(), w.anyRole()
	p := u.processes[role]
	if p.pid == 0 {
		return
	}
	u.processes[role] = actualProcess{}
	u.left = rapid.IntRange(0, 3).Draw(w.t, "left") / 3
	u.verdict.seesExit(u, role, exit)
	w.step(Exited{Unit: u.plan.Name, Role: role, PID: p.pid, Exit: exit, Left: u.left})
}

// ghost is the end of a process that had been given up.
func (w *world) ghost() {
	u := w.anyUnit()
	if len(u.ghosts) > 0 {
		pid := u.ghosts[0]
		u.ghosts = u.ghosts[1:]
		w.step(Exited{Unit: u.plan.Name, Role: w.anyRole(), PID: pid, Exit: policy.Exit{How: policy.Killed, Signal: syntax.SIGKILL}})
	}
}

func (w *world) setLeft(left int) {
	u := w.anyUnit()
	if u.processes[Main].pid != 0 || left < u.left {
		u.left = left
		w.step(LeftChanged{u.plan.Name, left})
	}
}

func (w *world) says(words ...string) {
	u := w.anyUnit()
	if u.processes[Main].pid == 0 {
		return
	}
	m, err := notify.Parse([]byte(strings.Join(words, "\n")))
	if err == nil {
		w.step(Heard{u.plan.Name, notify.Sort(m)})
	}
}

func anyWords(t *rapid.T) string {
	return strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"READY=1", "RELOADING=1", "STOPPING=1", "WATCHDOG=1", "WATCHDOG=trigger", "WATCHDOG_USEC=5000000", "EXTEND_TIMEOUT_USEC=7000000",
		"STATUS=x", "RESTART_RESET=1",
	}), 1, 3, rapid.ID[string]).Draw(t, "words"), "\n")
}

func anyExit(t *rapid.T) policy.Exit {
	return rapid.SampledFrom([]policy.Exit{
		{How: policy.Exited}, {How: policy.Exited, Code: 1}, {How: policy.Exited, Code: 69}, {How: policy.Exited, Code: 255},
		{How: policy.Killed, Signal: syntax.SIGTERM}, {How: policy.Killed, Signal: syntax.SIGKILL}, {How: policy.Dumped, Signal: syntax.SIGABRT},
	}).Draw(t, "exit")
}

// anyServices draws some services that have to do with each other. An order is
// one of those that plan.Read gives: without a cycle.
func anyServices(t *rapid.T) []plan.Service {
	names := []string{"a.service", "b.service", "c.service", "d.service"}[:rapid.IntRange(1, 4).Draw(t, "services")]
	some := func(from []string, what string) []string {
		return slices.DeleteFunc(slices.Clone(from), func(string) bool { return rapid.IntRange(0, 3).Draw(t, what) > 0 })
	}
	services := make([]plan.Service, len(names))
	for i, name := range names {
		s := anyService(t, strings.TrimSuffix(name, ".service"))
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
		s.After = some(names[:i], "after")
		s.Requires, s.Wants, s.PartOf = some(others, "requires"), some(others, "wants"), some(others, "part of")
		s.OnFail = some(append(others, "x.service"), "on failure")
		s.EachFail = !s.Direct && rapid.Bool().Draw(t, "each failure")
		services[i] = s
	}
	rapid.Permutation(services).Draw(t, "order")
	return services
}

func anyService(t *rapid.T, name string) plan.Service {
	s := simple(name)
	span := func(what string, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(most/time.Second)).Draw(t, what)) * time.Second
	}
	s.Restarts.Rules.Restart = rapid.SampledFrom(policy.RestartValues()).Draw(t, "restart")
	s.Restarts.Rules.Systemd = rapid.SampledFrom([]int{252, 256, 257, 258, 262}).Draw(t, "version")
	s.Restarts.Randomized = span("randomized", 2*time.Second)
	s.Restarts.Limit = policy.Limit{Starts: rapid.IntRange(0, 4).Draw(t, "starts"), Within: span("within", time.Minute)}
	s.Direct = rapid.Bool().Draw(t, "direct")
	s.Settle, s.Watchdog, s.RuntimeMax = span("settle", time.Minute), span("watchdog", 20*time.Second), span("runtime max", time.Minute)
	for range rapid.IntRange(0, 2).Draw(t, "before") {
		s.Before = append(s.Before, plan.Command{
			Argv: []string{"/bin/pre"}, MayErr: rapid.Bool().Draw(t, "may fail"), Condition: rapid.Bool().Draw(t, "condition"),
		})
	}
	switch rapid.IntRange(0, 2).Draw(t, "reload") {
	case 1:
		bySignal(&s)
	case 2:
		byCommand(&s)
	}
	return s
}

func TestWhateverHappensTheMachineKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, anyServices(t))
		w.step(Requested{Verb: Start})
		t.Repeat(w.actions())
	})
}

// TestAStopOfAllIsOverInTime stops services in the midst of anything. Nothing
// ends by itself any more; the kernel alone may do as SIGKILL asks.
func TestAStopOfAllIsOverInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		services := anyServices(t)
		for i := range services {
			services[i].OnFail = nil // whose starts are no part of the stop
		}
		w := newWorld(t, services)
		w.step(Requested{Verb: Start})
		actions := w.actions()
		delete(actions, "request")
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			actions[rapid.SampledFrom([]string{"tick", "pass", "answer", "answers", "exit", "left", "ready", "says"}).Draw(t, "event")](t)
		}
		if w.done {
			return
		}
		mortal := rapid.Bool().Draw(t, "mortal")
		bound := 7 * time.Second // of an EXTEND_TIMEOUT_USEC= that came before
		for _, s := range services {
			bound += 4*s.StopTimeout + s.AbortTimeout
		}
		until := w.now.Add(bound)
		w.quiet = true
		w.step(Requested{Verb: Stop})
		for !w.done {
			if mortal && w.reap() {
				continue
			}
			if _, ok := w.m.Deadline(); !ok || w.now.After(until) {
				t.Fatalf("not over after %s: %s", bound, w)
			}
			w.tick()
		}
	})
}

// reap is the kernel, that kills as it was told.
func (w *world) reap() bool {
	kill := policy.Exit{How: policy.Killed, Signal: syntax.SIGKILL}
	for _, name := range w.names {
		u := w.units[name]
		if !u.killed {
			continue
		}
		for role, p := range u.processes {
			if p.pid != 0 {
				u.processes[role], u.left = actualProcess{}, 0
				u.verdict.seesExit(u, Role(role), kill)
				w.step(Exited{Unit: name, Role: Role(role), PID: p.pid, Exit: kill})
				return true
			}
		}
		if u.left > 0 {
			u.left = 0
			w.step(LeftChanged{name, 0})
			return true
		}
	}
	return false
}
