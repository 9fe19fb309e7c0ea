package verbs

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Permute moves flags before arguments, and both behind the verb, so that they
// may stand anywhere: the flag package takes whatever follows the first
// argument for an argument, without a word. It also refuses unknown flags, as
// only here the nearest known one is at hand. After -- everything is an
// argument.
func Permute(args []string, app *cli.App) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	known := flagsOf(findVerb(args, app))
	var flags, words []string
	for rest := args[1:]; len(rest) > 0; {
		arg := rest[0]
		rest = rest[1:]
		switch {
		case arg == "--":
			words, rest = append(words, rest...), nil
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			words = append(words, arg)
		default:
			flag, value, err := known.read(arg, rest)
			if err != nil {
				return nil, err
			}
			flags, rest = append(append(flags, flag...), value...), rest[len(value):]
		}
	}
	out := args[:1:1]
	if len(words) == 0 {
		return append(out, flags...), nil
	}
	out = append(append(out, words[0]), flags...)
	return append(append(out, "--"), words[1:]...), nil
}

// findVerb is the first word of the command line that is a verb, if any.
func findVerb(args []string, app *cli.App) *cli.Command {
	for _, arg := range args[1:] {
		if verb := app.Command(arg); verb != nil {
			return verb
		}
	}
	return nil
}

// knownFlags maps the names of flags to whether they take a value.
type knownFlags map[string]bool

// flagsOf are the flags of a verb, and those of every command line.
func flagsOf(verb *cli.Command) knownFlags {
	known := knownFlags{"help": false, "h": false}
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

// read takes a flag apart, as the flag package wants it, and says which of the
// words after it are its value. A flag of one letter may have its value
// attached, as in -n5.
func (known knownFlags) read(arg string, after []string) (flag, value []string, err error) {
	name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	takesValue, ok := known[name]
	switch {
	case !ok && !strings.HasPrefix(arg, "--") && len(name) > 1 && known[name[:1]]:
		return []string{"-" + name[:1], arg[2:]}, nil, nil
	case !ok:
		return nil, nil, unknown("flag --"+name, "--"+name, known.long())
	case !takesValue || hasValue:
		return []string{arg}, nil, nil
	case len(after) == 0:
		return nil, nil, Usagef("%s wants a value; see --help", arg)
	}
	return []string{arg}, after[:1], nil
}

// long are the long names of flags, as they are typed.
func (known knownFlags) long() []string {
	var names []string
	for name := range known {
		if len(name) > 1 {
			names = append(names, "--"+name)
		}
	}
	slices.Sort(names)
	return names
}
