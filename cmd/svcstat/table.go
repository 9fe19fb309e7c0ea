package main

import (
	"fmt"
	"io"
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

func (t *table) write(w io.Writer, color bool) error {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	var out strings.Builder
	for n, row := range t.rows {
		for i, c := range row {
			text := c.text
			if color && c.style != plain {
				text = string(c.style) + text + normal
			}
			out.WriteString(text)
			if i < len(row)-1 {
				out.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text)+2))
			}
		}
		out.WriteByte('\n')
		for _, line := range t.under[n] {
			out.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// row makes cells of one style.
func row(s style, texts ...any) []cell {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i] = cell{fmt.Sprint(text), s}
	}
	return cells
}
