package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/svckit/svckit/internal/proc/proctest"
)

// The promises of svcrun as a program are scripts, in testdata: svcrun runs in
// them as a process, with a child that does as its arguments say, a manager that
// listens, and endpoints that answer well or badly. What a script waits for is
// told to it; nothing is waited for by the clock.

// patience bounds whatever should come at once, on a loaded machine too.
const patience = time.Minute

func TestMain(m *testing.M) {
	if strings.HasSuffix(os.Args[0], ".test") { // and not one of the commands
		proctest.DefaultSignals()
	}
	testscript.Main(m, map[string]func(){"svcrun": main, "child": childMain})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setStage,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start": start, "end": end, "signal": signalTo, "waitfor": waitFor, "gone": gone, "alive": alive,
			"logged": logged, "manager": startManager, "heard": heard, "endpoint": startEndpoint, "mode": setMode,
			"told": told, "pause": pause, "memory": memory, "written": written,
		},
	})
}
