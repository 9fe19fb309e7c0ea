package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/verbs"
)

// terminal is what the output goes to. The zero terminal is none: a file or a
// pipe, which gets no colours, no pager, and every line whole.
type terminal struct {
	is      bool
	color   bool
	columns int // 0 where the width is not known
	lines   int
}

// terminalOf looks at a file, and at what the environment says of terminals:
// NO_COLOR (no-color.org), TERM, COLUMNS and LINES.
func terminalOf(f *os.File, getenv func(string) string) terminal {
	if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err != nil {
		return terminal{}
	}
	t := terminal{is: true, color: verbs.HasColours(f, getenv)}
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
		t.columns, t.lines = int(size.Col), int(size.Row)
	}
	for name, to := range map[string]*int{"COLUMNS": &t.columns, "LINES": &t.lines} {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 0 {
			*to = n
		}
	}
	return t
}
