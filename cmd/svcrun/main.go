// Command svcrun is the thin wrapper in a unit's ExecStart=. It gives any
// program readiness and a watchdog from health checks, relays what the program
// itself tells systemd, and stops it in a bounded, two-phase drain.
//
// It ends as its child ended, so that the manager's Restart= decides as it
// would without it; or with one of the codes that help lists.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/supervise"
	"github.com/svckit/svckit/internal/supervise/machine"
)

// version is stamped in by the linker.
var version = "development"

// exitUsage is EX_USAGE of sysexits.h.
const exitUsage = 64

// The kernel ends a child with its parent thread, not its parent process: the
// child is started on the first thread, which lives as long as svcrun. The shim
// executes it on that thread too.
func init() { runtime.LockOSThread() }

func main() {
	if proc.IsShim(os.Args) {
		os.Exit(proc.Shim(os.Args, os.Environ()))
	}
	proc.Die(run(os.Args[1:], os.Environ()))
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
	case err != nil:
		out.usage(err)
		return machine.Status{Code: exitUsage}, ""
	}
	out.level = options.level
	options.Log = out.log
	if options.Path, err = lookPath(options.Argv[0], environ); err != nil {
		out.log(machine.Error, err.Error())
		out.end(history.EndLine{Cause: history.Exec})
		return machine.Status{Code: machine.ExitExec}, ""
	}
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

// lookPath finds the command as execvp(3) would, so that a name without a
// slash may be given by hand.
func lookPath(name string, environ []string) (string, error) {
	path, err := find(name, environ)
	if err != nil {
		return "", fmt.Errorf("cannot execute %s: %w", name, err)
	}
	return path, nil
}
