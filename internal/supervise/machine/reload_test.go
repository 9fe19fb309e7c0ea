package machine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
)

// byCommand is a service that is reloaded by a command.
func byCommand() Config {
	c := typical()
	c.Reload.Command = []string{"/bin/reload"}
	return c
}

var (
	hangUp = Signalled{syntax.SIGHUP}
	asked  = Heard{notify.Said{Reload: true}}
)

// answers are how those who waited for a reload were told that it ended.
func (r *rig) answers() []string {
	var out []string
	for _, t := range r.all {
		if a, ok := t.action.(Answer); ok {
			out = append(out, a.Failure)
		}
	}
	return out
}

// since are the messages to the manager that do runs into.
func (r *rig) since(do func()) []string {
	before := len(r.sends())
	do()
	return r.sends()[before:]
}

func TestHangUpBeforeReadinessIsAReloadAfterIt(t *testing.T) {
	r := newRig(typical()).started().do(hangUp, hangUp)
	if got := r.signals(); len(got) > 0 {
		t.Fatalf("sent %v to a child that may not heed it yet", got)
	}
	r.wait(10*time.Millisecond).do(Probed{ID: 0}, Probed{ID: 1})
	expect(t, r, Reloading, "READY=1", "RELOADING=1", "HUP main")
	if got := r.signals(); len(got) != 1 {
		t.Errorf("sent %v; want one HUP", got)
	}
}

func TestHangUpOfAServiceThatStopsReachesNobody(t *testing.T) {
	for _, state := range []State{Delaying, Draining, Stopping, Ending, Aborting, Killing} {
		r := reach(state)
		if r.do(hangUp); r.did("HUP ") || r.m.State() != state {
			t.Errorf("in %v it leads to %v, and %v", state, r.m.State(), r.signals())
		}
	}
}

func TestReloadDuringAnotherIsAnnouncedAnew(t *testing.T) {
	r := newRig(typical()).ready().do(hangUp).wait(10 * time.Millisecond)
	got := r.since(func() { r.do(hangUp) })
	if !slices.Equal(got, []string{"RELOADING=1"}) {
		t.Errorf("sent %v; the manager waits for a RELOADING=1 after its signal", got)
	}
	r.do(Probed{ID: 0}) // begun before the second
	expect(t, r, Reloading)
	expect(t, r.wait(10*time.Millisecond).do(Probed{ID: 0}), Ready)
	if got := r.signals(); !slices.Equal(got, []string{"HUP main", "HUP main"}) {
		t.Errorf("signals are %v; each reload is passed on", got)
	}
}

func TestChecksAreAskedOfWhatTheReloadCommandHasLeft(t *testing.T) {
	r := newRig(byCommand()).ready().do(hangUp).wait(10 * time.Millisecond)
	expect(t, r.do(Probed{ID: 0}), Reloading, "RELOADING=1", "Hook") // holds, but the command still runs
	r.wait(20 * time.Millisecond)                                    // another probe is out
	expect(t, r.do(HookEnded{}, Probed{ID: 0}), Reloading)           // begun before the command's end
	got := r.since(func() { r.wait(10 * time.Millisecond).do(Probed{ID: 0}) })
	if r.m.State() != Ready || !slices.Equal(got, []string{"READY=1"}) {
		t.Errorf("%v, sent %v; want READY=1 on a probe after the command", r.m.State(), got)
	}
	if got := r.signals(); len(got) > 0 {
		t.Errorf("sent %v; the command takes the signal's place", got)
	}
}

func TestReloadCommandThatFailsEndsTheReloadWithAWarning(t *testing.T) {
	r := newRig(byCommand()).ready().do(hangUp)
	got := r.since(func() { r.do(HookEnded{"/bin/reload exited 1"}) })
	if !slices.Equal(got, []string{"READY=1"}) {
		t.Errorf("sent %v; want READY=1, or the manager's job hangs", got)
	}
	expect(t, r, Ready, "log reload: /bin/reload exited 1", "the last reload failed: /bin/reload exited 1")
	r.do(hangUp, HookEnded{}).wait(10 * time.Millisecond).do(Probed{ID: 0})
	if last := r.m.statusText(); strings.Contains(last, "failed") {
		t.Errorf("the status is %q after a reload that was done", last)
	}
}

