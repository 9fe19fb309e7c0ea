package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/manual/cmdline"
)

// Page is what a manual page is made of.
type Page struct {
	Name, Section string // svcrun, 1
	Source        string // the prose, with its directives

	Program cmdline.Program   // that the directives are about
	Tables  map[string]string // texts with a table in Markdown, for @table

	Date, Version string // 2026-12-01, svckit 1.2
}

// Gap is something of the program that the page does not explain.
type Gap string

// Make makes a page. Gaps are no errors, so that there is a page of a verb that
// nobody has written of yet.
func Make(p Page) (roff string, gaps []Gap, err error) {
	blocks, err := parse(p.Source)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", p.name(), err)
	}
	x := expander{page: p, in: blocks, told: map[string]bool{}}
	if err := x.expand(); err != nil {
		return "", nil, fmt.Errorf("%s: %w", p.name(), err)
	}
	body, err := write(x.out)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", p.name(), err)
	}
	head := fmt.Sprintf(".TH %s %s %s \"%s\" \"svckit\"\n.nr HY 0\n.nh\n.ad l\n", strings.ToUpper(p.Name), p.Section, p.Date, p.Version)
	return head + body, x.gaps, nil
}

func (p Page) name() string { return p.Name + "." + p.Section }

// expander puts blocks in the place of directives.
type expander struct {
	page Page
	in   []block // those to come
	out  []block
	told map[string]bool // the verbs and objects that the page has had
	gaps []Gap
}

// directives are what expands each, by name. They get what follows the name.
var directives = map[string]func(*expander, string) error{
	"synopsis": (*expander).synopsis, "flags": (*expander).ownFlags, "common": (*expander).common, "verb": (*expander).verb, "verbs": (*expander).verbs,
	"words": (*expander).words, "list": (*expander).list, "object": (*expander).object, "table": (*expander).table,
}

func (x *expander) expand() error {
	for len(x.in) > 0 {
		b := x.in[0]
		x.in = x.in[1:]
		if b.kind != directive {
			x.out = append(x.out, b)
			continue
		}
		name, argument, _ := strings.Cut(b.head, " ")
		expand, ok := directives[name]
		if !ok {
			return fmt.Errorf("line %d: @%s is no directive", b.line, name)
		}
		if err := expand(x, argument); err != nil {
			return fmt.Errorf("line %d: @%s: %w", b.line, b.head, err)
		}
	}
	for _, v := range x.page.Program.Verbs {
		if !x.told["verb "+v.Name] {
			return fmt.Errorf("nothing is told of the verb %s; write @verb %s or @verbs", v.Name, v.Name)
		}
	}
	for _, o := range x.page.Program.Objects {
		if !x.told["object "+o.Name] {
			x.gap("object %s", o.Name)
		}
	}
	return nil
}

func (x *expander) add(b block) { x.out = append(x.out, b) }

func (x *expander) gap(format string, args ...any) {
	x.gaps = append(x.gaps, Gap(x.page.name()+": "+fmt.Sprintf(format, args...)))
}

// notes are the definitions that follow a directive, which say more of what it
// stands for. Each has to be taken.
type notes map[string][]string

// takeNotes takes the definitions that come next.
func (x *expander) takeNotes() notes {
	n := notes{}
	for len(x.in) > 0 && x.in[0].kind == definition {
		n[x.in[0].head] = x.in[0].texts
		x.in = x.in[1:]
	}
	return n
}

// take is what a note says, if it is there.
func (n notes) take(names ...string) []string {
	for _, name := range names {
		if texts, ok := n[name]; ok {
			delete(n, name)
			return texts
		}
	}
	return nil
}

// has says whether there is a note.
func (n notes) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return n[name] != nil })
}

// rest is the error of notes on what there is not.
func (n notes) rest() error {
	for name := range n {
		return fmt.Errorf("%q is told of, and there is no such thing", name)
	}
	return nil
}

// table makes definitions of the rows of a table: | `key` | what it is | default |
func (x *expander) table(name string) error {
	text, ok := x.page.Tables[name]
	if !ok {
		return fmt.Errorf("there is no such table")
	}
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		texts := sentence(cells[1])
		if cells[2] != "" {
			texts += " Default: " + cells[2] + "."
		}
		x.add(block{kind: definition, head: cells[0], texts: []string{texts}})
		rows++
	}
	if rows == 0 {
		return fmt.Errorf("the table has no rows of a key, a text and a default")
	}
	return nil
}

// words makes a definition of each word that a placeholder can have. A note
// that begins with "~ TERM: " has TERM in the word's place.
func (x *expander) words(placeholder string) error {
	list := x.page.Program.Choices[placeholder]
	if len(list) == 0 {
		return fmt.Errorf("the program has no such list of words")
	}
	n := x.takeNotes()
	for _, word := range list {
		texts := n.take(word)
		if meaning := x.page.Program.Meanings[word]; meaning != "" {
			texts = append([]string{sentence(plain(meaning))}, texts...)
		}
		if texts == nil {
			x.gap("%s %s", placeholder, word)
			texts = []string{""}
		}
		head := "`" + word + "`"
		if term, ok := strings.CutPrefix(texts[0], "~ "); ok {
			head, texts[0], _ = strings.Cut(term, ": ")
		}
		x.add(block{kind: definition, head: head, texts: texts})
	}
	return n.rest()
}

// list is all words that a placeholder can have, in a row.
func (x *expander) list(placeholder string) error {
	words := x.page.Program.Choices[placeholder]
	if len(words) == 0 {
		return fmt.Errorf("the program has no such list of words")
	}
	x.add(block{kind: paragraph, texts: []string{"`" + strings.Join(words, "`, `") + "`"}})
	return nil
}

// object makes definitions of the fields of an object, with their types.
func (x *expander) object(name string) error {
	o, ok := x.page.Program.Object(name)
	if !ok {
		return fmt.Errorf("the program prints no such object")
	}
	x.told["object "+name] = true
	n := x.takeNotes()
	for _, f := range o.Fields {
		texts := n.take(f.Name)
		if texts == nil {
			x.gap("field %s of %s", f.Name, name)
			texts = []string{""}
		}
		x.add(block{kind: definition, head: "`" + f.Name + "` (" + f.Type + ")", texts: texts})
	}
	return n.rest()
}

// common are the flags that most verbs have, and those that need none.
func (x *expander) common(string) error {
	p, n := x.page.Program, x.takeNotes()
	flags := p.CommonFlags()
	for _, f := range flags {
		if without := p.Without(f); len(without) > 0 {
			name := f.Typed()[0]
			n[name] = append([]string{"Not of " + strings.Join(without, ", ") + "."}, n[name]...)
		}
	}
	return x.flags(slices.Concat(flags, p.Flags), n)
}

// ownFlags are those of a program that needs no verb.
func (x *expander) ownFlags(string) error { return x.flags(x.page.Program.Flags, x.takeNotes()) }
