package machine

import (
	"testing"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/policy"
)

func wants(names ...string) func(*plan.Service) {
	return func(s *plan.Service) { s.Wants = append(s.Wants, fullNames(names)...) }
}

func partOf(names ...string) func(*plan.Service) {
	return func(s *plan.Service) { s.PartOf = append(s.PartOf, fullNames(names)...) }
}

func TestUnitsStartInTheirOrderAndStopInTheOther(t *testing.T) {
	play(t, of(simple("c", after("b")), simple("b", after("a")), simple("a"), simple("z")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			z: starting 1, restart 0
			z: spawn main: /bin/z
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
			c: starting 1, restart 0
			c: spawn main: /bin/c
		> says c READY=1
			c: ready after 0
		> stop
			c: stopping: a stop was asked for
			c: SIGTERM to main
			z: stopping: a stop was asked for
			z: SIGTERM to main
		> exit z 0
			z: ended after 0: stop-requested, result success: a stop was asked for
			z: release
		> exit c 0
			c: ended after 0: stop-requested, result success: a stop was asked for
			c: release
			b: stopping: a stop was asked for
			b: SIGTERM to main
		> exit b 0
			b: ended after 0: stop-requested, result success: a stop was asked for
			b: release
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
}

func TestAUnitWaitsForTheOneBeforeItToBeUpOrToHaveFailed(t *testing.T) {
	play(t, of(simple("b", after("a")), simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> stop
			b: stopping: a stop was asked for
			b: SIGTERM to main
		> exit b 0
			b: ended after 0: stop-requested, result success: a stop was asked for
			b: release
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
			finished
			done 0
	`)
	play(t, of(simple("b", after("a")), simple("a", func(s *plan.Service) { s.Direct = true })), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
	`)
}

func TestAUnitDoesNotStartWithoutTheOneThatItRequires(t *testing.T) {
	play(t, of(simple("c", requires("b"), after("b")), simple("b", requires("a"), after("a")), simple("a", restarts(policy.RestartNo))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=no, result exit-code
			a: given-up: Restart=no, result exit-code
			b: refused, dependency: a.service, which it requires, failed to start
			b: release
			c: refused, dependency: b.service, which it requires, failed to start
			c: release
			a: release
			finished
			done 1
	`)
	play(t, of(simple("b", requires("a")), simple("a")), `
		> start
			b: starting 1, restart 0
			b: spawn main: /bin/b
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> says b READY=1
			b: ready after 0
		> stop a
			b: stopping: a.service, which it depends on, stops
			b: SIGTERM to main
			a: stopping: a stop was asked for; the restart that was waited for is off
			a: release
	`)
}

func TestAStopTakesAlongThoseThatDependOnTheUnit(t *testing.T) {
	play(t, of(simple("a"), simple("b", requires("a"), after("a")), simple("c", partOf("b")), simple("d", wants("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			c: starting 1, restart 0
			c: spawn main: /bin/c
			d: starting 1, restart 0
			d: spawn main: /bin/d
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
		> says c READY=1
			c: ready after 0
		> says d READY=1
			d: ready after 0
		> stop a
			b: stopping: a.service, which it depends on, stops
			b: SIGTERM to main
			c: stopping: a.service, which it depends on, stops
			c: SIGTERM to main
		> exit b 0
			b: ended after 0: stop-requested, result success: a stop was asked for
			b: release
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit c 0
			c: ended after 0: stop-requested, result success: a stop was asked for
			c: release
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
	`)
	play(t, of(simple("a"), simple("b", requires("a"), after("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> stop a
			b: refused, stop-requested: a.service, which it depends on, stops
			b: release
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
}

func TestAStartTakesAlongTheUnitsThatAreNeeded(t *testing.T) {
	play(t, of(simple("a", requires("b"), wants("c"), after("b")), simple("b"), simple("c"), simple("d")), `
		> start a
			b: starting 1, restart 0
			b: spawn main: /bin/b
			c: starting 1, restart 0
			c: spawn main: /bin/c
		> says b READY=1
			b: ready after 0
			a: starting 1, restart 0
			a: spawn main: /bin/a
	`)
}

func TestARestartRestartsThoseThatDependOnTheUnit(t *testing.T) {
	play(t, of(simple("a"), simple("b", requires("a"), after("a")), simple("c", partOf("b"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			c: starting 1, restart 0
			c: spawn main: /bin/c
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
		> says c READY=1
			c: ready after 0
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			b: stopping: a.service, which it depends on, is restarted
			b: SIGTERM to main
			c: stopping: a.service, which it depends on, is restarted
			c: SIGTERM to main
		> exit c 0
			c: ended after 1s: stop-requested, result success: a stop was asked for
			c: starting 2, restart 0
			c: spawn main: /bin/c
		> exit b 0
			b: ended after 1s: stop-requested, result success: a stop was asked for
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
			b: starting 2, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
	`)
	play(t, of(simple("a", func(s *plan.Service) { s.Direct = true }), simple("b", requires("a"), after("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
	`)
}

func TestARestartGoesNoFurtherThanToUnitsThatAreUp(t *testing.T) {
	play(t, of(simple("a"), simple("b", requires("a"), after("a")), simple("c", partOf("b"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			c: starting 1, restart 0
			c: spawn main: /bin/c
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			b: refused, dependency: a.service, which it requires, failed to start
			b: release
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
	`)
}

func TestARestartStartsWhatTheRestartedNeed(t *testing.T) {
	play(t, of(simple("a"), simple("b"), simple("c", requires("b"), after("b"), partOf("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says a READY=1
			a: ready after 0
		> says b READY=1
			b: ready after 0
			c: starting 1, restart 0
			c: spawn main: /bin/c
		> says c READY=1
			c: ready after 0
		> exit b 0
			b: ended after 0: clean, result success: Restart=on-failure, result success
			b: release
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
			c: stopping: a.service, which it depends on, is restarted
			c: SIGTERM to main
		> exit c 0
			c: ended after 1s: stop-requested, result success: a stop was asked for
			b: starting 2, restart 0
			b: spawn main: /bin/b
		> says b READY=1
			b: ready after 0
			c: starting 2, restart 0
			c: spawn main: /bin/c
	`)
}

func TestUnitsThatStopEachOtherStop(t *testing.T) {
	play(t, of(simple("a", partOf("b")), simple("b", partOf("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> says a READY=1
			a: ready after 0
		> says b READY=1
			b: ready after 0
		> stop a
			a: stopping: a stop was asked for
			a: SIGTERM to main
			b: stopping: a.service, which it depends on, stops
			b: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
		> exit b 0
			b: ended after 0: stop-requested, result success: a stop was asked for
			b: release
			finished
			done 0
	`)
}

func TestNothingIsDoneForUnitsThatAreNotThere(t *testing.T) {
	play(t, of(simple("a")), `
		> start b
		> exit b 0
		> says b READY=1
		> left b 1
		> stop
			finished
			done 0
	`)
}

func TestAStopOfAllIsToldToBeOne(t *testing.T) {
	play(t, of(simple("a"), simple("b", requires("a"), after("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> stop
			b: stopping: a stop was asked for
			b: SIGTERM to main
		> exit b 0
			b: ended after 0: stop-requested, result success: a stop was asked for
			b: release
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
}

func TestAStartTakesAStopBackThatStillWaits(t *testing.T) {
	play(t, of(simple("a"), simple("b", after("a")), simple("c", after("a"))), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
			b: starting 1, restart 0
			b: spawn main: /bin/b
			c: starting 1, restart 0
			c: spawn main: /bin/c
		> says b READY=1
			b: ready after 0
		> stop c
			c: stopping: a stop was asked for
			c: SIGTERM to main
		> exit c 0
			c: ended after 0: stop-requested, result success: a stop was asked for
			c: release
		> exit a 1
			a: ended after 0: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> stop b
			b: stopping: a stop was asked for
			b: SIGTERM to main
		> stop a
		> start a
		> start c
		> exit b 0
			b: ended after 1s: stop-requested, result success: a stop was asked for
			b: release
		> says a READY=1
			a: ready after 0
			c: starting 2, restart 0
			c: spawn main: /bin/c
	`)
}
