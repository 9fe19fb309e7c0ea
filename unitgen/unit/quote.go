package unit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a text may say that only the manager knows. No other text can hold
// these: they are noncharacters, which systemd refuses.
const (
	Instance    = '\uFDD0' // the instance of a template, %i
	Credentials = '\uFDD1' // the directory of the service's credentials, %d

	// CredentialsVariable is the same on a command line for a manager that has
	// no %d.
	CredentialsVariable = '\uFDD2'
)

// doubling writes a text for a place where % is special, and whatever else is
// given as pairs.
func doubling(pairs ...string) *strings.Replacer {
	return strings.NewReplacer(append(pairs, "%", "%%", string(Instance), "%i", string(Credentials), "%d",
		string(CredentialsVariable), "${CREDENTIALS_DIRECTORY}")...)
}

// The replacers take longer to make than to use, and a generator's units hold
// up a boot.
var (
	inValue   = doubling()
	inCommand = doubling("$", "$$")
	forPeople = strings.NewReplacer(string(Instance), "%i", string(Credentials), "%d")
)

// Readable is a text for people, with specifiers where the manager puts in
// what it knows.
func Readable(s string) string { return forPeople.Replace(s) }

// IsNoncharacter says whether systemd takes a text with r in it for invalid
// UTF-8, though it is not (systemd: src/basic/utf8.c, unichar_is_valid).
func IsNoncharacter(r rune) bool { return r >= 0xFDD0 && r <= 0xFDEF || r&0xFFFE == 0xFFFE }

// ExecArg quotes an argument of a command line. systemd splits the line in
// words and undoes quotes and escapes first, then expands specifiers in each
// word, then variables: so quotes protect neither % nor $, and both are
// doubled (systemd.service(5), "Command lines").
func ExecArg(s string) (Value, error) {
	return word(s, inCommand)
}

// ExecPath quotes the program of a command line, in which no variable is
// expanded.
func ExecPath(s string) (Value, error) {
	if !strings.HasPrefix(s, "/") {
		return "", fmt.Errorf("%q is no absolute path", s)
	}
	return word(s, inValue)
}

// Assignment quotes NAME=value as one word of Environment=.
func Assignment(name, value string) (Value, error) {
	if !IsVariable(name) {
		return "", fmt.Errorf("%q is no name of a variable; a name is letters, digits and _, and begins with no digit", name)
	}
	quoted, err := word(value, inValue)
	switch {
	case err != nil:
		return "", err
	case strings.HasPrefix(string(quoted), `"`):
		return Value(`"`+name+"=") + quoted[1:], nil
	}
	return Value(name+"=") + quoted, nil
}

// IsVariable says whether s can name an environment variable.
func IsVariable(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// Plain is the value of a directive that takes its text as it is, but for
// specifiers: Description=, WorkingDirectory=, SyslogIdentifier=.
func Plain(s string) (Value, error) {
	v := Value(inValue.Replace(s))
	if s == "" {
		return "", fmt.Errorf("the value is empty, which means something else to systemd")
	}
	return v, v.check(false)
}

// Verbatim is a value that is given in systemd's own syntax, specifiers and
// quotes included. It only may not leave its line.
func Verbatim(s string) (Value, error) { return Value(s), Value(s).check(false) }

// word quotes one word, where it needs quotes, and doubles what a later
// expansion would take for its own.
func word(s string, double *strings.Replacer) (Value, error) {
	switch {
	case !utf8.ValidString(s):
		return "", fmt.Errorf("the text is not valid UTF-8")
	case strings.ContainsRune(s, 0):
		return "", fmt.Errorf("the text has a NUL byte, which no word can carry")
	case strings.ContainsFunc(s, isForeignNoncharacter):
		return "", fmt.Errorf("the text has a noncharacter of Unicode, which systemd takes for invalid")
	case s != "" && !strings.ContainsFunc(s, special):
		return Value(double.Replace(s)), nil
	}
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range double.Replace(s) {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < 0x80 && unicode.IsControl(r):
			fmt.Fprintf(&out, `\x%02x`, r)
		case unicode.IsControl(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return Value(out.String()), nil
}

// special says whether a word with r in it is quoted. What is left out means
// itself anywhere in a word; the prefixes of a program (@ - : + !) are none,
// as a path begins with a slash.
func special(r rune) bool {
	return !isMeant(r) && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./:=,+@", r)
}

func isForeignNoncharacter(r rune) bool { return IsNoncharacter(r) && !isMeant(r) }

// isMeant says whether r stands for what only the manager knows.
func isMeant(r rune) bool { return r == Instance || r == Credentials || r == CredentialsVariable }
