// Command svcgen turns a policy into systemd units: readiness, watchdog,
// restarts and a bounded stop, with every derived number explained beside it.
//
// Its verbs are a file each: flags, one call, text. All text that a user sees
// of svcgen itself stands in text.go; what is wrong with a policy is said by
// package unitgen.
package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/manager"
	"github.com/svckit/svckit/internal/verbs"
)

// version is stamped in by the linker.
var version = "devel"

// exitData is EX_DATAERR of sysexits.h: something is wrong with the policy.
const exitData = 65

// program is what a verb may use of the world.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	host           host
}

// svcgen run starts services by way of this program, which executes them then.
func init() { manager.PrepareShim(os.Args) }

func main() {
	if manager.IsShim(os.Args) {
		os.Exit(manager.Shim(os.Args))
	}
	os.Exit(program{os.Stdin, os.Stdout, os.Stderr, thisHost()}.run(os.Args))
}

// run is the program: it returns the exit code.
func (p program) run(args []string) int {
	if isGenerator(args) {
		return p.runAsGenerator(args)
	}
	err := verbs.Run(context.Background(), p.app(), args)
	if err != nil && !errors.Is(err, errTold) {
		p.tellError(err)
	}
	return verbs.Code(err)
}

// app is the command line.
func (p program) app() *cli.App {
	about := verbs.Program{
		Name: "svcgen", Version: version, About: appAbout, Exits: appExits, Stdout: p.stdout, Stderr: p.stderr,
	}
	return verbs.New(about, []*cli.Command{p.generateCommand(), p.runCommand(), p.targetsCommand(), p.generatorCommand()})
}
