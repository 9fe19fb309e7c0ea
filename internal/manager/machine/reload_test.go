package machine

import (
	"testing"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/syntax"
)

func bySignal(s *plan.Service) { s.Reload.Signal = syntax.SIGHUP }

func byCommand(s *plan.Service) {
	s.Reload.Command = &plan.Command{Argv: []string{"/bin/reload"}}
}

func TestAReloadIsOverWhenTheServiceIsReadyAgain(t *testing.T) {
	play(t, of(simple("a", bySignal)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> reload
			a: reloading
			a: SIGHUP to main
		> says a READY=1
		> 1s
		> says a RELOADING=1
		> 2s
		> says a READY=1
			a: reloaded after 3s
		> reload
			a: reloading
			a: SIGHUP to main
		> says a RELOADING=1 READY=1
			a: reloaded
	`)
}

func TestAReloadThatIsNotAnsweredIsGivenUp(t *testing.T) {
	play(t, of(simple("a", bySignal)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> reload
			a: reloading
			a: SIGHUP to main
		> 80s
		> says a RELOADING=1
		> 10s
			a: reloaded after 1min 30s: timeout after 1min 30s
		> exit a 0
			a: ended after 1min 30s: clean, result success: Restart=on-failure, result success
			a: release
			finished
			done 0
	`)
}

func TestAServiceMayReloadByItself(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> says a RELOADING=1
			a: reloading: by itself
		> says a READY=1
			a: reloaded
		> says a RELOADING=1
			a: reloading: by itself
		> 90s
			a: reloaded after 1min 30s: timeout after 1min 30s
	`)
}

func TestAReloadDuringAStartIsOneWithItAndDuringAReloadFollowsIt(t *testing.T) {
	play(t, of(simple("a", bySignal, before("/bin/one"))), `
		> start
			a: starting 1, restart 0
			a: spawn control: /bin/one
		> reload
			a: note: is being started; the reload is one with that
		> exit a.control 0
			a: spawn main: /bin/a
		> reload a
			a: note: is being started; the reload is one with that
		> says a READY=1
			a: ready after 0
		> reload
			a: reloading
			a: SIGHUP to main
		> says a RELOADING=1 READY=1
			a: reloaded
		> says a RELOADING=1 READY=1
	`)
}

func TestAReloadOfWhatCannotIsNoted(t *testing.T) {
	play(t, of(simple("a"), simple("b", bySignal)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
			b: starting 1, restart 0
			b: spawn main: /bin/b
		> reload a
			a: note: cannot be reloaded; the policy has no reload
		> says b READY=1
			b: ready after 0
		> reload
			a: note: cannot be reloaded; the policy has no reload
			b: reloading
			b: SIGHUP to main
		> stop b
			b: stopping: a stop was asked for
			b: SIGTERM to main
		> reload b
			b: note: cannot be reloaded, as it is not up
	`)
}

func TestACommandReloads(t *testing.T) {
	play(t, of(simple("a", byCommand)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> reload
			a: reloading
			a: spawn control: /bin/reload
		> says a RELOADING=1
		> says a READY=1
		> exit a.control 0
			a: reloaded
		> reload
			a: reloading
			a: spawn control: /bin/reload
		> exit a.control 1
			a: reloaded: exit code 1
		> reload
			a: reloading
			a: spawn control: /bin/reload
		> 90s
			a: SIGKILL to control
		> exit a.control KILL
			a: reloaded after 1min 30s: timeout after 1min 30s
		> reload
			a: reloading
			a: spawn control: /bin/reload
		> exit a 3
		> exit a.control 0
			a: reloaded
			a: ended after 1min 30s: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
	`)
}

func TestAStopDuringAReloadIsAStop(t *testing.T) {
	play(t, of(simple("a", bySignal)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> reload
			a: reloading
			a: SIGHUP to main
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> says a RELOADING=1
		> says a READY=1
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
	`)
	play(t, of(simple("a", byCommand)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> reload
			a: reloading
			a: spawn control: /bin/reload
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
			a: SIGTERM to control
		> exit a 0
		> exit a.control TERM
			a: ended after 0: stop-requested, result signal: a stop was asked for
			a: release
			finished
			done 1
	`)
}

func TestAServiceThatDiesOfTheReloadHasEnded(t *testing.T) {
	play(t, of(simple("a", bySignal)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> reload
			a: reloading
			a: SIGHUP to main
		> exit a HUP
			a: ended after 0: clean, result success: Restart=on-failure, result success
			a: release
			finished
			done 129
	`)
}

func TestACommandThatComesTooLateForItsReloadIsKilled(t *testing.T) {
	play(t, of(simple("a", byCommand)), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> slow
		> reload
			a: reloading
			a: spawn control: /bin/reload
		> 90s
		> spawned a.control
			a: SIGKILL to control
		> exit a.control KILL
			a: reloaded after 1min 30s: timeout after 1min 30s
	`)
}
