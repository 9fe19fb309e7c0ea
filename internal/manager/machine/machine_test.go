package machine

import (
	"testing"
)

func TestOneServiceStartsCrashesAndStops(t *testing.T) {
	play(t, of(simple("a")), `
		> start
			a: starting 1, restart 0
			a: spawn main: /bin/a
		> 2s
		> says a READY=1 STATUS=up
			a: ready after 2s: up
		> 3s
		> exit a 3
			a: ended after 5s: exit-code, result exit-code: Restart=on-failure, result exit-code
			a: restarting in 1s
		> 1s
			a: starting 2, restart 1
			a: spawn main: /bin/a
		> says a READY=1
			a: ready after 0
		> stop
			a: stopping: a stop was asked for
			a: SIGTERM to main
		> stop
		> exit a 0
			a: ended after 0: stop-requested, result success: a stop was asked for
			a: release
			finished
			done 0
		> start
	`)
}
