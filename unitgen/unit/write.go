package unit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine is the longest line that systemd reads, continuations included
// (systemd: src/basic/fileio.h, LONG_LINE_MAX).
const maxLine = 1 << 20

// indent stands before each part of a value but the first.
const indent = "    "

// writer collects the text and the first error.
type writer struct {
	out strings.Builder
	err error
}

// Bytes prints the file. It fails rather than write a line that systemd would
// read as something else.
func (f *File) Bytes() ([]byte, error) {
	w := &writer{}
	for _, line := range f.Head {
		if d, ok := line.(Directive); ok {
			w.fail("directive %q stands before the first section", d.Name)
		}
		line.write(w)
	}
	for i, section := range f.Sections {
		if i > 0 || len(f.Head) > 0 {
			w.out.WriteByte('\n')
		}
		if !IsName(section.Name) {
			w.fail("%q is no name of a section", section.Name)
		}
		w.out.WriteString("[" + section.Name + "]\n")
		for _, line := range section.Lines {
			line.write(w)
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return []byte(w.out.String()), nil
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (Blank) write(w *writer) { w.out.WriteByte('\n') }

// write prints each line of the text behind a # of its own, without control
// characters: a comment says what it likes, and stays one.
func (c Comment) write(w *writer) {
	for _, line := range strings.Split(Readable(c.Text), "\n") {
		line = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) || r == utf8.RuneError || IsNoncharacter(r) {
				return '?'
			}
			return r
		}, line)
		w.out.WriteString(strings.TrimRight("# "+line, " ") + "\n")
	}
}

func (d Directive) write(w *writer) {
	if !IsName(d.Name) {
		w.fail("%q is no name of a directive", d.Name)
	}
	for i, part := range d.Parts {
		if err := part.check(i > 0); err != nil {
			w.fail("%s=: %w", d.Name, err)
		}
	}
	text := d.Name + "=" + d.joined(" \\\n"+indent)
	if len(text) > maxLine {
		w.fail("%s=: the line has %d bytes, and systemd reads %d at most", d.Name, len(text), maxLine)
	}
	w.out.WriteString(text + "\n")
}

func (d Directive) joined(separator string) string {
	parts := make([]string, len(d.Parts))
	for i, part := range d.Parts {
		parts[i] = string(part)
	}
	return strings.Join(parts, separator)
}

// check says why the value cannot stand on a line as it is. A part on a
// continued line must not look like a comment, or it would vanish.
func (v Value) check(continued bool) error {
	s := string(v)
	switch {
	case !utf8.ValidString(s):
		return fmt.Errorf("the value is not valid UTF-8")
	case strings.ContainsFunc(s, IsNoncharacter):
		return fmt.Errorf("the value has a noncharacter of Unicode, which systemd takes for invalid")
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("the value has a control character, such as a newline")
	case strings.Trim(s, " \t") != s:
		return fmt.Errorf("the value begins or ends with a blank, which systemd strips")
	case dangling(s):
		return fmt.Errorf(`the value ends in a \, which would join it with the next line`)
	case continued && (s == "" || strings.ContainsAny(s[:1], "#;")):
		return fmt.Errorf("a continued line is empty or looks like a comment")
	}
	return nil
}

// dangling says whether the text ends in a backslash that escapes what comes
// after it, counted in pairs from the start as systemd does
// (systemd: src/shared/conf-parser.c, config_parse).
func dangling(s string) bool {
	escaped := false
	for i := range len(s) {
		escaped = !escaped && s[i] == '\\'
	}
	return escaped
}

// IsName says whether s can name a section or a directive.
func IsName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	})
}
