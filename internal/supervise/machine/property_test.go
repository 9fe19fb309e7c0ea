package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// events is one event of every kind, and of every kind of answer.
func events() map[string]Event {
	return map[string]Event{
		"tick": Tick{}, "spawned": Spawned{PID: 100}, "spawn failed": SpawnFailed{"no such file"},
		"main exits": MainExited{}, "main fails, others live": MainExited{Status: Status{Code: 3}, Left: 2},
		"main is killed":  MainExited{Status: Status{Signal: syntax.SIGKILL}},
		"scope shrinks":   ScopeChanged{1},
		"scope is empty":  ScopeChanged{0},
		"TERM":            Signalled{syntax.SIGTERM},
		"INT":             Signalled{syntax.SIGINT},
		"HUP":             Signalled{syntax.SIGHUP},
		"ABRT":            Signalled{syntax.SIGABRT},
		"USR1":            Signalled{syntax.SIGUSR1},
		"ready holds":     Probed{ID: 0},
		"ready fails":     Probed{ID: 0, Failure: "refused"},
		"live holds":      Probed{ID: 1},
		"live fails":      Probed{ID: 1, Failure: "timeout"},
		"child ready":     Heard{notify.Said{Ready: true}},
		"child reloading": Heard{notify.Said{Reloading: true}},
		"child stopping":  Heard{notify.Said{Stopping: true}},
		"child extends":   Heard{notify.Said{Extend: time.Hour}},
		"child alive":     Heard{notify.Said{Alive: true}},
		"child status":    Heard{notify.Said{HasStatus: true, Status: "x"}},
		"child triggers":  Heard{notify.Said{Trigger: true, Forward: notify.Message{{Key: "WATCHDOG", Value: "trigger"}}}},
		"child stores":    Heard{notify.Said{Stores: true, Forward: notify.Message{{Key: "FDSTORE", Value: "1"}}}},
		"child's barrier": Heard{notify.Said{Barrier: true}},
		"child names":     Heard{notify.Said{MainPID: 101}},
		"reload asked":    Heard{notify.Said{Reload: true}},
		"adopted":         Adopted{PID: 101},
		"not adopted":     NotAdopted{"it has gone"},
		"newline":         DescriptorRead{Descriptor: 3, Newline: true},
		"no newline":      DescriptorRead{Descriptor: 3},
		"hook ends":       HookEnded{},
		"hook fails":      HookEnded{"exited 1"},
	}
}

// reach brings a rig into a state.
func reach(s State) *rig {
	cfg := typical()
	switch s {
	case Delaying:
		cfg.Hold = Hold{Pause: 20 * time.Second, Delay: 40 * time.Second}
		return newRig(cfg).do(Tick{})
	case Starting:
		return newRig(cfg).started()
	case Ready:
		return newRig(cfg).ready()
	case Reloading:
		return newRig(cfg).ready().do(Signalled{syntax.SIGHUP})
	case Draining:
		return newRig(cfg).ready().do(Signalled{syntax.SIGTERM})
	case Stopping:
		return newRig(cfg).ready().do(Signalled{syntax.SIGTERM}, HookEnded{}).wait(5 * time.Second)
	case Ending:
		return newRig(cfg).ready().do(MainExited{Left: 1})
	case Aborting:
		return newRig(cfg).ready().do(Signalled{syntax.SIGABRT})
	case Killing:
		return newRig(cfg).ready().do(MainExited{Left: 1}).wait(4 * time.Second)
	case Done:
		return newRig(cfg).ready().do(MainExited{})
	}
	panic("unknown state")
}

