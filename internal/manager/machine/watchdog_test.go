package machine

import (
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
)

func watched(s *plan.Service) { s.Watchdog = 10 * time.Second }

func TestASilentServiceIsAborted(t *testing.T) {
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> 80s
		> says a READY=1
			a: ready after 1min 20s
		> 9s
		> says a WATCHDOG=1
		> 10s
			a: stopping: watchdog: no heartbeat for 10s
			a: SIGABRT to main
		> exit a ABRT+core
			a: ended limit=10s after 1min 39s: watchdog, result watchdog: Restart=on-failure, result watchdog
			a: restarting in 1s
	`)
}

func TestAnAbortIsBoundedAndItsCauseIsTheWatchdog(t *testing.T) {
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> 10s
			a: stopping: watchdog: no heartbeat for 10s
			a: SIGABRT to main
		> 10s
			a: SIGKILL to all
		> exit a KILL
			a: ended limit=10s after 20s: watchdog, result watchdog: Restart=on-failure, result watchdog
			a: restarting in 1s
	`)
}

func TestTheWatchdogCanBeTriggered(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a WATCHDOG=trigger
			a: stopping: watchdog: WATCHDOG=trigger
			a: SIGABRT to main
		> says a WATCHDOG=trigger
		> exit a 2
			a: ended after 0: watchdog, result watchdog: Restart=on-failure, result watchdog
			a: restarting in 1s
	`)
}

func TestAHeartbeatBeforeReadyWakesTheWatchdog(t *testing.T) {
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a WATCHDOG=1
		> 10s
			a: stopping: watchdog: no heartbeat for 10s
			a: SIGABRT to main
		> exit a ABRT
			a: ended limit=10s after 10s: watchdog, result watchdog: Restart=on-failure, result watchdog
			a: restarting in 1s
	`)
}

func TestTheServiceMaySetItsWatchdogsTimeForThisRun(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a WATCHDOG_USEC=2000000
		> 2s
			a: stopping: watchdog: no heartbeat for 2s
			a: SIGABRT to main
		> exit a 2
			a: ended limit=2s after 2s: watchdog, result watchdog: Restart=on-failure, result watchdog
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> 1h
	`)
}

func TestTheWatchdogGetsTheTimeThatIsAskedFor(t *testing.T) {
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a EXTEND_TIMEOUT_USEC=30000000
		> 29s
		> says a WATCHDOG=1
		> 9s
		> says a WATCHDOG=1
	`)
}

func TestTheWatchdogSleepsDuringAStop(t *testing.T) {
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> 20s
		> exit a 0
			a: ended after 20s: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a STOPPING=1 WATCHDOG_USEC=0
			a: stopping: by itself
		> says a WATCHDOG=1
		> 20s
		> exit a 0
			a: ended after 20s: clean, result success: Restart=on-failure, result success
			a: release
			finished
			done 0
	`)
}

func TestAHeartbeatAfterTheStopBeganWakesTheWatchdogAgain(t *testing.T) {
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> says a WATCHDOG=1
		> 10s
			a: stopping: watchdog: no heartbeat for 10s
			a: SIGABRT to main
		> says a WATCHDOG=1
		> 10s
			a: SIGKILL to all
		> exit a KILL
			a: ended limit=10s after 20s: watchdog, result watchdog: a stop was asked for
			a: release
			finished
			done 137
	`)
}

func TestAStopDuringAnAbortAsksOnceMore(t *testing.T) {
	play(t, of(simple("a", watched)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> 10s
			a: stopping: watchdog: no heartbeat for 10s
			a: SIGABRT to main
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> exit a 0
			a: ended limit=10s after 10s: watchdog, result watchdog: a stop was asked for
			a: release
			finished
			done 1
	`)
}
