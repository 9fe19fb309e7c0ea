package machine

import (
	"fmt"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/policy"
)

func TestAStopThatTakesTooLongEndsWithSIGKILL(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> 30s
			a: SIGKILL to all
		> exit a KILL
			a: ended after 30s: stop-timeout, result timeout: a stop was asked for
			a: release
			finished
			done 137
	`)
}

func TestTheWayOutIsBoundedWhateverSurvives(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> 200s
			a: SIGKILL to all
			a: SIGTERM to main
			a: SIGKILL to all
			a: ended after 2min: stop-timeout, result timeout: a stop was asked for
			a: release
			finished
			done 1
	`)
}

func TestWhatTheMainProcessLeavesBehindIsKilledAtOnce(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0 left=2
			a: SIGKILL to all
		> left a 1
		> left a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> exit a 0 left=1
			a: SIGKILL to all
		> left a 0
			a: ended after 0: clean, result success: Restart=on-failure, result success
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 3 left=1
			a: SIGKILL to all
		> 90s
			a: SIGKILL to all
			a: ended after 1min: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> 1s
	`)
}

func TestASecondStopIsOneWithTheFirst(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> stop
		> stop a
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
}

func TestHurrySignalsOnceMoreAndThenKills(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> hurry
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> hurry
			a: SIGTERM to main
		> hurry
			a: SIGKILL to all
		> hurry
			a: SIGKILL to all
		> exit a KILL left=1
			a: SIGKILL to all
		> hurry
			a: SIGKILL to all
		> left a 0
			a: ended after 0: stop-timeout, result signal: a stop was asked for
			a: release
			finished
			done 137
	`)
}

func TestAServiceThatStopsByItselfIsNotSignalled(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a STOPPING=1 WATCHDOG_USEC=0
			a: stopping: by itself
		> stop
			a: stopping: a stop was asked for
		> says a READY=1
		> exit a 69
			a: ended after 0: stop-requested, result exit-code: a stop was asked for
			a: release
			finished
			done 69
	`)
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a STOPPING=1
			a: stopping: by itself
		> 30s
			a: SIGKILL to all
		> exit a KILL
			a: ended after 30s: stop-timeout, result timeout: Restart=on-failure, result timeout
			a: restarting in 1s
	`)
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a STOPPING=1
			a: stopping: by itself
		> exit a 0
			a: ended after 0: clean, result success: Restart=on-failure, result success
			a: release
			finished
			done 0
	`)
}

func TestAStopMayAskForMoreTime(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> 20s
		> says a EXTEND_TIMEOUT_USEC=60000000
		> 59s
		> exit a 0
			a: ended after 1min 19s: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
}

func TestAStopEndsTheWaitForARestart(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 3
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
}

func TestAStopThatComesWhileItDiesIsNotUndone(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> exit a 3 left=1
			a: SIGKILL to all
		> stop
			a: stopping: a stop was asked for
		> left a 0
			a: ended after 0: exit-code, result exit-code: a stop was asked for
			a: release
			finished
			done 3
	`)
}

func TestARunMayTakeSoLongAndNoLonger(t *testing.T) {
	short := func(s *plan.Service) { s.RuntimeMax = time.Minute }
	play(t, of(simple("a", short, bySignal)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> 10s
		> says a READY=1
			a: ready after 10s
		> 50s
		> reload
			a: reloading
			a: SIGHUP to main
		> says a RELOADING=1
		> says a READY=1
			a: reloaded
		> 10s
			a: stopping: it has run for the 1min of RuntimeMaxSec=
			a: SIGTERM to main
		> exit a 0
			a: ended result=timeout message="RuntimeMaxSec= was reached" after 1min 10s: unknown, result timeout: Restart=on-failure, result timeout
			a: restarting in 1s
	`)
	play(t, of(simple("a", short, bySignal)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> 50s
		> reload
			a: reloading
			a: SIGHUP to main
		> 20s
		> says a RELOADING=1 READY=1
			a: reloaded after 20s
			a: stopping: it has run for the 1min of RuntimeMaxSec=
			a: SIGTERM to main
	`)
	play(t, of(simple("a", short)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a EXTEND_TIMEOUT_USEC=90000000
		> 89s
		> 1s
			a: stopping: it has run for the 1min of RuntimeMaxSec=
			a: SIGTERM to main
		> exit a 0
			a: ended result=timeout message="RuntimeMaxSec= was reached" after 1min 30s: unknown, result timeout: Restart=on-failure, result timeout
			a: restarting in 1s
	`)
}

func TestTheManagerEndsAsItsOneServiceDid(t *testing.T) {
	success := func(s *plan.Service) { s.Restarts.Rules.Success.Codes = []int{143} }
	for _, c := range []struct {
		exit          string
		byItself, end int // what the manager exits with, without and after a stop
	}{
		{"0", 0, 0},
		{"3", 3, 3},
		{"143", 143, 0}, // a success that is told all the same, but for a stop
		{"TERM", 143, 0},
		{"KILL", 137, 137},
		{"SEGV", 139, 139},
		{"ABRT+core", 134, 134},
	} {
		for stop, want := range map[string]int{"": c.byItself, "stop": c.end} {
			s := newScript(t, of(simple("a", restarts(policy.RestartNo), success)))
			for _, event := range []string{"start", "says a READY=1", stop, "exit a " + c.exit} {
				if event != "" {
					s.do(event)
				}
			}
			if got := s.out[len(s.out)-1]; got != fmt.Sprintf("done %d", want) {
				t.Errorf("%s, exit %s: %s, want %d", stop, c.exit, got, want)
			}
		}
	}
}

func TestTheManagerOfSeveralEndsWellIfAllDo(t *testing.T) {
	play(t, of(simple("a"), simple("b")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says a READY=1
			a: ready after 0
		> says b READY=1
			b: ready after 0
		> exit a 0
			a: ended after 0: clean, result success: Restart=on-failure, result success
			a: release
		> stop b
			b: stopping: a stop was asked for
			b: SIGTERM to main
		> exit b 0
			b: ended after 0: stop-requested, result success: a stop was asked for
			b: release
			finished
			done 0
	`)
	play(t, of(simple("a"), simple("b", restarts(policy.RestartNo))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
		> exit b 3
			b: ended after 0: exit-code, result exit-code: Restart=no, result exit-code
			b: given-up: Restart=no, result exit-code
			b: release
		> says a READY=1
			a: ready after 0
		> exit a 0
			a: ended after 0: clean, result success: Restart=on-failure, result success
			a: release
			finished
			done 1
	`)
}

func TestHurryDoesNotWaitForTheOrderEither(t *testing.T) {
	play(t, of(simple("a"), simple("b", after("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
		> stop
			b: stopping: a stop was asked for
			b: SIGTERM to main
		> hurry
			a: stopping: a stop was asked for
			a: SIGTERM to main
			b: SIGTERM to main
		> hurry
			a: SIGKILL to all
			b: SIGKILL to all
		> exit b KILL
			b: ended after 0: stop-timeout, result signal: a stop was asked for
			b: release
		> exit a KILL
			a: ended after 0: stop-timeout, result signal: a stop was asked for
			a: release
			finished
			done 1
	`)
}
