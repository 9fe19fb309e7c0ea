// Command svcrun is the thin wrapper in a unit's ExecStart=. It gives any
// program readiness and a watchdog from health checks, relays what the program
// itself tells systemd, and stops it in a bounded, two-phase drain.
//
// It ends as its child ended, so that the manager's Restart= decides as it
// would without it; or with one of the codes that help lists.
package main

import (
	"errors"
	"os"
	"runtime"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/supervise"
	"github.com/svckit/svckit/internal/supervise/machine"
)

// version is stamped in by the linker.
var version = "development"

// exitUsage is EX_USAGE of sysexits.h.
const exitUsage = 64

// The shim executes the child on the first thread, on which init runs: an exec
// from another would lose the signal that ends the child with svcrun.
func init() {
	if proc.IsShim(os.Args) {
		runtime.LockOSThread()
	}
}

func main() {
	if proc.IsShim(os.Args) {
		os.Exit(proc.Shim(os.Args, proc.Environ()))
	}
	proc.Die(run(os.Args[1:], proc.Environ()))
}

// run is svcrun's whole life; it returns how to end, and the directory that is
// svcrun's own.
func run(args, environ []string) (end machine.Status, dir string) {
	out := newOutput(os.Stdout, os.Stderr, environ)
	defer out.close()
	if len(args) > 0 && args[0] == reloadVerb {
		return machine.Status{Code: runReload(args[1:], out)}, ""
	}
	options, err := parse(args, environ)
	if err == nil {
		options.Inherited = proc.InheritedDescriptors()
		err = options.checkDescriptors()
	}
	switch {
	case errors.Is(err, errHelp):
		out.help()
		return machine.Status{}, ""
	case errors.Is(err, errVersion):
		out.version()
		return machine.Status{}, ""
	case errors.Is(err, errForget):
		return machine.Status{Code: runForget(args, out)}, ""
	case err != nil:
		out.usage(err)
		return machine.Status{Code: exitUsage}, ""
	}
	out.level = options.level
	options.Log = out.log
	options.Version = version
	options.Find = func() (string, error) { return find(options.Argv[0], environ) }
	outcome, err := supervise.Run(options.Options)
	if refused := (*supervise.RefusedError)(nil); errors.As(err, &refused) {
		out.usage(err)
		return machine.Status{Code: exitUsage}, ""
	}
	if err != nil {
		out.log(machine.Error, err.Error())
		return machine.Status{Code: 1}, ""
	}
	out.end(outcome.End)
	return outcome.Status, options.RuntimeDir
}
