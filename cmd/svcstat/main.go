// Command svcstat tells the restart history and the state of services, from
// D-Bus for now and from the journal and svcrun's records for the past.
//
// It only reads, but for forget and alert. Its verbs are a file each; what a user
// sees of text stands in text.go and the files text_*.go, and what a script sees in
// document.go or with its verb.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/verbs"
)

// version is set when the programs are built for a release.
var version = "devel"

// exitNoUnit says that there is no such unit, as with systemctl(1).
const exitNoUnit = 4

// output is where a verb prints, and how.
type output struct {
	stdout, stderr io.Writer
	terminal       terminal // stdout
	progress       bool     // stderr is a terminal
	now            func() time.Time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := output{
		stdout: os.Stdout, stderr: os.Stderr, now: time.Now,
		terminal: terminalOf(os.Stdout, os.Getenv), progress: terminalOf(os.Stderr, os.Getenv).is,
	}
	os.Exit(run(ctx, os.Args, out)) //nolint:gocritic // stop only matters to a process that lives on
}

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, out output) int {
	err := verbs.Run(ctx, newApp(out), args)
	if err != nil {
		fmt.Fprintln(out.stderr, errorLine(err))
	}
	return verbs.Code(err)
}

func newApp(out output) *cli.App {
	about := verbs.Program{
		Name: "svcstat", Version: version, About: appAbout, Exits: appExits, Stdout: out.stdout, Stderr: out.stderr,
	}
	return verbs.New(about, []*cli.Command{
		listCommand(out), historyCommand(out), whyCommand(out), forgetCommand(out), alertCommand(out),
	})
}