// allowed is the state table: where each event may lead. An event that is not
// listed leaves the state as it is.
var allowed = map[State]map[string][]State{
	Delaying: {"TERM": {Done}, "ABRT": {Done}, "main exits": {Done}, "main is killed": {Done}, "main fails, others live": {Ending},
		"spawn failed": {Done}, "spawned": {Starting}},
	Starting: {"main exits": {Done}, "main is killed": {Done}, "main fails, others live": {Ending}, "TERM": {Stopping},
		"ABRT": {Aborting}, "ready holds": {Ready}, "spawn failed": {Done}},
	Ready: {"main exits": {Done}, "main is killed": {Done}, "main fails, others live": {Ending}, "TERM": {Draining},
		"ABRT": {Aborting}, "HUP": {Reloading}, "child reloading": {Reloading}, "child stopping": {Stopping}, "reload asked": {Reloading}, "spawn failed": {Done}, "spawned": {Starting}},
	Reloading: {"main exits": {Done}, "main is killed": {Done}, "main fails, others live": {Ending}, "TERM": {Draining},
		"ABRT": {Aborting}, "ready holds": {Ready}, "child stopping": {Stopping}, "spawn failed": {Done}, "spawned": {Starting}},
	Draining: {"main exits": {Done}, "main is killed": {Done}, "main fails, others live": {Ending}, "ABRT": {Aborting},
		"hook ends": {Draining}, "spawn failed": {Done}, "spawned": {Starting}},
	Stopping: {"main exits": {Done}, "main is killed": {Done}, "main fails, others live": {Ending}, "ABRT": {Aborting},
		"TERM": {Stopping}, "spawn failed": {Done}, "spawned": {Starting}},
	Ending:   {"TERM": {Killing}, "ABRT": {Killing}, "scope is empty": {Done}, "spawn failed": {Done}, "spawned": {Starting}},
	Aborting: {"main exits": {Done}, "main is killed": {Done}, "main fails, others live": {Ending}, "spawn failed": {Done}, "spawned": {Starting}},
	Killing:  {"scope is empty": {Done}, "spawn failed": {Done}, "spawned": {Starting}},
	Done:     {},
}

// once are the answers to Spawn: the loop gives one of them, once, in Starting.
var once = map[string]bool{"spawned": true, "spawn failed": true}

func TestEveryStateTakesEveryEventAsTheTableSays(t *testing.T) {
	for state := Delaying; state <= Done; state++ {
		for name, event := range events() {
			if once[name] || state == Delaying && strings.HasPrefix(name, "main ") {
				continue
			}
			r := reach(state)
			if r.m.State() != state {
				t.Fatalf("reach(%v) is in %v", state, r.m.State())
			}
			want := []State{state}
			if to, ok := allowed[state][name]; ok {
				want = to
			}
			if r.do(event); r.m.State() != want[0] {
				t.Errorf("%v × %s → %v; want %v", state, name, r.m.State(), want[0])
			}
		}
	}
}

func TestInvariantsHoldUnderAnyEvents(t *testing.T) {
	names := []string{}
	for name := range events() {
		if !once[name] {
			names = append(names, name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		cfg := typical()
		cfg.OnUnhealthy = rapid.SampledFrom([]watchdog.OnUnhealthy{watchdog.Drain, watchdog.Abort, watchdog.Report}).Draw(t, "on-unhealthy")
		cfg.Managed = rapid.Bool().Draw(t, "managed")
		if rapid.Bool().Draw(t, "no hook") {
			cfg.Drain.PreStop = nil
		}
		if rapid.Bool().Draw(t, "reload command") {
			cfg.Reload.Command = []string{"/bin/reload"}
		}
		cfg.StableAfter = time.Duration(rapid.IntRange(0, 60).Draw(t, "stable-after")) * time.Second
		r := newRig(cfg).started()
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			r.wait(time.Duration(rapid.IntRange(0, 20000).Draw(t, "ms")) * time.Millisecond)
			name := rapid.SampledFrom(names).Draw(t, "event")
			event := events()[name]
			if _, isMain := event.(MainExited); isMain && r.m.mainGone {
				continue
			}
			r.do(event)
		}
		if err := r.invariants(); err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(r.log, "\n"))
		}
	})
}

func TestStopIsOverWithinTheBudgetWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := reach(State(rapid.IntRange(int(Starting), int(Reloading)).Draw(t, "state")))
		r.do(Signalled{syntax.SIGTERM})
		end := r.now.Add(r.cfg.Drain.Budget())
		names := []string{"USR1", "TERM", "HUP", "hook ends", "child extends", "child status", "scope shrinks", "live fails", "main fails, others live",
			"reload asked", "child names", "adopted", "not adopted", "child's barrier", "child triggers"}
		for r.m.State() != Done && r.now.Before(end) {
			r.wait(time.Duration(rapid.IntRange(1, 10000).Draw(t, "ms")) * time.Millisecond)
			r.do(events()[rapid.SampledFrom(names).Draw(t, "event")])
		}
		for _, x := range r.all {
			if _, ok := x.action.(Exit); ok && !x.at.After(end) {
				return
			}
		}
		t.Fatalf("not over within %v\n%s", r.cfg.Drain.Budget(), strings.Join(r.log, "\n"))
	})
}

