package cmdline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// OfApp is the command line of a program with verbs. Documents are the JSON
// documents by the verb that prints them, which gives each its name.
func OfApp(app *cli.App, documents map[string]any, choices map[string][]string) Program {
	p := Program{
		Name: app.Name, Choices: choices,
		Flags: []Flag{flagOf(cli.HelpFlag), flagOf(cli.VersionFlag)},
	}
	for _, command := range app.Commands {
		if command.Hidden {
			continue
		}
		verb := Verb{Name: command.Name, Usage: command.Usage, Arguments: arguments(app.Name, command)}
		for _, flag := range command.Flags {
			verb.Flags = append(verb.Flags, flagOf(flag))
		}
		if document, ok := documents[command.Name]; ok {
			verb.Document = verb.Name
			p.addObject(verb.Name, document)
		}
		p.Verbs = append(p.Verbs, verb)
		p.addFormats(verb)
	}
	return p
}

var quoted = regexp.MustCompile("`([^`]+)`")

// flagOf reads a flag: its value's placeholder stands in backquotes, as
// urfave/cli has it.
func flagOf(flag cli.Flag) Flag {
	f := Flag{Names: slices.Clone(flag.Names())}
	slices.SortStableFunc(f.Names, func(a, b string) int { return min(len(b), 2) - min(len(a), 2) })
	told, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return f
	}
	f.Help = quoted.ReplaceAllString(told.GetUsage(), "$1")
	if slice, ok := flag.(cli.DocGenerationSliceFlag); ok {
		f.Again = slice.IsSliceFlag()
	}
	if told.TakesValue() {
		f.Value = "VALUE"
		if name := quoted.FindStringSubmatch(told.GetUsage()); name != nil {
			f.Value = name[1]
		}
		if text := strings.Trim(told.GetDefaultText(), `"`); text != "0" {
			f.Default = text
		}
	}
	return f
}

// arguments are the placeholders behind a verb, up to the flags: of ArgsUsage,
// or of UsageText, which has PROGRAM VERB before them.
func arguments(program string, command *cli.Command) []string {
	text := command.ArgsUsage
	if text == "" {
		text = strings.TrimPrefix(command.UsageText, program+" "+command.Name)
	}
	var names []string
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "[-") {
			break
		}
		names = append(names, word)
	}
	return names
}

var formats = regexp.MustCompile(`FORMAT: (\w+(?:, \w+)*(?: or \w+)?)$`)

// addFormats takes the formats of a verb out of its help.
func (p *Program) addFormats(v Verb) {
	for _, flag := range v.Flags {
		if list := formats.FindStringSubmatch(flag.Help); list != nil {
			if p.Choices == nil {
				p.Choices = map[string][]string{}
			}
			p.Choices["FORMAT"] = regexp.MustCompile(`, | or `).Split(list[1], -1)
		}
	}
}
