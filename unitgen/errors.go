package unitgen

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Position is a place in a policy file. Line and column count from 1, columns
// in characters; the zero Position is nowhere.
type Position struct {
	File         string
	Line, Column int
}

// String is file:line:column, as editors and compilers write it.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Error is one thing that is wrong with a policy, and what would be right.
type Error struct {
	Position
	Message string
}

// Error is the place and the message, in one line.
func (e Error) Error() string { return e.String() + ": " + e.Message }

// Errors is all that is wrong with a policy, in the order of the file.
type Errors []Error

// maxErrors bounds what is told at once.
const maxErrors = 20

// Error is the errors, one to a line.
func (e Errors) Error() string {
	var lines []string
	for i, err := range e {
		if i == maxErrors {
			lines = append(lines, fmt.Sprintf("%s: and %d more", err.File, len(e)-maxErrors))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// sorted orders the errors as the files have them, each once; nil if there are
// none. What is wrong with defaults is found once for each service.
func (e Errors) sorted() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(e)
}

// Warning is something that a policy's author should know, and that is no
// error. Its Position is zero where it is about no line in particular.
type Warning struct {
	Position
	Message string

	// Replaced: something else does what the target lacks, and nothing is lost.
	Replaced bool
}

// String is the warning in one line, without the word.
func (w Warning) String() string {
	if w.Line == 0 {
		return w.Message
	}
	return w.Position.String() + ": " + w.Message
}

// oneLine writes the control characters of a text as Go does: an error is one
// line, and harmless to a terminal, whatever of the policy it repeats.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var out strings.Builder
	for _, char := range text {
		if unicode.IsControl(char) {
			out.WriteString(strings.Trim(strconv.QuoteRune(char), "'"))
			continue
		}
		out.WriteRune(char)
	}
	return out.String()
}
