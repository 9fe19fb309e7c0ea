package machine

import (
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/policy"
)

// before adds commands of ExecStartPre=.
func before(programs ...string) func(*plan.Service) {
	return func(s *plan.Service) {
		for _, program := range programs {
			s.Before = append(s.Before, plan.Command{Argv: []string{program}})
		}
	}
}

func restarts(when policy.Restart) func(*plan.Service) {
	return func(s *plan.Service) { s.Restarts.Rules.Restart = when }
}

func TestEachCommandBeforeTheMainProcessHasTheStartTimeoutForItself(t *testing.T) {
	play(t, of(simple("a", before("/bin/one", "/bin/two"))), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> 80s
		> exit a.control 0
			a: spawn control: /bin/two
		> 80s
		> exit a.control 0
			a: spawn main: /bin/a
		> 80s
		> says a READY=1
			a: ready after 4min
	`)
	play(t, of(simple("a", before("/bin/one"))), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> 90s
			a: stopping: it was not started in 1min 30s
			a: SIGTERM to control
		> exit a.control TERM
			a: ended after 1min 30s: start-timeout, result timeout: Restart=on-failure, result timeout
			a: restarting in 1s
	`)
}

func TestACommandThatFailsIsTheEndOfTheStart(t *testing.T) {
	play(t, of(simple("a", before("/bin/one", "/bin/two"))), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> exit a.control 3
			a: ended command=ExecStartPre after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a", before("/bin/one"))), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> exit a.control TERM
			a: ended command=ExecStartPre after 0: signal, result signal: Restart=on-failure, result signal
			a: restarting in 1s
	`)
}

func TestAFailureThatMayBeCountsForNothing(t *testing.T) {
	play(t, of(simple("a", before("/bin/one"), func(s *plan.Service) { s.Before[0].MayErr = true })), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> exit a.control 3
			a: spawn main: /bin/a
	`)
}

func TestAConditionThatDoesNotHoldSkipsTheStart(t *testing.T) {
	condition := func(s *plan.Service) { s.Before[0].Condition = true }
	play(t, of(simple("a", before("/bin/test"), condition, restarts(policy.RestartAlways))), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/test
		> exit a.control 1
			a: ended result=exec-condition after 0: clean, result exec-condition: Restart=always, result exec-condition
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a", before("/bin/test"), condition)), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/test
		> exit a.control 255
			a: ended command=ExecCondition after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
}

func TestAStatusThatComesWithReadyIsToldWithIt(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a STATUS=starting
			a: status: starting
		> says a READY=1 STATUS=ready,live
			a: ready after 0: ready,live
		> says a STATUS=ready,live
		> says a READY=1 STATUS=busy
			a: status: busy
	`)
}

func TestAServiceThatIsNotReadyInTimeIsStopped(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> 90s
			a: stopping: it was not started in 1min 30s
			a: SIGTERM to main
		> says a STOPPING=1
		> exit a TERM
			a: ended after 1min 30s: start-timeout, result timeout: Restart=on-failure, result timeout
			a: restarting in 1s
	`)
}

func TestAServiceMayAskForMoreTimeAndNeverGetsLess(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> 80s
		> says a EXTEND_TIMEOUT_USEC=60000000
		> 50s
		> says a EXTEND_TIMEOUT_USEC=1
		> 10s
			a: stopping: it was not started in 2min 20s
			a: SIGTERM to main
		> exit a 0
			a: ended after 2min 20s: start-timeout, result timeout: Restart=on-failure, result timeout
			a: restarting in 1s
	`)
}

func TestAnEndBeforeReadyIsAFailureWhateverTheCode(t *testing.T) {
	play(t, of(simple("a", restarts(policy.RestartNo))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 0
			a: ended after 0: protocol, result protocol: Restart=no, result protocol
			a: given-up: Restart=no, result protocol
			a: release
			finished
			done 1
	`)
	play(t, of(simple("a", restarts(policy.RestartNo))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a TERM
			a: ended after 0: protocol, result protocol: Restart=no, result protocol
			a: given-up: Restart=no, result protocol
			a: release
			finished
			done 143
	`)
	play(t, of(simple("a", restarts(policy.RestartNo))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 7
			a: ended after 0: exit-code, result exit-code: Restart=no, result exit-code
			a: given-up: Restart=no, result exit-code
			a: release
			finished
			done 7
	`)
}

func TestWhatCannotBeExecutedIsAsIfItHadExited(t *testing.T) {
	play(t, of(simple("a", restarts(policy.RestartNo))), `
		> slow
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> failed a 203
			a: ended message="no such thing" after 0: exec, result exit-code: Restart=no, result exit-code
			a: given-up: Restart=no, result exit-code
			a: release
			finished
			done 203
	`)
	play(t, of(simple("a", restarts(policy.RestartNo))), `
		> slow
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> failed a 200
			a: ended message="no such thing" after 0: exec, result exit-code: Restart=no, result exit-code
			a: given-up: Restart=no, result exit-code
			a: release
			finished
			done 200
	`)
	play(t, of(simple("a", restarts(policy.RestartNo))), `
		> slow
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> failed a resources
			a: ended result=resources message="no such thing" after 0: exec, result resources: Restart=no, result resources
			a: given-up: Restart=no, result resources
			a: release
			finished
			done 1
	`)
	play(t, of(simple("a", before("/bin/one"))), `
		> slow
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> failed a.control 203
			a: ended command=ExecStartPre message="no such thing" after 0: exec, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> stop
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a", before("/bin/one"), func(s *plan.Service) { s.Before[0].MayErr = true })), `
		> slow
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> failed a.control 203
			a: spawn main: /bin/a
		> spawned a
	`)
}

func TestAStopDuringTheStartIsAStop(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a", before("/bin/one"))), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to control
		> exit a.control TERM
			a: ended command=ExecStartPre after 0: stop-requested, result signal: a stop was asked for
			a: release
			finished
			done 1
	`)
}

func TestASignalThatComesBeforeTheProcessReachesIt(t *testing.T) {
	play(t, of(simple("a")), `
		> slow
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> stop
			a: stopping: a stop was asked for
		> spawned a
			a: SIGTERM to main
		> exit a TERM
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a")), `
		> slow
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> stop
			a: stopping: a stop was asked for
		> failed a 203
			a: ended after 0: stop-requested, result exit-code: a stop was asked for
			a: release
			finished
			done 203
	`)
}

func TestTheStartLimitHoldsWhoeverStarts(t *testing.T) {
	limited := simple("a", func(s *plan.Service) { s.Restarts.Limit = policy.Limit{Starts: 2, Within: time.Minute} })
	play(t, of(limited), `
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
		> tick
			a: refused, start-limit: start limit hit: 2 starts within 1min
			a: release
			a: given-up: start limit hit: 2 starts within 1min
			finished
			done 3
	`)
	play(t, of(limited, simple("b")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> stop a
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
		> start a
			a: starting 2, restart 0
			a: spawn main: /bin/a
		> stop a
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
		> start a
			a: refused, start-limit: start limit hit: 2 starts within 1min
			a: release
			a: given-up: start limit hit: 2 starts within 1min
		> 61s
		> start a
			a: starting 3, restart 0
			a: spawn main: /bin/a
	`)
}
