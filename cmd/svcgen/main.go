// Command svcgen turns a policy into systemd units: readiness, watchdog,
// restarts and a bounded stop, with every derived number explained beside it.
//
// Its verbs are a file each: flags, one call, text. All text that a user sees
// of svcgen itself stands in text.go; what is wrong with a policy is said by
// package unitgen.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/syntax"
)

// version is stamped in by the linker.
var version = "devel"

// Exit codes, as svcgen(1) lists them.
const (
	exitOK      = 0
	exitFailure = 1  // a file could not be read or written
	exitUsage   = 64 // EX_USAGE of sysexits.h
	exitData    = 65 // EX_DATAERR: the policy is wrong
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

// program is what a verb may use of the world.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	host           host
}

func main() {
	os.Exit(program{os.Stdin, os.Stdout, os.Stderr, thisHost()}.run(os.Args))
}

// run is the program: it returns the exit code.
func (p program) run(args []string) int {
	app := p.app()
	args, err := permute(args, app)
	if err == nil {
		err = app.Run(args)
	}
	if err == nil {
		return exitOK
	}
	p.tellError(err)
	var coded *codedError
	if errors.As(err, &coded) {
		return coded.code
	}
	return exitFailure
}

// app is the command line.
func (p program) app() *cli.App {
	onUsageError := func(_ *cli.Context, err error, _ bool) error { return usageError("%w", err) }
	verbs := []*cli.Command{p.generateCommand()}
	for _, verb := range verbs {
		verb.OnUsageError = onUsageError
		verb.HideHelpCommand = true
	}
	return &cli.App{
		Name: "svcgen", Usage: appUsage, Version: version, CustomAppHelpTemplate: appHelp,
		Writer: p.stdout, ErrWriter: p.stderr,
		Commands: verbs, HideHelpCommand: true,
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
		return usageError("unknown %s %s; did you mean %s", kind, word, near)
	}
	return usageError("unknown %s %s; known are %s", kind, word, strings.Join(known, ", "))
}
