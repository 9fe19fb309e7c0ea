package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/svckit/svckit/internal/manual/cmdline"
)

// synopsis has a line for each verb.
func (x *expander) synopsis(string) error {
	for _, v := range x.page.Program.Verbs {
		x.add(block{kind: paragraph, texts: []string{x.usage(v)}})
	}
	return nil
}

// usage is how a verb is written.
func (x *expander) usage(v cmdline.Verb) string {
	words := []string{"**" + x.page.Program.Name + " " + v.Name + "**", "[*FLAGS*]"}
	for _, argument := range v.Arguments {
		words = append(words, placeholder.ReplaceAllString(argument, "*$0*"))
	}
	return strings.Join(words, " ")
}

var placeholder = regexp.MustCompile(`[A-Z]+`)

// verb is what a verb does, and its own flags: its first line, what the page
// says up to the next directive or section, and then the flags, without those
// that most verbs have and of which nothing is said here.
func (x *expander) verb(name string) error {
	v, ok := x.page.Program.Verb(name)
	if !ok {
		return fmt.Errorf("the program has no such verb")
	}
	x.told["verb "+name] = true
	if v.Document == "" && slices.ContainsFunc(v.Flags, func(f cmdline.Flag) bool { return slices.Contains(f.Names, "json") }) {
		x.gap("the JSON of the verb %s", name)
	}
	x.add(block{kind: subsection, head: x.usage(v)})
	x.add(block{kind: paragraph, texts: []string{sentence(plain(v.Usage))}})
	n := x.takeNotes()
	for len(x.in) > 0 && !slices.Contains([]kind{directive, section, subsection}, x.in[0].kind) {
		if len(n) > 0 {
			return fmt.Errorf("what is said of its flags comes last; line %d comes after it", x.in[0].line)
		}
		x.add(x.in[0])
		x.in = x.in[1:]
		n = x.takeNotes()
	}
	common := x.page.Program.CommonFlags()
	flags := slices.DeleteFunc(slices.Clone(v.Flags), func(f cmdline.Flag) bool {
		return slices.ContainsFunc(common, f.Equal) && !n.has(f.Typed()...)
	})
	return x.flags(flags, n)
}

// verbs are those that the page has not told of by name.
func (x *expander) verbs(string) error {
	in := x.in
	defer func() { x.in = in }()
	for _, v := range x.page.Program.Verbs {
		if x.told["verb "+v.Name] {
			continue
		}
		x.in = nil
		x.gap("verb %s", v.Name)
		if err := x.verb(v.Name); err != nil {
			return err
		}
	}
	return nil
}

// flags makes a definition of each flag: what the program says of it, and what
// the notes add.
func (x *expander) flags(flags []cmdline.Flag, n notes) error {
	for _, f := range flags {
		b := block{kind: definition, texts: []string{sentence(plain(f.Help))}}
		var forms []string
		for _, typed := range slices.Backward(f.Typed()) { // the short one first
			switch {
			case f.Value == "":
				forms = append(forms, "**"+typed+"**")
			case strings.HasPrefix(typed, "--") && !strings.Contains(f.Value, "="):
				forms = append(forms, "**"+typed+"=**"+value(f.Value))
			default:
				forms = append(forms, "**"+typed+"** "+value(f.Value))
			}
		}
		b.head = strings.Join(forms, ", ")
		if f.Default != "" {
			b.texts[0] += " Default: `" + f.Default + "`."
		}
		if more := n.take(f.Typed()...); more != nil {
			b.texts[0] += " " + more[0]
			b.texts = append(b.texts, more[1:]...)
		}
		x.add(b)
	}
	return n.rest()
}

// value is a flag's value: a placeholder, or the words that it can be.
func value(text string) string {
	if strings.Contains(text, "|") {
		return "**" + strings.ReplaceAll(text, "|", "**|**") + "**"
	}
	return "*" + text + "*"
}

// plain is a text of the program's, in which nothing is a mark.
func plain(text string) string {
	return strings.NewReplacer("*", `\*`, "`", "\\`", `\`, `\\`).Replace(text)
}

// sentence makes a sentence of a line of help. A program's name stays small,
// and so does what is a mark.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first := []rune(text)[0]
	if unicode.IsLower(first) && !strings.HasPrefix(text, "svc") {
		text = string(unicode.ToUpper(first)) + text[1:]
	}
	if strings.ContainsRune(".?!", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}
