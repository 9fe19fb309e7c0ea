package page

import (
	"fmt"
	"strings"
)

// kind is what a block of a page is.
type kind int

const (
	section    kind = iota // # NAME
	subsection             // ## words
	paragraph
	bullet     // - words
	code       // between ```
	definition // a term, and below it ": words"
	directive  // @name arguments
)

// block is a part of a page. Its texts have inline markup, but for code.
type block struct {
	kind  kind
	line  int    // of the source
	head  string // of a section its name, of a definition its term, of a directive all of it
	texts []string
}

// parse reads the blocks of a page.
func parse(source string) ([]block, error) {
	p := parser{lines: strings.Split(source, "\n")}
	for p.at < len(p.lines) {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return p.blocks, nil
}

type parser struct {
	lines  []string
	at     int
	blocks []block
}

func (p *parser) add(b block) { p.blocks = append(p.blocks, b) }

// next reads one block.
func (p *parser) next() error {
	line, number := p.lines[p.at], p.at+1
	p.at++
	switch {
	case line == "":
	case strings.HasPrefix(line, "## "):
		p.add(block{kind: subsection, line: number, head: line[3:]})
	case strings.HasPrefix(line, "# "):
		p.add(block{kind: section, line: number, head: line[2:]})
	case strings.HasPrefix(line, "@"):
		p.add(block{kind: directive, line: number, head: line[1:]})
	case strings.HasPrefix(line, "- "):
		p.add(block{kind: bullet, line: number, texts: []string{strings.Join(append([]string{line[2:]}, p.indented()...), " ")}})
	case strings.HasPrefix(line, "```"):
		return p.code(number)
	case p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], ": "):
		p.definition(line, number)
	default:
		p.paragraph(line, number)
	}
	return nil
}

// paragraph reads lines up to an empty one, or to the begin of another block.
func (p *parser) paragraph(line string, number int) {
	text := []string{line}
	for ; p.at < len(p.lines) && p.lines[p.at] != "" && !p.begins(); p.at++ {
		text = append(text, p.lines[p.at])
	}
	p.add(block{kind: paragraph, line: number, texts: []string{strings.Join(text, " ")}})
}

// begins says whether the next line is the first of a block that is no
// paragraph.
func (p *parser) begins() bool {
	for _, mark := range []string{"# ", "## ", "@", "- ", "```"} {
		if strings.HasPrefix(p.lines[p.at], mark) {
			return true
		}
	}
	return p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], ": ")
}

// indented reads the lines that go on with what stands above them.
func (p *parser) indented() []string {
	var lines []string
	for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], "  ") {
		lines = append(lines, strings.TrimSpace(p.lines[p.at]))
		p.at++
	}
	return lines
}

// definition reads the text of a term, which may have more paragraphs.
func (p *parser) definition(term string, number int) {
	b := block{kind: definition, line: number, head: term}
	text := []string{p.lines[p.at][2:]}
	p.at++
	for {
		b.texts = append(b.texts, strings.Join(append(text, p.indented()...), " "))
		text = nil
		if p.at+1 >= len(p.lines) || p.lines[p.at] != "" || !strings.HasPrefix(p.lines[p.at+1], "  ") {
			break
		}
		p.at++
	}
	p.add(b)
}

func (p *parser) code(number int) error {
	b := block{kind: code, line: number}
	for ; p.at < len(p.lines); p.at++ {
		if p.lines[p.at] == "```" {
			p.at++
			p.add(b)
			return nil
		}
		b.texts = append(b.texts, p.lines[p.at])
	}
	return fmt.Errorf("line %d: the code has no end", number)
}
