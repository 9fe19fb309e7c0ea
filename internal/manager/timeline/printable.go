package timeline

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// escapes are the control sequences that a terminal obeys (ECMA-48): CSI, the
// strings that end at ST or BEL, and those of one or two characters.
var escapes = regexp.MustCompile("^\x1b(\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x1b\x07]*(\x1b\\\\|\x07)?|[ -/]*[0-~])")

// Printable is a line that a service printed, safe for a terminal: of escape
// sequences only colours are left, if they are wanted, and reset at the end.
func Printable(line string, colours bool) string {
	if isPlain(line) {
		return line
	}
	var out strings.Builder
	coloured := false
	for rest := strings.TrimRight(line, "\r"); rest != ""; {
		if sequence := escapeAt(rest); sequence != "" {
			if colours && isColour(sequence) {
				out.WriteString(sequence)
				coloured = true
			}
			rest = rest[len(sequence):]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		out.WriteString(shown(r, rest[:size]))
		rest = rest[size:]
	}
	if coloured {
		out.WriteString(reset)
	}
	return out.String()
}

// escapeAt is the control sequence that a text begins with. Without a look at the
// first byte a service that prints in another script, or no text at all, would
// wait for the expression at every character.
func escapeAt(text string) string {
	if text[0] != '\x1b' {
		return ""
	}
	return escapes.FindString(text)
}

// isPlain says whether a line has nothing but printable ASCII: most have not.
func isPlain(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
}

// isColour says whether a sequence is SGR: it changes how characters look.
func isColour(sequence string) bool {
	return strings.HasPrefix(sequence, "\x1b[") && strings.HasSuffix(sequence, "m") &&
		strings.Trim(sequence[2:len(sequence)-1], "0123456789;:") == ""
}

// shown is a character as the terminal may have it.
func shown(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return inHex(raw[0])
	case r == '\t':
		return raw
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return inHex(byte(r))
	case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x2028 || r == 0x2029:
		return fmt.Sprintf(`\u%04x`, r) // would have the rest of the line stand elsewhere
	}
	return raw
}

// inHex is a byte as people write it.
func inHex(b byte) string { return `\x` + hex.EncodeToString([]byte{b}) }
