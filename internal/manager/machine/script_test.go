package machine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/policy"
)

// A script is a dialogue with a machine. A line after ">" is an event, the
// lines below it are all that the machine does then:
//
//	> start [UNIT], stop, reload, hurry
//	> exit UNIT HOW [left=N] [line="svcrun: end ..."]    the main process has ended: 3, TERM or ABRT+core
//	> exit UNIT.control HOW                              so has a command beside it
//	> failed UNIT HOW                                    it could not be started: 203, 200, or resources
//	> left UNIT N                                        so many processes are left
//	> says UNIT READY=1 STATUS=x                         a message of sd_notify(3)
//	> 5s                                                 so much time passes; every deadline gets its Tick
//	> tick                                               time passes until the next deadline
//	> slow                                               from now on a Spawn is not answered at once
//	> spawned UNIT                                       but so
//
// SIGCONT goes with most signals and is left out.
type script struct {
	t       *testing.T
	m       *Machine
	now     time.Time
	slow    bool
	pid     int
	waiting map[string]bool // spawns that have not been answered
	out     []string
}

// play plays a script. Where the machine answers otherwise it prints the whole
// dialogue, ready to be pasted if it is right.
func play(t *testing.T, services []plan.Service, text string) {
	t.Helper()
	s := newScript(t, services)
	for line := range strings.Lines(text) {
		if event, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok {
			s.out = append(s.out, "> "+event)
			s.do(event)
		}
	}
	if got, want := dialogue(strings.Join(s.out, "\n")), dialogue(text); got != want {
		t.Errorf("the machine says\n%s\n\nand should\n%s", got, want)
	}
}

func newScript(t *testing.T, services []plan.Service) *script {
	most := func(n int64) int64 { return n - 1 }
	return &script{t: t, m: New(services, most), now: time.Unix(1000, 0), waiting: map[string]bool{}}
}

