package notify

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the largest datagram that the manager reads; it drops larger
// ones whole (systemd: src/core/manager.c, NOTIFY_BUFFER_MAX).
const MaxBytes = 4096

// Field is one line of a message.
type Field struct{ Key, Value string }

// Message is a datagram's fields, in their order.
type Message []Field

// The ways in which a datagram is no message. The manager would drop it too.
var (
	ErrEmpty     = errors.New("a datagram without any KEY=VALUE line")
	ErrOversized = errors.New("a datagram of more than 4096 bytes")
	ErrNUL       = errors.New("a datagram with a NUL byte")
	ErrEncoding  = errors.New("a datagram that is not valid UTF-8")
)

// Parse takes a datagram apart. Lines that have no "=" are skipped, as the
// manager skips what it doesn't know; a datagram with nothing else is ErrEmpty.
// A last newline may be there or not: systemd-notify writes none.
func Parse(datagram []byte) (Message, error) {
	text := string(datagram)
	switch {
	case len(text) > MaxBytes:
		return nil, ErrOversized
	case strings.ContainsRune(text, 0):
		return nil, ErrNUL
	case !utf8.ValidString(text):
		return nil, ErrEncoding
	}
	var m Message
	for line := range strings.SplitSeq(text, "\n") {
		if key, value, ok := strings.Cut(line, "="); ok && key != "" {
			m = append(m, Field{key, value})
		}
	}
	if m == nil {
		return nil, ErrEmpty
	}
	return m, nil
}

// Encode writes the message as one datagram. Newlines and NULs in values
// become blanks, since the protocol cannot carry them; a value that would make
// the datagram larger than MaxBytes is cut at a character's border.
func (m Message) Encode() []byte {
	var out []byte
	for _, f := range m {
		if len(out) > 0 {
			out = append(out, '\n')
		}
		room := MaxBytes - len(out) - len(f.Key) - 1
		if room < 0 {
			break
		}
		out = append(out, f.Key...)
		out = append(out, '=')
		out = append(out, cut(strings.Map(oneLine, f.Value), room)...)
	}
	return out[:min(len(out), MaxBytes)]
}

// oneLine maps what the protocol cannot carry to blanks.
func oneLine(r rune) rune {
	if r == '\n' || r == 0 {
		return ' '
	}
	return r
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
