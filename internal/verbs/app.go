package verbs

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// Program is what a command line is about.
type Program struct {
	Name    string
	Version string
	About   string // what the program is for: some lines of --help
	Exits   string // its exit status, the same

	Stdout, Stderr io.Writer
}

// New is a program with its verbs. What else the program wants of the app, it
// sets itself.
func New(p Program, list []*cli.Command) *cli.App {
	onUsageError := func(_ *cli.Context, err error, _ bool) error { return Usagef("%w", err) }
	for _, verb := range list {
		verb.OnUsageError = onUsageError
		verb.HideHelpCommand = true
		verb.CustomHelpTemplate = verbHelp(p, verb)
	}
	return &cli.App{
		Name: p.Name, Version: p.Version, Writer: p.Stdout, ErrWriter: p.Stderr,
		Commands: list, HideHelpCommand: true,
		CustomAppHelpTemplate:     programHelp(p, list),
		Action:                    func(c *cli.Context) error { return noVerb(p.Name, c.Args().First(), list) },
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
