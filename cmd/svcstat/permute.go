package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// permute moves flags before arguments, and both behind the verb, so that
// they may stand anywhere: the flag package takes whatever follows the first
// argument for an argument. After -- everything is an argument.
func permute(args []string, app *cli.App) []string {
	if len(args) == 0 {
		return args
	}
	takesValue := valueFlags(app)
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
		if name, value, ok := attached(arg, takesValue); ok {
			flags = append(flags, name, value)
			continue
		}
		flags = append(flags, arg)
		if takesValue[strings.TrimLeft(arg, "-")] && len(rest) > 1 {
			rest = rest[1:]
			flags = append(flags, rest[0])
		}
	}
	if len(words) == 0 {
		return append(args[:1:1], flags...)
	}
	out := append(args[:1:1], words[0])
	out = append(append(out, flags...), "--")
	return append(out, words[1:]...)
}

// attached takes apart a flag of one letter with its value, as in -n5, which
// the flag package does not know.
func attached(arg string, takesValue map[string]bool) (name, value string, ok bool) {
	if len(arg) < 3 || arg[1] == '-' || arg[2] == '=' || !takesValue[arg[1:2]] || takesValue[arg[1:]] {
		return "", "", false
	}
	return arg[:2], arg[2:], true
}

// valueFlags are the names of all flags that take the next word, of any verb.
func valueFlags(app *cli.App) map[string]bool {
	names := make(map[string]bool)
	for _, verb := range app.Commands {
		for _, flag := range verb.Flags {
			if f, ok := flag.(cli.DocGenerationFlag); ok && f.TakesValue() {
				for _, name := range flag.Names() {
					names[name] = true
				}
			}
		}
	}
	return names
}
