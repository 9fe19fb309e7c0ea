package manager

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxEnvFile bounds a file of variables, in bytes.
const maxEnvFile = 1 << 20

var (
	errEnvSize = fmt.Errorf("it has more than %d bytes", maxEnvFile)
	errEnvUTF8 = errors.New("it is no UTF-8")
	errEnvNUL  = errors.New("it has a NUL byte")
)

// envState is where in a file of variables a character stands.
type envState int

const (
	inBlank envState = iota // before a name, or in an empty line
	inComment
	inCommentEscape
	inName
	beforeValue // or between its parts
	inValue
	inValueEscape
	inSingleQuotes
	inDoubleQuotes
	inDoubleQuotesEscape
)

// envReader reads a file of variables as EnvironmentFile= wants it
// (systemd.exec(5); systemd: src/basic/env-file.c, parse_env_file_internal).
type envReader struct {
	state       envState
	name, value strings.Builder
	kept        int // how much of the value is no blank at its end
	found       []string
}

// parseEnvFile reads a file of variables: NAME=value lines, with quotes, escapes
// and continuations. What is no variable is passed over, as systemd does.
func parseEnvFile(text []byte) ([]string, error) {
	switch {
	case len(text) > maxEnvFile:
		return nil, errEnvSize
	case !utf8.Valid(text):
		return nil, errEnvUTF8
	case strings.ContainsRune(string(text), 0):
		return nil, errEnvNUL
	}
	var r envReader
	for _, c := range string(text) {
		r.step(c)
	}
	if r.state >= beforeValue {
		r.end()
	}
	return r.found, nil
}

// step takes one character.
func (r *envReader) step(c rune) {
	switch r.state {
	case inBlank:
		r.begin(c)
	case inComment:
		r.comment(c)
	case inCommentEscape:
		r.state = inComment
		if isNewline(c) {
			r.state = inBlank
		}
	case inName:
		r.inName(c)
	case beforeValue, inValue:
		r.inValue(c)
	case inValueEscape:
		r.state = inValue
		if !isNewline(c) {
			r.keep(c)
		}
	case inSingleQuotes:
		if c == '\'' {
			r.state = beforeValue
		} else {
			r.keep(c)
		}
	case inDoubleQuotes:
		r.inDoubleQuotes(c)
	case inDoubleQuotesEscape:
		r.state = inDoubleQuotes
		r.quotedEscape(c)
	}
}

func (r *envReader) begin(c rune) {
	switch {
	case c == '#' || c == ';':
		r.state = inComment
	case !isBlank(c):
		r.state = inName
		r.name.WriteRune(c)
	}
}

func (r *envReader) comment(c rune) {
	switch {
	case c == '\\':
		r.state = inCommentEscape
	case isNewline(c):
		r.state = inBlank
	}
}

func (r *envReader) inName(c rune) {
	switch {
	case isNewline(c):
		r.name.Reset()
		r.state = inBlank
	case c == '=':
		r.state = beforeValue
	default:
		r.name.WriteRune(c)
	}
}

func (r *envReader) inValue(c rune) {
	switch {
	case isNewline(c):
		r.end()
	case c == '\\':
		r.state = inValueEscape
	case c == '\'' && r.state == beforeValue:
		r.state = inSingleQuotes
	case c == '"' && r.state == beforeValue:
		r.state = inDoubleQuotes
	case !isBlank(c):
		r.state = inValue
		r.keep(c)
	case r.state == inValue:
		r.value.WriteRune(c) // and nothing is kept yet
	}
}

func (r *envReader) inDoubleQuotes(c rune) {
	switch c {
	case '"':
		r.state = beforeValue
	case '\\':
		r.state = inDoubleQuotesEscape
	default:
		r.keep(c)
	}
}

// quotedEscape takes what stands behind a backslash in double quotes: as in a
// shell it means something before few characters only.
func (r *envReader) quotedEscape(c rune) {
	switch {
	case strings.ContainsRune("\"\\`$", c):
		r.keep(c)
	case c != '\n':
		r.keep('\\')
		r.keep(c)
	}
}

// keep takes a character that is part of the value, with the blanks before it.
func (r *envReader) keep(c rune) {
	r.value.WriteRune(c)
	r.kept = r.value.Len()
}

// end ends a variable.
func (r *envReader) end() {
	name := strings.TrimRight(r.name.String(), " \t")
	if isVariable(name) {
		r.found = append(r.found, name+"="+r.value.String()[:r.kept])
	}
	*r = envReader{found: r.found}
}

func isNewline(c rune) bool { return c == '\n' || c == '\r' }

func isBlank(c rune) bool { return c == ' ' || c == '\t' || isNewline(c) }

// isVariable says whether a name can be a variable's (environ(7)).
func isVariable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_'
	}) && (name[0] < '0' || name[0] > '9')
}
