package verbs

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestHelpIsForReading(t *testing.T) {
	var out strings.Builder
	verb := &cli.Command{
		Name: "walk", Usage: "walks {{a way}}", ArgsUsage: "WAY...", Description: "A WAY is a way.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "all of them"},
			&cli.IntFlag{Name: "n", Usage: "at most `N` steps"},
			&cli.StringFlag{Name: "pace", Value: "slow", Usage: "walk at `PACE`: slow or fast"},
			&cli.StringSliceFlag{Name: "a-name-that-is-longer-than-its-column", Usage: strings.TrimSpace(strings.Repeat("word ", 15))},
			&cli.StringFlag{Name: "mute"},
		},
	}
	list := func() []*cli.Command { return []*cli.Command{verb} }
	for line, want := range map[string]string{
		"--help": `usage: prog VERB [FLAGS] ARGUMENT...

Does it.

verbs:
  walk  walks {{a way}}

"prog VERB --help" tells the flags of a verb, --version the version.

exit status: 0 done
`,
		"walk --help": `usage: prog walk [FLAGS] WAY...

Walks {{a way}}.

A WAY is a way.

flags:
  -a, --all         all of them
  -n N              at most N steps
      --pace PACE   walk at PACE: slow or fast (default slow)
      --a-name-that-is-longer-than-its-column VALUE
                    word word word word word word word word word word word word
                    word word word
      --mute VALUE
`,
	} {
		out.Reset()
		if err := Run(t.Context(), New(program(&out), list()), append([]string{"prog"}, strings.Fields(line)...)); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s prints\n%s\nwant\n%s", line, out.String(), want)
		}
	}
}
