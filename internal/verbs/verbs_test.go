package verbs

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// app is a program with two verbs; it keeps what they were given.
func app(got *[]string) *cli.App {
	keep := func(c *cli.Context) error {
		*got = append([]string{c.Command.Name, c.String("since"), fmt.Sprint(c.StringSlice("cause"))}, c.Args().Slice()...)
		return nil
	}
	return New(program(io.Discard), []*cli.Command{
		{Name: "list", Action: keep, Flags: []cli.Flag{&cli.BoolFlag{Name: "all", Aliases: []string{"a"}}, &cli.BoolFlag{Name: "failed"}}},
		{Name: "history", Action: keep, Flags: []cli.Flag{
			&cli.StringFlag{Name: "since"}, &cli.IntFlag{Name: "last", Aliases: []string{"n"}},
			&cli.StringSliceFlag{Name: "cause"}, &cli.BoolFlag{Name: "json"},
		}},
	})
}

func program(out io.Writer) Program {
	return Program{Name: "prog", Version: "1", About: "Does it.", Exits: "0 done", Stdout: out, Stderr: io.Discard}
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "",
		"history":                    "history --",
		"history x":                  "history -- x",
		"history x --json":           "history --json -- x",
		"--json history x":           "history --json -- x",
		"history x --since 2h -n5":   "history --since 2h -n 5 -- x",
		"history --since -2h x":      "history --since -2h -- x",
		"history --since=2h x":       "history --since=2h -- x",
		"history --since -- x":       "history --since -- -- x",
		"history --since history x":  "history --since history -- x",
		"list a b -a --failed c":     "list -a --failed -- a b c",
		"list -- -a":                 "list -- -a",
		"list -":                     "list -- -",
		"--help":                     "--help",
		"--version":                  "--version",
		"-h":                         "-h",
		"history --cause oom --help": "history --cause oom --help --",
		"history - x":                "history -- - x",
	} {
		got, err := Permute(append([]string{"prog"}, strings.Fields(line)...), app(new([]string)))
		if err != nil || strings.Join(got[1:], " ") != want {
			t.Errorf("%q became %q, %v; want %q", line, got, err, want)
		}
	}
}

func TestWhatIsNotKnownIsRefusedWithTheNearest(t *testing.T) {
	for line, want := range map[string]string{
		"":                       "no verb; write prog VERB, where VERB is one of: list, history",
		"hsitory x":              `unknown verb "hsitory"; did you mean history`,
		"frobnicate":             `unknown verb "frobnicate"; known are list, history`,
		"list --frobnicate":      "unknown flag --frobnicate; known are --all, --failed, --help",
		"history x --sinc=2h":    "unknown flag --sinc; did you mean --since",
		"--failed":               "unknown flag --failed",
		"history x --since":      "--since wants a value",
		"history x -n":           "-n wants a value",
		"history x --last=seven": `invalid value "seven" for flag -last`,
	} {
		err := Run(t.Context(), app(new([]string)), append([]string{"prog"}, strings.Fields(line)...))
		if err == nil || !strings.Contains(err.Error(), want) || Code(err) != ExitUsage {
			t.Errorf("%q: %v, code %d; want %q, code 64", line, err, Code(err), want)
		}
	}
}

func TestValuesAreNotSplitAtTheirCommas(t *testing.T) {
	var got []string
	if err := Run(t.Context(), app(&got), []string{"prog", "history", "x", "--cause", "a,b", "--since", "1,5h"}); err != nil {
		t.Fatal(err)
	}
	if want := "history 1,5h [a,b] x"; strings.Join(got, " ") != want {
		t.Errorf("the verb got %q; want %q", got, want)
	}
}

func TestCodeIsTheErrorsOwnOrFailure(t *testing.T) {
	for want, err := range map[int]error{
		0: nil, 1: errors.New("x"), 64: Usagef("x"), 4: fmt.Errorf("wrapped: %w", &Error{4, errors.New("x")}),
	} {
		if got := Code(err); got != want {
			t.Errorf("Code(%v) = %d; want %d", err, got, want)
		}
	}
}