func TestReloadCommandThatHangsIsKilledAtTheTimeout(t *testing.T) {
	r := newRig(byCommand()).ready().do(hangUp).wait(61 * time.Second)
	expect(t, r, Ready, "StopHook", "log reload: the command was not done within 1min")
	expect(t, r.do(HookEnded{}), Ready) // which came too late
}

func TestStopDuringAReloadEndsItsCommandFirst(t *testing.T) {
	r := newRig(byCommand()).ready().do(hangUp, Signalled{syntax.SIGTERM})
	expect(t, r, Draining)
	var got []string
	for _, line := range r.log {
		for _, word := range []string{"StopHook", "Hook", "STOPPING=1"} {
			if strings.Contains(line, word) {
				got = append(got, word)
				break
			}
		}
	}
	if want := []string{"Hook", "StopHook", "STOPPING=1", "Hook"}; !slices.Equal(got, want) {
		t.Errorf("%v; want the reload command, its end, and the pre-stop hook: %v", got, want)
	}
}

func TestChildsOwnReloadingDuringSvcrunsIsSwallowedAndItsReadyAwaited(t *testing.T) {
	r := newRig(typical()).ready().do(hangUp)
	got := r.since(func() {
		r.do(Heard{notify.Said{Reloading: true}}).wait(10 * time.Millisecond).do(Probed{ID: 0})
	})
	if len(got) > 0 || r.m.State() != Reloading {
		t.Errorf("%v, sent %v; want nothing before the child's READY=1", r.m.State(), got)
	}
	got = r.since(func() { r.do(Heard{notify.Said{Ready: true}}) })
	if !slices.Equal(got, []string{"READY=1"}) {
		t.Errorf("sent %v; want READY=1", got)
	}
}

func TestWhoAsksForAReloadIsToldHowItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		then []Event
		wait time.Duration
		want string
	}{
		"done":            {typical(), []Event{Tick{}, Probed{ID: 0}}, 10 * time.Millisecond, ""},
		"never ready":     {typical(), nil, 61 * time.Second, "not ready within 1min: ready 0/1, waiting for tcp:127.0.0.1:1"},
		"command fails":   {byCommand(), []Event{HookEnded{"exited 1"}}, 0, "exited 1"},
		"stopped":         {typical(), []Event{Signalled{syntax.SIGTERM}, MainExited{}}, 0, "the service has ended"},
		"stops by itself": {typical(), []Event{Heard{notify.Said{Stopping: true}}}, 0, "the service is stopping"},
		"main ends":       {typical(), []Event{MainExited{}}, 0, "the service has ended"},
		"main ends first": {typical(), []Event{MainExited{Left: 1}}, 0, "the service is ending"},
	} {
		r := newRig(c.cfg).ready().do(asked).wait(c.wait).do(c.then...)
		if got := r.answers(); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: told %q; want %q", name, got, c.want)
		}
	}
}

func TestWhoAsksIsToldNothingWhileTheManagerStops(t *testing.T) {
	r := newRig(typical()).ready().do(asked, Signalled{syntax.SIGTERM}).wait(30 * time.Second)
	if got := r.answers(); len(got) > 0 {
		t.Errorf("told %q in %v: the manager would take it for the service's failure", got, r.m.State())
	}
}

func TestReloadOfAServiceThatDoesNotServeIsRefusedAtOnce(t *testing.T) {
	for state, want := range map[State]string{
		Starting: "the service is starting", Draining: "the service is draining", Stopping: "the service is stopping",
		Killing: "the service is killing",
	} {
		r := reach(state).do(asked)
		if got := r.answers(); !slices.Equal(got, []string{want}) || r.m.State() != state {
			t.Errorf("in %v: told %q, now %v; want %q", state, got, r.m.State(), want)
		}
	}
}
