package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SplitCommand splits a command line into its arguments by the quoting rules
// of systemd.service(5) ("Command lines"): blanks separate, '…' and "…" keep
// together, C escapes work inside and outside quotes. There is no shell: no
// variables, no globs, and no specifiers.
func SplitCommand(s string) ([]string, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("the command is not valid UTF-8")
	}
	if strings.ContainsRune(s, 0) {
		return nil, fmt.Errorf("the command has a NUL byte, which no argument can carry")
	}
	var argv []string
	rest := s
	for {
		rest = strings.TrimLeft(rest, " \t\n\r")
		if rest == "" {
			break
		}
		word, tail, err := cutWord(rest)
		if err != nil {
			return nil, fmt.Errorf("%w (at character %d)", err, len(s)-len(rest)+1)
		}
		argv = append(argv, word)
		rest = tail
	}
	if len(argv) == 0 {
		return nil, fmt.Errorf("empty command; write the program's path and its arguments")
	}
	return argv, nil
}

// cutWord takes the first word off s, which starts with no blank.
func cutWord(s string) (word, tail string, err error) {
	var out strings.Builder
	var quote byte
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case quote == 0 && strings.IndexByte(" \t\n\r", c) >= 0:
			return out.String(), s[i:], nil
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
			i++
		case quote != 0 && c == quote:
			quote = 0
			i++
		case c == '\\':
			n, err := unescape(&out, s[i:])
			if err != nil {
				return "", "", err
			}
			i += n
		default:
			out.WriteByte(c)
			i++
		}
	}
	if quote != 0 {
		return "", "", fmt.Errorf("the quote %c is not closed", quote)
	}
	return out.String(), "", nil
}

// simpleEscapes are the escapes of one letter that systemd knows.
var simpleEscapes = map[byte]byte{
	'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v',
	'\\': '\\', '"': '"', '\'': '\'', 's': ' ',
}

// numericEscapes say how many digits of which base follow the letter.
var numericEscapes = map[byte]struct {
	digits, base int
}{'x': {2, 16}, 'u': {4, 16}, 'U': {8, 16}}

// unescape writes what the escape at the start of s stands for, and returns
// its length in bytes.
func unescape(out *strings.Builder, s string) (int, error) {
	if len(s) < 2 {
		return 0, fmt.Errorf(`the command ends in a lone \; write \\ for a backslash`)
	}
	letter := s[1]
	if c, ok := simpleEscapes[letter]; ok {
		out.WriteByte(c)
		return 2, nil
	}
	skip, form := 2, numericEscapes[letter]
	if letter >= '0' && letter <= '7' {
		skip, form.digits, form.base = 1, 3, 8
	}
	if form.digits == 0 {
		return 0, fmt.Errorf(`unknown escape \%c; write \\%c for a backslash`, letter, letter)
	}
	if len(s) < skip+form.digits {
		return 0, fmt.Errorf(`the escape \%c wants %d digits`, letter, form.digits)
	}
	var value rune
	for _, d := range []byte(s[skip : skip+form.digits]) {
		digit := digitValue(d)
		if digit >= form.base {
			return 0, fmt.Errorf(`the escape \%c wants %d digits of base %d`, letter, form.digits, form.base)
		}
		value = value*rune(form.base) + rune(digit)
	}
	switch {
	case value == 0:
		return 0, fmt.Errorf("an escape stands for a NUL byte, which no argument can carry")
	case form.digits <= 3 && value > 255, form.digits > 3 && !utf8.ValidRune(value):
		return 0, fmt.Errorf("the escape %s stands for no character", s[:skip+form.digits])
	case form.digits <= 3:
		out.WriteByte(byte(value))
	default:
		out.WriteRune(value)
	}
	return skip + form.digits, nil
}

// digitValue is the value of a digit up to base 16, or 16 for what is none.
func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return 16
}

// QuoteCommand writes argv so that SplitCommand reads it back unchanged, with
// quotes only where they are needed.
func QuoteCommand(argv []string) string {
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		quoted[i] = quoteArg(arg)
	}
	return strings.Join(quoted, " ")
}

// quoteArg quotes one argument where it needs it.
func quoteArg(arg string) string {
	plain := arg != "" && utf8.ValidString(arg) && !strings.ContainsFunc(arg, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`"'\`, r)
	})
	if plain {
		return arg
	}
	var out strings.Builder
	out.WriteByte('"')
	for rest := arg; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch c := rest[0]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\t':
			out.WriteString(`\t`)
		case c < ' ' || c == 0x7f || r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, c)
		default:
			out.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	out.WriteByte('"')
	return out.String()
}
