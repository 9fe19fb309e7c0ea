package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// permute moves flags before arguments, and both behind the verb, so that they
// may stand anywhere: the flag package takes whatever follows the first
// argument for an argument, without a word. It also refuses unknown flags, as
// only here the nearest known one is at hand. After -- everything is an
// argument.
func permute(args []string, app *cli.App) ([]string, error) {
	verb, _ := findVerb(args, app)
	known := flagsOf(verb)
	var flags, words []string
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		arg := rest[0]
		if arg == "--" {
			words = append(words, rest[1:]...)
			break
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		takesValue, ok := known[name]
		if !ok {
			return nil, unknownWord("flag", "--"+name, names(known))
		}
		flags = append(flags, arg)
		switch {
		case !takesValue || hasValue:
		case len(rest) == 1:
			return nil, usageError(noValueText, arg)
		default:
			rest = rest[1:]
			flags = append(flags, rest[0])
		}
	}
	out := args[:1:1]
	if len(words) == 0 {
		return append(out, flags...), nil
	}
	out = append(append(out, words[0]), flags...)
	return append(append(out, "--"), words[1:]...), nil
}

// findVerb is the first word of the command line that is a verb.
func findVerb(args []string, app *cli.App) (*cli.Command, bool) {
	for _, arg := range args[1:] {
		if verb := app.Command(arg); verb != nil {
			return verb, true
		}
	}
	return nil, false
}

// flagsOf maps the flags of a verb, and those of every command line, to
// whether they take a value.
func flagsOf(verb *cli.Command) map[string]bool {
	known := map[string]bool{"help": false, "h": false}
	if verb == nil {
		known["version"], known["v"] = false, false
		return known
	}
	for _, flag := range verb.Flags {
		f, ok := flag.(cli.DocGenerationFlag)
		for _, name := range flag.Names() {
			known[name] = ok && f.TakesValue()
		}
	}
	return known
}

// names are the long names of flags, as they are typed.
func names(known map[string]bool) []string {
	var names []string
	for name := range known {
		if len(name) > 1 {
			names = append(names, "--"+name)
		}
	}
	slices.Sort(names)
	return names
}
