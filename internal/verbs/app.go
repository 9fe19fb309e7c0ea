package verbs

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// New is a program of that name with its verbs. What else the program wants of
// the app, it sets itself.
func New(name, usage, version string, list []*cli.Command, stdout, stderr io.Writer) *cli.App {
	onUsageError := func(_ *cli.Context, err error, _ bool) error { return Usagef("%w", err) }
	for _, verb := range list {
		verb.OnUsageError = onUsageError
		verb.HideHelpCommand = true
	}
	return &cli.App{
		Name: name, Usage: usage, Version: version, Writer: stdout, ErrWriter: stderr,
		Commands: list, HideHelpCommand: true,
		Action:                    func(c *cli.Context) error { return noVerb(name, c.Args().First(), list) },
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {}, // who calls Run decides
		DisableSliceFlagSeparator: true,
	}
}

// Run runs the verb that args name; args begin with the program's own name.
func Run(ctx context.Context, app *cli.App, args []string) error {
	args, err := Permute(args, app)
	if err != nil {
		return err
	}
	return app.RunContext(ctx, args)
}

// noVerb is the error of a command line without a known verb.
func noVerb(program, word string, list []*cli.Command) error {
	var names []string
	for _, verb := range list {
		names = append(names, verb.Name)
	}
	if word == "" {
		return Usagef("no verb; write %s VERB, where VERB is one of: %s", program, strings.Join(names, ", "))
	}
	return UnknownWord("verb", word, names)
}

// Code is the exit code that an error asks for; 0 for none, and otherwise 1
// where it does not say.
func Code(err error) int {
	var coded *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.Code
	}
	return exitFailure
}
