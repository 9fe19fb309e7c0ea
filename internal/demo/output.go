package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/story"
)

// output is what the demo prints: a time line in chapters.
type output struct {
	w     io.Writer
	began time.Time
}

func newOutput(w io.Writer) *output { return &output{w: w, began: time.Now()} }

// say prints a line.
func (o *output) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.w, format+"\n", args...)
}

// chapter prints a heading.
func (o *output) chapter(title string) { o.say("\n── %s", title) }

// cast are those whose lines make the story; what the services log themselves
// would drown it.
var cast = []string{"operator", "client", "systemd", "svcrun"}

// line prints one line of the time line: time, who, what. It is cut where it
// would fill the screen.
func (o *output) line(l story.Line) {
	if !slices.Contains(cast, l.Who) {
		return
	}
	const widest = 130
	what := strings.TrimSpace(l.What)
	if r := []rune(what); len(r) > widest {
		what = string(r[:widest]) + "…"
	}
	o.say("%8.3fs  %-11s  %s", l.At.Sub(o.began).Seconds(), l.Who, what)
}

// now prints a line of this moment.
func (o *output) now(who, what string) { o.line(story.Line{At: time.Now(), Who: who, What: what}) }
