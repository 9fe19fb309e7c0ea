package page

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// write is a page in roff.
func write(blocks []block) (string, error) {
	var out strings.Builder
	heading := false
	for _, b := range blocks {
		text, err := b.roff()
		if err != nil {
			return "", fmt.Errorf("line %d: %w", b.line, err)
		}
		if heading {
			text = strings.TrimPrefix(text, ".PP\n") // a heading begins one, too
		}
		out.WriteString(text)
		heading = b.kind == section || b.kind == subsection
	}
	return out.String(), nil
}

// roff is a block with the macros of man(7).
func (b block) roff() (string, error) {
	texts := make([]string, len(b.texts))
	for i, text := range b.texts {
		var err error
		if b.kind == code {
			texts[i], err = escape(text, true)
			texts[i] = guard(texts[i])
		} else {
			texts[i], err = filled(text)
		}
		if err != nil {
			return "", err
		}
	}
	head, err := inline(b.head)
	if err != nil {
		return "", err
	}
	switch b.kind {
	case section:
		return ".SH " + head + "\n", nil
	case subsection:
		return ".SS " + head + "\n", nil
	case bullet:
		return ".IP \\(bu 2\n" + texts[0], nil
	case code:
		return ".PP\n.RS 4\n.EX\n" + strings.Join(texts, "\n") + "\n.EE\n.RE\n", nil
	case definition:
		return ".TP\n" + guard(head) + "\n" + strings.Join(texts, ".IP\n"), nil
	case directive:
		return "", fmt.Errorf("@%s is no directive", b.head)
	default:
		return ".PP\n" + texts[0], nil
	}
}

// filled is a text with each sentence on a line of its own, as roff likes it.
func filled(text string) (string, error) {
	text = reference.ReplaceAllString(text, "**$1**($2)")
	var out strings.Builder
	for len(text) > 0 {
		sentence := text
		if end := sentenceEnd(text); end >= 0 {
			sentence = text[:end]
		}
		text = strings.TrimLeft(text[len(sentence):], " ")
		line, err := inline(sentence)
		if err != nil {
			return "", err
		}
		out.WriteString(guard(line) + "\n")
	}
	return out.String(), nil
}

// reference is the name of a manual page: systemd.service(5).
var reference = regexp.MustCompile(`([a-z_-]+(?:\.[a-z]+)?)\((\d)\)`)

// sentenceEnd is where the first sentence of a text ends, -1 for its end.
func sentenceEnd(text string) int {
	for i := 0; i+2 < len(text); i++ {
		if strings.ContainsRune(".?!", rune(text[i])) && text[i+1] == ' ' && (unicode.IsUpper(rune(text[i+2])) || strings.IndexByte("`*", text[i+2]) >= 0) {
			return i + 1
		}
	}
	return -1
}

// guard keeps a line from being taken for a request.
func guard(line string) string {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}

// inline is a text with its marks made fonts.
func inline(text string) (string, error) {
	var out strings.Builder
	for len(text) > 0 {
		mark, within, rest, err := cut(text)
		if err != nil {
			return "", err
		}
		escaped, err := escape(within, mark == "**" || mark == "`")
		if err != nil {
			return "", err
		}
		out.WriteString(font[mark][0] + escaped + font[mark][1])
		text = rest
	}
	return out.String(), nil
}

// font are the inline marks, with what they become around a text.
var font = map[string][2]string{"": {}, "**": {`\fB`, `\fR`}, "`": {`\fB`, `\fR`}, "*": {`\fI`, `\fR`}}

// cut takes the text up to the next mark, or what is between two, off the start
// of a text. A backslash takes its meaning from a mark.
func cut(text string) (mark, within, rest string, err error) {
	for _, mark := range []string{"**", "*", "`"} {
		if after, ok := strings.CutPrefix(text, mark); ok {
			within, rest, closed := strings.Cut(after, mark)
			if !closed || within == "" {
				return "", "", "", fmt.Errorf("%q has no end", mark)
			}
			return mark, within, rest, nil
		}
	}
	if len(text) > 1 && text[0] == '\\' && strings.IndexByte("*`\\", text[1]) >= 0 {
		return "", text[1:2], text[2:], nil
	}
	if end := strings.IndexAny(text[1:], "*`\\"); end >= 0 {
		return "", text[:end+1], text[end+1:], nil
	}
	return "", text, "", nil
}

// characters are those that roff has names for.
var characters = map[rune]string{
	'\\': `\e`, '\t': "    ", '–': `\(en`, '…': "...", '×': `\(mu`, '≥': `\(>=`, '≤': `\(<=`, '─': "-", '→': `\(->`,
	'~': `\(ti`, '^': `\(ha`, '`': `\(ga`, '\'': `\(aq`, // as they are, for copying
}

// escape is a text as roff prints it. In what a reader copies each hyphen is a
// minus sign, elsewhere only that which begins a word.
func escape(text string, literal bool) (string, error) {
	var out strings.Builder
	before := ' '
	for _, r := range text {
		switch named, ok := characters[r]; {
		case r == '\'' && !literal:
			out.WriteByte('\'')
		case ok:
			out.WriteString(named)
		case r == '-' && (literal || before == ' ' || before == '-' || before == '[' || before == '('):
			out.WriteString(`\-`)
		case r > unicode.MaxASCII:
			return "", fmt.Errorf("the character %q has no name in roff; write it otherwise", r)
		default:
			out.WriteRune(r)
		}
		before = r
	}
	return out.String(), nil
}
