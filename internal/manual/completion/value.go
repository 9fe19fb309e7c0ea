package completion

import (
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/manual/cmdline"
)

// Kinds of values, as the scripts' templates have them.
const (
	words    = "words"    // one of a few
	begins   = "begins"   // of which only the start is one of a few: TERM@30s
	dirs     = "dirs"     // a directory
	files    = "files"    // a file
	policies = "policies" // a file whose name ends in .yaml
	units    = "units"    // a service
	free     = "free"     // nobody can tell
)

// value is what may stand behind a flag or a verb.
type value struct {
	Name  string // the placeholder
	Kind  string
	Words []string
	Many  bool // any number of them
}

// placeholders are the kinds of those that are no list of words.
var placeholders = map[string]string{
	"DIR": dirs, "NORMAL": dirs, "EARLY": dirs, "LATE": dirs, "FILE": files, "PATH": files, "CMD": files,
	"UNIT": units, "PATTERN": units,
}

// valueOf is what a placeholder stands for.
func valueOf(p cmdline.Program, placeholder string) value {
	name := strings.Trim(placeholder, "[].")
	v := value{Name: name, Kind: free, Many: strings.Contains(placeholder, "...")}
	known, isKnown := placeholders[name]
	switch list := p.ChoicesOf(cmdline.Flag{Value: name}); {
	case name == "CHECK":
		v.Kind = begins
		for _, word := range list {
			v.Words = append(v.Words, word+afterKind(word))
		}
	case strings.HasPrefix(placeholder, "SIG@"):
		v.Name, v.Kind = placeholder, begins
		for _, word := range p.Choices["SIG"] {
			v.Words = append(v.Words, word+"@")
		}
	case name == "NAME" && p.Wraps:
		v.Kind = units
	case len(list) > 0:
		v.Kind, v.Words = words, list
	case isKnown:
		v.Kind = known
	}
	return v
}

// afterKind is what follows the kind of a check.
func afterKind(word string) string {
	switch word {
	case "http", "https":
		return "://"
	case "notify":
		return ""
	}
	return ":"
}

// verb is a verb for the templates. That without a name has the flags that
// need no verb.
type verb struct {
	Name, Help string
	Flags      []flag
	Arguments  []value
}

type flag struct {
	Short, Long string // without dashes
	Help        string
	Again       bool
	Value       *value // nil for none
}

// script is what a template makes a script of.
type script struct {
	Name  string
	Wraps bool
	Own   verb
	Verbs []verb
}

func scriptOf(p cmdline.Program) script {
	s := script{Name: p.Name, Wraps: p.Wraps, Own: verb{Flags: flagsOf(p, p.Flags)}}
	for _, v := range p.Verbs {
		told := verb{Name: v.Name, Help: v.Usage, Flags: append(flagsOf(p, v.Flags), helpOf(s.Own.Flags)...)}
		for _, argument := range v.Arguments {
			value := valueOf(p, argument)
			if value.Name == "FILE" && p.Name == "svcgen" {
				value.Kind = policies
			}
			told.Arguments = append(told.Arguments, value)
		}
		s.Verbs = append(s.Verbs, told)
	}
	return s
}

func flagsOf(p cmdline.Program, list []cmdline.Flag) []flag {
	var flags []flag
	for _, f := range list {
		told := flag{Help: f.Help, Again: f.Again}
		for _, name := range f.Names {
			if len(name) == 1 {
				told.Short = name
			} else {
				told.Long = name
			}
		}
		if f.Value != "" {
			value := valueOf(p, f.Value)
			told.Value = &value
		}
		flags = append(flags, told)
	}
	return flags
}

// helpOf is the one of the program's own flags that each verb has, too.
func helpOf(flags []flag) []flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f flag) bool { return f.Long != "help" })
}

// Typed are the names as they are typed.
func (f flag) Typed() []string {
	var typed []string
	if f.Long != "" {
		typed = append(typed, "--"+f.Long)
	}
	if f.Short != "" {
		typed = append(typed, "-"+f.Short)
	}
	return typed
}

// All are the verb without a name, and the others.
func (s script) All() []verb { return append([]verb{s.Own}, s.Verbs...) }

// NeedsUnits says whether the name of a unit stands anywhere.
func (s script) NeedsUnits() bool {
	isUnit := func(v value) bool { return v.Kind == units }
	return slices.ContainsFunc(s.All(), func(v verb) bool {
		return slices.ContainsFunc(v.Arguments, isUnit) ||
			slices.ContainsFunc(v.Flags, func(f flag) bool { return f.Value != nil && isUnit(*f.Value) })
	})
}

// WithValue are the flags of the verb without a name that take a value, as
// they are typed.
func (s script) WithValue() []string {
	var typed []string
	for _, f := range s.Own.Flags {
		if f.Value != nil {
			typed = append(typed, f.Typed()...)
		}
	}
	return typed
}
