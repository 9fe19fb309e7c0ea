package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// style is how a cell is shown on a terminal that has colours.
type style string

const (
	plain  style = ""
	good   style = "\x1b[32m"
	bad    style = "\x1b[31m"
	faint  style = "\x1b[2m"
	normal       = "\x1b[0m"
)

// cell is one field of a table.
type cell struct {
	text  string
	style style
}

// table lines its cells up, two blanks apart. The first row is the heading.
// Columns are padded by characters, and outside of the colours.
type table struct {
	rows  [][]cell
	cuts  []int            // the columns that may be cut, by their numbers
	under map[int][]string // lines that stand below a row, by its number
}

func (t *table) add(cells ...cell) {
	t.rows = append(t.rows, cells)
}

// below adds lines below the last row.
func (t *table) below(lines ...string) {
	if t.under == nil {
		t.under = make(map[int][]string)
	}
	last := len(t.rows) - 1
	t.under[last] = append(t.under[last], lines...)
}

// leastColumn is the width below which no column is cut.
const leastColumn = 8

// text is the table such that it fits into so many columns, 0 for any number,
// where the columns that may be cut allow it.
func (t *table) text(color bool, columns int) string {
	widths := t.fit(columns)
	var out strings.Builder
	for n, row := range t.rows {
		for i, c := range row {
			text := cutTo(c.text, widths[i])
			blanks := widths[i] - utf8.RuneCountInString(text) + gap
			if color && c.style != plain {
				text = string(c.style) + text + normal
			}
			out.WriteString(text)
			if i < len(row)-1 {
				out.WriteString(strings.Repeat(" ", blanks))
			}
		}
		out.WriteByte('\n')
		for _, line := range t.under[n] {
			if columns > 0 {
				line = cutTo(line, columns)
			}
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// gap is how many blanks stand between two columns.
const gap = 2

// widths are those of the widest cell of each column.
func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	return widths
}

// width is how many characters a line has at most.
func (t *table) width() int {
	total := -gap
	for _, w := range t.widths() {
		total += w + gap
	}
	return total
}

// dropEmpty drops the columns in which nothing stands below the heading. The first
// stays.
func (t *table) dropEmpty() {
	for column := len(t.rows[0]) - 1; column > 0; column-- {
		empty := !slices.ContainsFunc(t.rows[1:], func(row []cell) bool { return row[column].text != none })
		if !empty {
			continue
		}
		for i, row := range t.rows {
			t.rows[i] = slices.Delete(row, column, column+1)
		}
		t.cuts = slices.DeleteFunc(t.cuts, func(c int) bool { return c == column })
		for i, c := range t.cuts {
			if c > column {
				t.cuts[i]--
			}
		}
	}
}

// fit takes from the widest of the columns that may be cut, and again, until all
// fit side by side.
func (t *table) fit(columns int) []int {
	widths, total := t.widths(), t.width()
	for columns > 0 && total > columns {
		widest := -1
		for _, i := range t.cuts {
			if widths[i] > leastColumn && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}

// cutTo is a text of at most so many characters.
func cutTo(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// wrapped breaks lines between words such that they fit into so many columns, 0
// for any number.
func wrapped(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		start, width := len(out), 0
		for word := range strings.FieldsSeq(line) {
			n := utf8.RuneCountInString(word)
			if len(out) > start && width+1+n <= columns {
				out[len(out)-1] += " " + word
				width += 1 + n
				continue
			}
			out, width = append(out, word), n
		}
		if len(out) == start {
			out = append(out, "")
		}
	}
	return strings.Join(out, "\n")
}

// row makes cells of one style.
func row(s style, texts ...string) []cell {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i] = cell{text, s}
	}
	return cells
}
