package machine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// speaking is a rig of a service that tells readiness and life by itself.
func speaking() *rig {
	cfg := plain()
	spoken := watchdog.Check{Kind: watchdog.Notify, Interval: 10 * time.Second, Timeout: time.Minute, Failures: 3, Successes: 1}
	cfg.Ready, cfg.Live = []watchdog.Check{spoken}, []watchdog.Check{spoken}
	return newRig(cfg).started()
}

// say has the child say something, as it comes over the socket.
func (r *rig) say(text string) *rig {
	m, err := notify.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return r.do(Heard{notify.Sort(m)})
}

func TestRelayDoesWithEveryKeyWhatItsRowSays(t *testing.T) {
	for _, c := range []struct {
		say, ready, starting string // what goes on while the service serves, and while it starts
	}{
		{"WATCHDOG=1", "", ""},
		{"WATCHDOG=trigger", "WATCHDOG=trigger", "WATCHDOG=trigger"},
		{"WATCHDOG_USEC=5000000", "", ""},
		{"RELOADING=1\nMONOTONIC_USEC=1", "RELOADING=1", ""},
		{"STOPPING=1", "STOPPING=1 WATCHDOG_USEC=0", ""},
		{"EXTEND_TIMEOUT_USEC=7000000", "", "EXTEND_TIMEOUT_USEC=7000000"},
		{"ERRNO=2", "ERRNO=2", "ERRNO=2"},
		{"BUSERROR=org.x.Failed", "BUSERROR=org.x.Failed", "BUSERROR=org.x.Failed"},
		{"VARLINKERROR=org.x.Failed", "VARLINKERROR=org.x.Failed", "VARLINKERROR=org.x.Failed"},
		{"EXIT_STATUS=3", "EXIT_STATUS=3", "EXIT_STATUS=3"},
		{"RESTART_RESET=1", "RESTART_RESET=1", "RESTART_RESET=1"},
		{"FDSTORE=1\nFDNAME=db\nFDPOLL=0", "FDSTORE=1 FDNAME=db FDPOLL=0", "FDSTORE=1 FDNAME=db FDPOLL=0"},
		{"FDSTOREREMOVE=1\nFDNAME=db", "FDSTOREREMOVE=1 FDNAME=db", "FDSTOREREMOVE=1 FDNAME=db"},
		{"BARRIER=1", "BARRIER=1", "BARRIER=1"},
		{"MAINPID=101", "", ""},
		{"MAINPIDFD=1\nMAINPIDFDID=7", "", ""},
		{"NOTIFYACCESS=all", "", ""},
		{"X_SVCKIT_RELOAD=1", "RELOADING=1", ""},
		{"X_MINE=1\nNEWER=2", "X_MINE=1 NEWER=2", "X_MINE=1 NEWER=2"},
		{"ERRNO=2\nNOTIFYACCESS=all\nMAINPID=9\nSTATUS=x", "ERRNO=2", "ERRNO=2"},
	} {
		starting, ready := speaking(), speaking().say("READY=1")
		for r, want := range map[*rig]string{starting: c.starting, ready: c.ready} {
			state := r.m.State()
			if got := strings.Join(r.since(func() { r.say(c.say) }), "; "); got != want {
				t.Errorf("%q in %v: sent %q; want %q", c.say, state, got, want)
			}
		}
	}
	r := speaking()
	if got := r.since(func() { r.say("READY=1") }); !slices.Equal(got, []string{"READY=1"}) {
		t.Errorf("READY=1: sent %q", got)
	}
	if got := r.since(func() { r.say("READY=1").say("READY=1") }); len(got) > 0 {
		t.Errorf("READY=1 of a service that serves: sent %q", got)
	}
}

func TestStatusOfTheChildIsPassedOnInEveryState(t *testing.T) {
	for state := Starting; state < Done; state++ {
		r := reach(state)
		if r.say("STATUS=flushing 3 of 7"); !r.did("· child: flushing 3 of 7") {
			t.Errorf("in %v it is not passed on", state)
		}
	}
}

func TestNothingGoesOnWhereNobodyManages(t *testing.T) {
	cfg := typical()
	cfg.Managed = false
	r := newRig(cfg).ready()
	for _, text := range []string{"BARRIER=1", "FDSTORE=1", "X_A=1", "RELOADING=1", "STOPPING=1", "WATCHDOG=trigger", "STATUS=x"} {
		if r.say(text); len(r.sends()) > 0 {
			t.Errorf("%s: sent %v", text, r.sends())
		}
	}
}

func TestNoHeartbeatFollowsTheChildsTrigger(t *testing.T) {
	r := newRig(typical()).ready().say("WATCHDOG=trigger")
	got := r.since(func() {
		for range 5 {
			r.wait(10 * time.Second).do(Probed{ID: 1})
		}
	})
	if slices.Contains(got, "WATCHDOG=1") {
		t.Errorf("sent %v: it would re-arm the watchdog of a manager that aborts", got)
	}
}

func TestNoHeartbeatFollowsAStopHoweverLoudTheChildIs(t *testing.T) {
	r := speaking().say("READY=1").do(Signalled{syntax.SIGTERM})
	got := r.since(func() {
		for range 1000 {
			r.say("WATCHDOG=1").say("WATCHDOG_USEC=1000000").wait(10 * time.Millisecond)
		}
	})
	if len(got) > 0 {
		t.Errorf("sent %v while draining", got)
	}
}

func TestProcessThatTheServiceNamesBecomesTheMainOne(t *testing.T) {
	r := newRig(typical()).ready().say("MAINPID=100") // it is already
	if r.did("Adopt") {
		t.Error("asked to adopt the main process itself")
	}
	r.say("MAINPID=101")
	expect(t, r, Ready, "Adopt")
	r.do(Adopted{PID: 101})
	expect(t, r, Ready, "log the main process is 101 from now on")
	before := len(r.log)
	if r.say("MAINPID=101"); slices.ContainsFunc(r.log[before:], func(l string) bool { return strings.Contains(l, "Adopt") }) {
		t.Error("asked to adopt it twice")
	}
	ends(t, r.do(MainExited{Status: Status{Code: 3}}), Status{Code: 3}, "exit-code")
}

func TestProcessThatCannotBeTheMainOneIsWarnedOfOnce(t *testing.T) {
	r := newRig(typical()).ready()
	for range 3 {
		r.say("MAINPID=1").do(NotAdopted{"it is no process of the service"})
	}
	expect(t, r, Ready)
	if n := strings.Count(strings.Join(r.log, "\n"), "log the service sent MAINPID= of a process that cannot be its main one"); n != 1 {
		t.Errorf("%d warnings; want one", n)
	}
}

func TestNoMainProcessIsNamedAfterItsEnd(t *testing.T) {
	for _, state := range []State{Ending, Killing, Done} {
		if r := reach(state).say("MAINPID=101"); r.did("Adopt") {
			t.Errorf("adopted in %v", state)
		}
	}
}
