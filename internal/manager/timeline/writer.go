package timeline

import (
	"time"
)

// Style is how a time line is written.
type Style struct {
	JSON    bool // one object a line, for programs
	Colours bool // the terminal has them
	UTC     bool // the time of day, in the place of the time since the start
}

// Writer writes the events of a time line, in their order, and adds up what is
// told at its end. It keeps a line or two for each service, and nothing else.
type Writer struct {
	style   Style
	began   time.Time
	width   int // of the longest name
	colours map[string]string
	sums    sums
}

// NewWriter is a writer for the services of these units, that began then.
func NewWriter(style Style, began time.Time, units []string) *Writer {
	w := &Writer{style: style, began: began, colours: map[string]string{}}
	for i, unit := range units {
		w.colours[unit] = palette[i%len(palette)]
		w.width = max(w.width, len(shortName(unit)))
		w.sums.of(unit)
	}
	return w
}

// Append appends an event's lines to dst.
func (w *Writer) Append(dst []byte, e Event) []byte {
	w.sums.add(e)
	if w.style.JSON {
		return w.appendJSON(dst, e)
	}
	return w.appendText(dst, e)
}
