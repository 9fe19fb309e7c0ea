package history

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svckit/svckit/internal/syntax"
)

// Field is one thing known beside a cause, such as check, last or code.
type Field struct {
	Key   string // lower-case letters, digits and -
	Value string
}

// String writes the field as EndLine does: key=value, quoted where needed.
func (f Field) String() string {
	return f.Key + "=" + quoteValue(f.Value)
}

// EndLine is what svcrun prints on stderr as its last line, in a form that
// svcstat reads back out of the journal:
//
//	svcrun: end cause=unhealthy check=http://127.0.0.1/live after=3 last="timeout 2s"
type EndLine struct {
	Cause  Cause
	Fields []Field // in the order in which they are printed
}

const (
	endPrefix  = "svcrun: end cause="
	maxEndLine = 16 << 10 // bytes of a line that ParseEndLine looks at
	maxFields  = 8
	maxKey     = 32
	maxValue   = 256 // bytes, before quoting
)

// Format writes the line, without a newline. ParseEndLine reads back whatever
// it prints: a value over 256 bytes is cut, a field beyond the eighth or with
// a malformed key is left out, and a cause that has no name becomes unknown.
func (l EndLine) Format() string {
	cause := l.Cause
	if _, ok := ParseCause(string(cause)); !ok {
		cause = Unknown
	}
	var out strings.Builder
	out.WriteString(endPrefix + string(cause))
	count := 0
	for _, f := range l.Fields {
		if count == maxFields || !validKey(f.Key) {
			continue
		}
		out.WriteString(" " + Field{f.Key, clip(f.Value)}.String())
		count++
	}
	return out.String()
}

// ParseEndLine reads a line that Format wrote. Anything malformed, oversized
// or of an unknown cause is no end line: a service may print what it likes.
func ParseEndLine(s string) (EndLine, bool) {
	if len(s) > maxEndLine || !strings.HasPrefix(s, endPrefix) {
		return EndLine{}, false
	}
	name, rest, more := strings.Cut(s[len(endPrefix):], " ")
	cause, ok := ParseCause(name)
	if !ok {
		return EndLine{}, false
	}
	line := EndLine{Cause: cause}
	for more {
		var field Field
		if field, rest, more, ok = cutField(rest); !ok || len(line.Fields) == maxFields {
			return EndLine{}, false
		}
		line.Fields = append(line.Fields, field)
	}
	return line, true
}

// end is what the line says, in the terms of a run.
func (l EndLine) end() End {
	end := End{Cause: l.Cause}
	for _, f := range l.Fields {
		switch f.Key {
		case "code":
			end.Exit = parseExit(string(Exited), f.Value)
		case "signal":
			if signal, err := syntax.ParseSignal(f.Value); err == nil {
				end.Exit = Exit{Killed, int(signal)}
			}
		default:
			end.Detail = append(end.Detail, f)
		}
	}
	if end.Cause == CoreDump && end.Exit.Kind == Killed {
		end.Exit.Kind = Dumped
	}
	return end
}

// cutField takes the first field off s; more says that another must follow.
func cutField(s string) (field Field, rest string, more, ok bool) {
	key, s, found := strings.Cut(s, "=")
	if !found || !validKey(key) {
		return Field{}, "", false, false
	}
	word := s
	if strings.HasPrefix(s, `"`) {
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return Field{}, "", false, false
		}
		word = quoted
	} else if i := strings.IndexByte(s, ' '); i >= 0 {
		word = s[:i]
	}
	value, ok := unquoteValue(word)
	rest, more = strings.CutPrefix(s[len(word):], " ")
	return Field{key, value}, rest, more, ok && (more || rest == "")
}

// validKey keeps keys to what needs no quoting anywhere.
func validKey(key string) bool {
	return key != "" && len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// quoteValue quotes what is not one plain ASCII word. Quoting also takes the
// sting out of control characters that a terminal would obey.
func quoteValue(value string) string {
	if isBare(value) {
		return value
	}
	return strconv.Quote(value)
}

// unquoteValue reads what quoteValue wrote.
func unquoteValue(word string) (string, bool) {
	if isBare(word) {
		return word, len(word) <= maxValue
	}
	value, err := strconv.Unquote(word)
	return value, err == nil && word[0] == '"' && len(value) <= maxValue
}

// isBare says whether a value may stand without quotes.
func isBare(value string) bool {
	return value != "" && !strings.ContainsFunc(value, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}

// clip cuts a value to its bound, at the start of a character.
func clip(value string) string {
	const ellipsis = "…"
	if len(value) <= maxValue {
		return value
	}
	end := maxValue - len(ellipsis)
	for end > 0 && !utf8.RuneStart(value[end]) {
		end--
	}
	return value[:end] + ellipsis
}
