package unit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file reads units as systemd does, written from its manual pages and
// apart from the writer, so that the tests compute every answer a second way.

// assignment is one Name=Value as the manager sees it.
type assignment struct {
	section, name, value string
}

// readUnit joins continuations, skips comments and takes lines apart.
func readUnit(text string) ([]assignment, error) {
	var all []assignment
	section, pending, continued := "", "", false
	for _, line := range strings.Split(text, "\n") {
		bare := strings.TrimLeft(line, " \t\r\n")
		if strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, ";") {
			continue
		}
		logical := bare
		if continued {
			logical = pending + line
		}
		backslashes := 0 // of the run that ends here and has no partner
		for i := 0; i < len(logical); i++ {
			if logical[i] == '\\' && backslashes == 0 {
				backslashes = 1
			} else {
				backslashes = 0
			}
		}
		if backslashes == 1 {
			pending, continued = logical[:len(logical)-1]+" ", true
			continue
		}
		continued = false
		logical = strings.Trim(logical, " \t\r\n")
		switch {
		case logical == "":
		case logical[0] == '[' && logical[len(logical)-1] == ']':
			section = logical[1 : len(logical)-1]
		default:
			name, value, found := strings.Cut(logical, "=")
			if !found {
				return nil, fmt.Errorf("missing '=' in %q", logical)
			}
			all = append(all, assignment{section, strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t")})
		}
	}
	return all, nil
}

// splitWords splits a value in words, with quotes and C escapes undone.
func splitWords(s string) ([]string, error) {
	var words []string
	var word []byte
	var quote byte
	inWord := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\':
			decoded, n, err := decodeEscape(s[i+1:])
			if err != nil {
				return nil, err
			}
			word, inWord = append(word, decoded...), true
			i += n
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word = append(word, c)
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.IndexByte(" \t\n\r", c) >= 0:
			if inWord {
				words, word, inWord = append(words, string(word)), nil, false
			}
		default:
			word, inWord = append(word, c), true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unbalanced quotes in %q", s)
	}
	if inWord {
		words = append(words, string(word))
	}
	return words, nil
}

// decodeEscape decodes what follows a backslash, and says how long it was.
func decodeEscape(s string) (string, int, error) {
	if s == "" {
		return "", 0, fmt.Errorf("trailing backslash")
	}
	if i := strings.IndexByte(`abfnrtv\"'s`, s[0]); i >= 0 {
		return "\a\b\f\n\r\t\v\\\"' "[i : i+1], 1, nil
	}
	digits, base, start := 0, 16, 1
	switch s[0] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case '0', '1', '2', '3':
		digits, base, start = 3, 8, 0
	default:
		return "", 0, fmt.Errorf("unknown escape \\%c", s[0])
	}
	if len(s) < start+digits {
		return "", 0, fmt.Errorf("short escape")
	}
	n, err := strconv.ParseUint(s[start:start+digits], base, 32)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("bad escape")
	}
	if digits > 3 {
		return string(utf8.AppendRune(nil, rune(n))), start + digits, nil
	}
	return string([]byte{byte(n)}), start + digits, nil
}

// expandSpecifiers undoes %% and knows the two specifiers that svckit means.
func expandSpecifiers(s string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", fmt.Errorf("lone %% at the end of %q", s)
		}
		switch s[i] {
		case '%':
			out.WriteByte('%')
		case 't':
			out.WriteString("/run")
		case 'N':
			out.WriteString("name")
		default:
			return "", fmt.Errorf("specifier %%%c in %q", s[i], s)
		}
	}
	return out.String(), nil
}

// expandVariables expands a word of a command line in an environment where
// every variable is "WRONG": a word that was quoted well has none.
func expandVariables(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '$':
			out.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == '$':
			out.WriteByte('$')
			i++
		case i == 0 || i+1 < len(s) && s[i+1] == '{':
			out.WriteString("WRONG")
		default:
			out.WriteByte('$')
		}
	}
	return out.String()
}

// argvOf is the argument vector that systemd makes of a command line.
func argvOf(value string) ([]string, error) {
	argv, err := splitWords(value)
	for i := range argv {
		if err == nil {
			argv[i], err = expandSpecifiers(argv[i])
		}
		if i > 0 {
			if argv[i] == ";" && !strings.Contains(value, `";"`) {
				return nil, fmt.Errorf("a second command after ;")
			}
			argv[i] = expandVariables(argv[i])
		}
	}
	return argv, err
}
