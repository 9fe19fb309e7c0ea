package probe

import (
	"errors"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// failure is a failed attempt: a line for STATUS, and the error behind it.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// bare is the error number within err, without the names of the call and of
// the file, or err itself.
func bare(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// maxText bounds the text of a failure, in bytes.
const maxText = 160

// plain makes text one line of at most maxText bytes of printable characters.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return '?'
		}
		return r
	}, text)
	if len(text) <= maxText {
		return text
	}
	end := maxText - len("...")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
