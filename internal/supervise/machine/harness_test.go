package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// rig drives a machine under a clock of its own, and keeps what it did.
type rig struct {
	m   *Machine
	cfg Config
	now time.Time
	log []string // what was done, one line an action, with the time since the start
	all []timed
}

type timed struct {
	at     time.Time
	state  State // after the event
	action Action
}

// epoch is when every rig's time begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// typical is a managed service with a ready and a live check, a hook and a delay.
func typical() Config {
	live := watchdog.Check{Kind: watchdog.TCP, Target: "127.0.0.1:2", Interval: 10 * time.Second, Timeout: 2 * time.Second, Failures: 3, Successes: 1}
	ready := live
	ready.Target = "127.0.0.1:1"
	return Config{
		Ready: []watchdog.Check{ready}, Live: []watchdog.Check{live},
		OnUnhealthy: watchdog.Drain, StartTimeout: 90 * time.Second, EarlyExit: EarlyExitFail,
		Drain: drain.Plan{
			PreStop: []string{"/bin/deregister"}, PreStopTimeout: 10 * time.Second, Delay: 5 * time.Second,
			Steps:    []drain.Step{{Signal: syntax.SIGINT, Wait: 5 * time.Second, MainOnly: true}, {Signal: syntax.SIGTERM, Wait: 20 * time.Second}},
			KillWait: 4 * time.Second,
		},
		AbortWait: 10 * time.Second,
		Reload:    Reload{Signal: syntax.SIGHUP, Timeout: time.Minute},
		Managed:   true, WatchdogPeriod: 60 * time.Second,
	}
}

// plain is typical without hook and delay.
func plain() Config {
	c := typical()
	c.Drain.PreStop, c.Drain.Delay = nil, 0
	return c
}

func newRig(cfg Config) *rig {
	return &rig{m: New(cfg, epoch), cfg: cfg, now: epoch}
}

// do steps an event.
func (r *rig) do(events ...Event) *rig {
	for _, e := range events {
		for _, a := range r.m.Step(r.now, e) {
			r.all = append(r.all, timed{r.now, r.m.State(), a})
			if _, ok := a.(Note); ok {
				continue // told by the tests of the record
			}
			r.log = append(r.log, fmt.Sprintf("%v %s", r.now.Sub(epoch), tell(a)))
		}
	}
	return r
}

// wait lets time pass, with every Tick at its deadline.
func (r *rig) wait(d time.Duration) *rig {
	end := r.now.Add(d)
	for range 100000 {
		next, ok := r.m.Deadline()
		if !ok || next.After(end) {
			r.now = end
			return r
		}
		if next.After(r.now) {
			r.now = next
		}
		r.do(Tick{})
	}
	panic("the machine asks for ticks without end: " + strings.Join(r.log[max(0, len(r.log)-10):], "; "))
}

// started is a rig whose child runs.
func (r *rig) started() *rig { return r.do(Tick{}, Spawned{PID: 100}) }

// ready is a rig that serves.
func (r *rig) ready() *rig {
	return r.started().wait(10*time.Millisecond).do(Probed{ID: 0}, Probed{ID: 1})
}

// outcome is how svcrun ended, if it has.
func (r *rig) outcome() (Outcome, bool) {
	for _, t := range r.all {
		if exit, ok := t.action.(Exit); ok {
			return exit.Outcome, true
		}
	}
	return Outcome{}, false
}

// sends are the messages to the manager, without STATUS=.
func (r *rig) sends() []string {
	var out []string
	for _, t := range r.all {
		if s, ok := t.action.(Send); ok {
			if text := message(s.Message); text != "" {
				out = append(out, text)
			}
		}
	}
	return out
}

// signals are the signals sent, without CONT, and to whom.
func (r *rig) signals() []string {
	var out []string
	for _, t := range r.all {
		if s, ok := t.action.(Signal); ok && s.Signal != syntax.SIGCONT {
			out = append(out, tell(s))
		}
	}
	return out
}

// message is a message without its STATUS=.
func message(m notify.Message) string {
	var out []string
	for _, f := range m {
		if f.Key != "STATUS" {
			out = append(out, f.Key+"="+f.Value)
		}
	}
	return strings.Join(out, " ")
}

// tell is an action as a line.
func tell(a Action) string {
	switch a := a.(type) {
	case Send:
		return "send " + strings.ReplaceAll(string(a.Message.Encode()), "\n", " ")
	case Signal:
		return a.Signal.Name() + " " + []string{"main", "group", "scope"}[a.To]
	case Exit:
		return fmt.Sprintf("exit %+v %s", a.Outcome.Status, a.Outcome.End.Format())
	case Log:
		return "log " + a.Text
	}
	return fmt.Sprintf("%T", a)[len("machine."):]
}

// did says whether an action as tell tells it was done.
func (r *rig) did(text string) bool {
	return slices.ContainsFunc(r.log, func(line string) bool { return strings.Contains(line, text) })
}
