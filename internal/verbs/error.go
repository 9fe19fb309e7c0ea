package verbs

import (
	"fmt"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

const (
	exitFailure = 1

	// ExitUsage is EX_USAGE of sysexits.h.
	ExitUsage = 64
)

// Error is an error with the exit code that it asks for.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// Usagef is the error of a command line that cannot be meant.
func Usagef(format string, args ...any) error {
	return &Error{ExitUsage, fmt.Errorf(format, args...)}
}

// UnknownWord is the error of a word that is none of those that may stand there.
func UnknownWord(kind, word string, known []string) error {
	return unknown(fmt.Sprintf("%s %q", kind, word), word, known)
}

// unknown names what is not known, and what might have been meant.
func unknown(what, word string, known []string) error {
	if near, ok := syntax.Nearest(word, known); ok {
		return Usagef("unknown %s; did you mean %s", what, near)
	}
	return Usagef("unknown %s; known are %s", what, strings.Join(known, ", "))
}
