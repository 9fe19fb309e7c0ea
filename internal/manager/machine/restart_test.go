package machine

import (
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// systemd has the machine play a version.
func systemd(version int) func(*plan.Service) {
	return func(s *plan.Service) { s.Restarts.Rules.Systemd = version }
}

func TestTheWaitsGrowUntilTheServiceHasRestartsForgotten(t *testing.T) {
	play(t, of(simple("a", systemd(257))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 2s
		> 2s
			a: starting 3, restart 2
			a: spawn main: /bin/a
		> says a RESTART_RESET=1
		> says a READY=1
			a: ready after 0
		> says a RESTART_RESET=1
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 4s
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a", systemd(258))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 2s
		> 2s
			a: starting 3, restart 2
			a: spawn main: /bin/a
		> says a RESTART_RESET=1
		> says a READY=1
			a: ready after 0
		> says a RESTART_RESET=1
			a: forgotten: RESTART_RESET=1
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
}

func TestTheCompanionForgetsAfterALongRun(t *testing.T) {
	settles := func(s *plan.Service) {
		s.Settle = time.Minute
		s.Restarts.Limit = policy.Limit{Starts: 2, Within: time.Hour}
	}
	play(t, of(simple("a", settles)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> 59s
		> says a RELOADING=1
			a: reloading: by itself
		> 1s
			a: forgotten: up for 1min; the start limit begins anew as well
		> says a READY=1
			a: reloaded after 1s
		> exit a 1
			a: ended after 1min: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 3, restart 1
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 2s
		> 2s
			a: starting 4, restart 2
			a: spawn main: /bin/a
	`)
	play(t, of(simple("a", settles)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> 59500ms
		> exit a 1
			a: ended after 59s 500ms: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> 59s
	`)
}

func TestADelayThatNeverEndsParksTheService(t *testing.T) {
	play(t, of(simple("a", func(s *plan.Service) { s.Restarts.Ladder = policy.Flat(syntax.Infinity) })), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in infinity
		> 9d
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
}

func TestARandomPartIsAddedToEachWait(t *testing.T) {
	play(t, of(simple("a", func(s *plan.Service) { s.Restarts.Randomized = time.Second })), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s 999ms 999us
		> 2s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> stop a
			a: stopping: a stop was asked for
			a: SIGTERM to main
	`)
}

func TestAStartEndsTheWaitFrom257On(t *testing.T) {
	play(t, of(simple("a", systemd(256))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> start
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
	`)
	play(t, of(simple("a", systemd(257))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> start
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> 1s
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
	`)
}

func TestAStartDuringTheStopFollowsIt(t *testing.T) {
	play(t, of(simple("a"), simple("b")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says a READY=1
			a: ready after 0
		> stop a
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> start a
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: starting 2, restart 0
			a: spawn main: /bin/a
	`)
}

func TestTheCauseIsTheManagersRefinedBySvcrun(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a STOPPING=1
			a: stopping: by itself
		> exit a 69 line="svcrun: end cause=unhealthy check=http://x/ after=3 last=\"timeout 2s\""
			a: ended check=http://x/ after=3 last="timeout 2s" after 0: unhealthy, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> exit a 70 line="svcrun: end cause=start-timeout check=http://x/"
			a: ended check=http://x/ after 0: start-timeout, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 2s
		> 2s
			a: starting 3, restart 2
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> exit a 3 line="svcrun: end cause=stop-requested"
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 4s
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
}

func TestUnitsOfOnFailureAreStartedAtEachFailureOrAtTheLast(t *testing.T) {
	direct := func(s *plan.Service) { s.EachFail, s.Direct = false, true }
	limit := func(s *plan.Service) { s.Restarts.Limit = policy.Limit{Starts: 2, Within: time.Minute} }
	play(t, of(simple("a", onFail("b", "c"), limit), simple("b")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 3
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: note: OnFailure=: c.service is not in this file, and is not started
			a: restarting in 1s
			b: starting 1, restart 0
			b: spawn main: /bin/b MONITOR_SERVICE_RESULT=exit-code MONITOR_EXIT_CODE=exited MONITOR_EXIT_STATUS=3 MONITOR_UNIT=a.service
		> says b READY=1
			b: ready after 0
		> exit b 0
			b: ended after 0: clean, result success: Restart=on-failure, result success
			b: release
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> exit a SEGV
			a: ended after 0: signal, result signal: Restart=on-failure, result signal
			a: note: OnFailure=: c.service is not in this file, and is not started
			a: restarting in 2s
			b: starting 2, restart 0
			b: spawn main: /bin/b MONITOR_SERVICE_RESULT=signal MONITOR_EXIT_CODE=killed MONITOR_EXIT_STATUS=SEGV MONITOR_UNIT=a.service
		> exit b 0
			b: ended after 0: protocol, result protocol: Restart=on-failure, result protocol
			b: restarting in 1s
		> 2s
			b: starting 3, restart 1
			b: spawn main: /bin/b MONITOR_SERVICE_RESULT=signal MONITOR_EXIT_CODE=killed MONITOR_EXIT_STATUS=SEGV MONITOR_UNIT=a.service
			a: refused, start-limit: start limit hit: 2 starts within 1min
			a: release
			a: given-up: start limit hit: 2 starts within 1min
			a: note: OnFailure=: c.service is not in this file, and is not started
	`)
	play(t, of(simple("a", onFail("b"), direct, limit), simple("b")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 3
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> exit a 3
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 2s
		> 2s
			a: refused, start-limit: start limit hit: 2 starts within 1min
			a: release
			a: given-up: start limit hit: 2 starts within 1min
			b: starting 1, restart 0
			b: spawn main: /bin/b MONITOR_SERVICE_RESULT=start-limit-hit MONITOR_EXIT_CODE=exited MONITOR_EXIT_STATUS=3 MONITOR_UNIT=a.service
		> says b READY=1
			b: ready after 0
		> exit b 0
			b: ended after 0: clean, result success: Restart=on-failure, result success
			b: release
			finished
			done 3
	`)
}

func TestAStopThatFailsIsAFailureToo(t *testing.T) {
	play(t, of(simple("a", onFail("b")), simple("b")), `
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
			b: starting 1, restart 0
			b: spawn main: /bin/b MONITOR_SERVICE_RESULT=timeout MONITOR_EXIT_CODE=killed MONITOR_EXIT_STATUS=KILL MONITOR_UNIT=a.service
		> says b READY=1
			b: ready after 0
		> exit b 0
			b: ended after 0: clean, result success: Restart=on-failure, result success
			b: release
			finished
			done 137
	`)
}

func TestASeriesEndsWithAStop(t *testing.T) {
	play(t, of(simple("a"), simple("z")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			z: starting 1, restart 0
			z: spawn main: /bin/z
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop a
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
		> start a
			a: starting 3, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
	`)
}

func TestASuccessIsNothingForOnFailure(t *testing.T) {
	play(t, of(simple("a", onFail("b"), restarts(policy.RestartAlways)), simple("b")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> exit a 0
			a: ended after 0: clean, result success: Restart=always, result success
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
	`)
}