// dialogue is a script without indentation and blank lines.
func dialogue(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// do plays one event.
func (s *script) do(event string) {
	words := strings.Fields(event)
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	unit, role := roleOf(arg(1))
	verbs := map[string]Verb{"start": Start, "stop": Stop, "reload": Reload, "hurry": Hurry}
	verb, isVerb := verbs[words[0]]
	switch {
	case isVerb:
		s.step(Requested{verb, unit})
	case words[0] == "exit":
		_, line, _ := strings.Cut(event, "line=")
		s.step(exitEvent(s.t, unit, role, arg(2), event, line))
	case words[0] == "failed":
		code, _ := strconv.Atoi(arg(2))
		s.step(SpawnFailed{Unit: unit, Role: role, Reason: "no such thing", Status: code})
	case words[0] == "left":
		n, _ := strconv.Atoi(arg(2))
		s.step(LeftChanged{unit, n})
	case words[0] == "says":
		m, err := notify.Parse([]byte(strings.Join(words[2:], "\n")))
		if err != nil {
			s.t.Fatal(err)
		}
		s.step(Heard{unit, notify.Sort(m)})
	case words[0] == "slow":
		s.slow = true
	case words[0] == "spawned":
		s.pid++
		s.step(Spawned{unit, role, s.pid})
	case words[0] == "tick":
		if at, ok := s.m.Deadline(); ok {
			s.now = at
		}
		s.step(Tick{})
	default:
		s.pass(event)
	}
}

// pass lets time pass.
func (s *script) pass(text string) {
	d, err := syntax.ParseDuration(text)
	if err != nil {
		s.t.Fatalf("no event: %s", text)
	}
	until := s.now.Add(d)
	for {
		at, ok := s.m.Deadline()
		if !ok || at.After(until) {
			break
		}
		s.now = at
		s.step(Tick{})
	}
	s.now = until
}

// step steps the machine, and answers what it spawns.
func (s *script) step(event Event) {
	for _, action := range s.m.Step(s.now, event) {
		if line := told(action); line != "" {
			s.out = append(s.out, line)
		}
		if spawn, ok := action.(Spawn); ok && !s.slow {
			s.pid++
			s.step(Spawned{spawn.Unit, spawn.Role, s.pid})
		}
	}
	if at, ok := s.m.Deadline(); ok && !at.After(s.now) {
		s.t.Fatalf("after %#v the deadline is %v ago", event, s.now.Sub(at))
	}
}

func roleOf(name string) (string, Role) {
	if unit, ok := strings.CutSuffix(name, ".control"); ok {
		return unit + ".service", Control
	}
	if name == "" {
		return "", Main
	}
	return name + ".service", Main
}

func exitEvent(t *testing.T, unit string, role Role, how, event, line string) Exited {
	e := Exited{Unit: unit, Role: role, Exit: exitOf(t, how)}
	if _, left, ok := strings.Cut(event, "left="); ok {
		e.Left, _ = strconv.Atoi(strings.Fields(left)[0])
	}
	if text, err := strconv.Unquote(line); err == nil {
		if parsed, ok := history.ParseEndLine(text); ok {
			e.Line = &parsed
		}
	}
	return e
}

// exitOf reads 3, TERM or ABRT+core.
func exitOf(t *testing.T, how string) policy.Exit {
	if code, err := strconv.Atoi(how); err == nil {
		return policy.Exit{How: policy.Exited, Code: code}
	}
	name, core := strings.CutSuffix(how, "+core")
	signal, err := syntax.ParseSignal(name)
	if err != nil {
		t.Fatal(err)
	}
	if core {
		return policy.Exit{How: policy.Dumped, Signal: signal}
	}
	return policy.Exit{How: policy.Killed, Signal: signal}
}

// told is an action as a script has it.
func told(action Action) string {
	short := func(unit string) string { return strings.TrimSuffix(unit, ".service") }
	switch a := action.(type) {
	case Spawn:
		role := "main"
		if a.Role == Control {
			role = "control"
		}
		return strings.Join(append([]string{short(a.Unit) + ": spawn " + role + ":", strings.Join(a.Argv, " ")}, a.Env...), " ")
	case Signal:
		if a.Signal == syntax.SIGCONT {
			return ""
		}
		return short(a.Unit) + ": " + a.Signal.String() + " to " + [...]string{"main", "control", "all"}[a.To]
	case Release:
		return short(a.Unit) + ": release"
	case Done:
		return fmt.Sprintf("done %d", a.Code)
	case Tell:
		return toldEvent(short(a.Event.Unit), a.Event)
	}
	return fmt.Sprintf("%#v", action)
}

func toldEvent(unit string, e timeline.Event) string {
	text := unit + ": " + string(e.Name)
	switch e.Name {
	case timeline.Signalled:
		return "" // the signal itself is there
	case timeline.Finished:
		return string(e.Name)
	case timeline.Starting:
		return fmt.Sprintf("%s %d, restart %d", text, e.Run, e.Restarts)
	case timeline.Ready:
		return strings.TrimSuffix(text+" after "+syntax.FormatDuration(e.After)+": "+e.Text, ": ")
	case timeline.Reloaded:
		if e.After > 0 {
			text += " after " + syntax.FormatDuration(e.After)
		}
		return strings.TrimSuffix(text+": "+e.Text, ": ")
	case timeline.Restarting:
		return text + " in " + syntax.FormatDuration(e.Delay)
	case timeline.Ended:
		for _, f := range e.End.Detail {
			text += " " + f.String()
		}
		return fmt.Sprintf("%s after %s: %s, result %s: %s", text, syntax.FormatDuration(e.After), e.End.Cause, e.End.Result, e.End.Why)
	case timeline.Refused:
		return fmt.Sprintf("%s, %s: %s", text, e.End.Cause, e.Text)
	default:
		if e.Text != "" {
			text += ": " + e.Text
		}
		return text
	}
}
