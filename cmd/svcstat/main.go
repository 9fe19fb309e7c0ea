// Command svcstat tells the restart history and the state of services, from
// D-Bus for now and from the journal for the past.
//
// It only reads. Its verbs are a file each; what a user sees of text stands
// in text.go, and what a script sees in document.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/syntax"
)

// version is set when the programs are built for a release.
var version = "devel"

// Exit codes, as svcstat(1) lists them.
const (
	exitOK      = 0
	exitFailure = 1  // neither D-Bus nor the journal could be asked
	exitNoUnit  = 4  // no such unit, as with systemctl(1)
	exitUsage   = 64 // EX_USAGE of sysexits.h
)

// codedError is an error with the exit code it asks for.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &codedError{exitUsage, fmt.Errorf(format, args...)}
}

// output is where a verb prints, and how.
type output struct {
	stdout, stderr io.Writer
	color          bool // stdout is a terminal that wants it
	now            func() time.Time
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := output{stdout: os.Stdout, stderr: os.Stderr, color: wantsColor(os.Stdout), now: time.Now}
	os.Exit(run(ctx, os.Args, out)) //nolint:gocritic // stop only matters to a process that lives on
}

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, out output) int {
	app := newApp(out)
	err := app.RunContext(ctx, permute(args, app))
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(out.stderr, errorLine(err))
	var coded *codedError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitFailure
}

// wantsColor follows no-color.org, and asks for a terminal.
func wantsColor(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 &&
		os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

func newApp(out output) *cli.App {
	onUsageError := func(_ *cli.Context, err error, _ bool) error { return usageError("%w", err) }
	verbs := []*cli.Command{listCommand(out), historyCommand(out)}
	for _, verb := range verbs {
		verb.OnUsageError = onUsageError
		verb.HideHelpCommand = true
	}
	return &cli.App{
		Name: "svcstat", Usage: appUsage, Version: version,
		Writer: out.stdout, ErrWriter: out.stderr,
		Commands:                  verbs,
		Action:                    func(c *cli.Context) error { return noVerb(c.Args().First(), verbs) },
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {}, // run decides
		DisableSliceFlagSeparator: true,
	}
}

// noVerb is the error of a command line without a known verb.
func noVerb(word string, verbs []*cli.Command) error {
	var names []string
	for _, verb := range verbs {
		names = append(names, verb.Name)
	}
	if word == "" {
		return usageError(noVerbText, strings.Join(names, ", "))
	}
	return unknownWord("verb", word, names)
}

// unknownWord is the error of a word that is none of those that may stand there.
func unknownWord(kind, word string, known []string) error {
	if near, ok := syntax.Nearest(word, known); ok {
		return usageError("unknown %s %q; did you mean %s", kind, word, near)
	}
	return usageError("unknown %s %q; known are %s", kind, word, strings.Join(known, ", "))
}
