package verbs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// The layout of what --help prints.
const (
	helpWidth = 80
	flagsEnd  = 28 // where the names of flags end, at the latest
)

// The helps are templates to urfave/cli, without an action in them.
var literal = strings.NewReplacer("{{", `{{"{{"}}`)

// programHelp is what a program's --help prints.
func programHelp(p Program, list []*cli.Command) string {
	width := 0
	for _, verb := range list {
		width = max(width, len(verb.Name))
	}
	text := "usage: " + p.Name + " VERB [FLAGS] ARGUMENT...\n\n" + p.About + "\n\nverbs:\n"
	for _, verb := range list {
		text += row(fmt.Sprintf("  %-*s  ", width, verb.Name), width+4, verb.Usage)
	}
	text += fmt.Sprintf("\n\"%s VERB --help\" tells the flags of a verb, --version the version.\n", p.Name)
	if p.Exits != "" {
		text += "\nexit status: " + p.Exits + "\n"
	}
	return literal.Replace(text)
}

// verbHelp is what a verb's --help prints.
func verbHelp(p Program, verb *cli.Command) string {
	usage := verb.UsageText
	if usage == "" {
		usage = strings.TrimSpace(p.Name + " " + verb.Name + " [FLAGS] " + verb.ArgsUsage)
	}
	text := "usage: " + usage + "\n\n" + row("", 0, firstUpper(verb.Usage)+".") + "\n"
	if verb.Description != "" {
		text += verb.Description + "\n\n"
	}
	text += "flags:\n"
	names, width := make([]string, len(verb.Flags)), 0
	for i, flag := range verb.Flags {
		names[i] = flagNames(flag)
		if len(names[i]) <= flagsEnd {
			width = max(width, len(names[i]))
		}
	}
	for i, flag := range verb.Flags {
		name := fmt.Sprintf("%-*s  ", width, names[i])
		if len(names[i]) > width {
			name = names[i] + "\n" + strings.Repeat(" ", width+2)
		}
		text += row(name, width+2, flagText(flag))
	}
	return literal.Replace(text)
}

// row is a name and a text behind it, broken between words such that it stands in
// a column of its own.
func row(name string, indent int, text string) string {
	line, width := name, indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
			line, width = line+word, width+n
		case width+1+n <= helpWidth:
			line, width = line+" "+word, width+1+n
		default:
			line, width = line+"\n"+strings.Repeat(" ", indent)+word, indent+n
		}
	}
	return strings.TrimRight(line, " ") + "\n"
}

// placeholder is how a flag's text names its value, as urfave/cli has it.
var placeholder = regexp.MustCompile("`([^`]+)`")

// flagNames are a flag's names, the short one first, and its value's.
func flagNames(flag cli.Flag) string {
	var short, long []string
	for _, name := range flag.Names() {
		if len(name) == 1 {
			short = append(short, "-"+name)
		} else {
			long = append(long, "--"+name)
		}
	}
	text := "  " + strings.Join(slices.Concat(short, long), ", ")
	if len(short) == 0 {
		text = "      " + strings.Join(long, ", ")
	}
	told, ok := flag.(cli.DocGenerationFlag)
	if !ok || !told.TakesValue() {
		return text
	}
	if value := placeholder.FindStringSubmatch(told.GetUsage()); value != nil {
		return text + " " + value[1]
	}
	return text + " VALUE"
}

// flagText is what a flag does, with what goes without it.
func flagText(flag cli.Flag) string {
	told, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	text := placeholder.ReplaceAllString(told.GetUsage(), "$1")
	if value := told.GetValue(); told.TakesValue() && !slices.Contains([]string{"", "0", "[]"}, value) {
		text += " (default " + value + ")"
	}
	return text
}

// firstUpper is a text that begins a sentence.
func firstUpper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