// recordIsWhole checks that the phases of a record follow each other without a
// gap from the child's start to its end.
func (r *rig) recordIsWhole(rec history.Record) error {
	at := rec.Started
	for _, p := range rec.Phases {
		if !p.Began.Equal(at) && rec.More == 0 {
			return fmt.Errorf("%s begins at %s, what was before it ended at %s", p.Name, p.Began.Sub(epoch), at.Sub(epoch))
		}
		at = p.Began.Add(time.Duration(p.TookUsec) * time.Microsecond)
	}
	if rec.End == nil || !rec.Ended.Equal(at) || !rec.Ended.Equal(r.ended()) || len(rec.Phases) > history.MaxPhases {
		return fmt.Errorf("a record of %d phases, the last of which ended at %s; it ended at %s", len(rec.Phases), at.Sub(epoch), rec.Ended.Sub(epoch))
	}
	return nil
}

// ended is when the machine ended.
func (r *rig) ended() time.Time {
	for _, x := range r.all {
		if _, ok := x.action.(Exit); ok {
			return x.at
		}
	}
	return time.Time{}
}

// invariants checks what doc.go promises against all that was done.
func (r *rig) invariants() error {
	var ready, reloads, resets, exits int
	var stopping, triggered, awaited bool
	sent := map[string]int{}
	for _, x := range r.all {
		if exits > 0 {
			return fmt.Errorf("%s after the end", tell(x.action))
		}
		switch a := x.action.(type) {
		case Exit:
			exits++
			if err := r.recordIsWhole(a.Outcome.Record); err != nil {
				return err
			}
			if awaited {
				return fmt.Errorf("somebody still waits for a reload")
			}
		case Await:
			awaited = true
		case Answer:
			if !awaited || x.state == Reloading {
				return fmt.Errorf("%s in %v, awaited: %v", tell(a), x.state, awaited)
			}
			awaited = false
		case Send:
			if !r.cfg.Managed {
				return fmt.Errorf("%s, but nobody manages", tell(a))
			}
			text := message(a.Message)
			if a.Attached != (text == "BARRIER=1" || strings.HasPrefix(text, "FDSTORE=1")) {
				return fmt.Errorf("%q with descriptors: %v", text, a.Attached)
			}
			if a.Stamped != (text == "RELOADING=1") {
				return fmt.Errorf("%q stamped: %v", text, a.Stamped)
			}
			switch {
			case strings.HasPrefix(text, "READY=1"):
				ready++
				if stopping {
					return fmt.Errorf("READY=1 after STOPPING=1")
				}
			case text == "RESTART_RESET=1":
				if resets++; resets > 1 || x.state != Ready {
					return fmt.Errorf("RESTART_RESET=1 the %d. time in %v", resets, x.state)
				}
			case text == "RELOADING=1":
				reloads++
			case strings.Contains(text, "STOPPING=1"):
				if text != "STOPPING=1 WATCHDOG_USEC=0" || stopping {
					return fmt.Errorf("%q is not the one STOPPING=1 with WATCHDOG_USEC=0", text)
				}
				stopping = true
			case text == "WATCHDOG=trigger":
				triggered = true
			case text == "WATCHDOG=1":
				if triggered || ready == 0 || stopping || x.state != Ready && x.state != Reloading {
					return fmt.Errorf("a heartbeat in %v, READY=1 sent %d times", x.state, ready)
				}
			}
			if ready > 1+reloads {
				return fmt.Errorf("READY=1 went out %d times for one start and %d reloads", ready, reloads)
			}
			if leaving := x.state > Reloading && x.state < Done; leaving && ready > 0 && !stopping {
				return fmt.Errorf("%s is the first message on the way out", tell(a))
			}
		case Signal:
			if a.To == ToGroup && x.state == Stopping || a.To == ToMain && a.Signal == syntax.SIGINT && x.state == Stopping {
				if a.Signal != syntax.SIGCONT {
					sent[tell(a)]++
				}
			}
		}
	}
	if sent["TERM group"] > 1 {
		return fmt.Errorf("the last step's signal went out %d times", sent["TERM group"])
	}
	return nil
}
