package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// writeTable writes rows under each other: the first column to the left, the
// others to the right, and none wider than it must be.
func writeTable(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for n, cell := range row {
			if n == len(widths) {
				widths = append(widths, 0)
			}
			widths[n] = max(widths[n], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for n, cell := range row {
			space := strings.Repeat(" ", widths[n]-utf8.RuneCountInString(cell))
			switch n {
			case 0:
				line.WriteString(cell + space)
			default:
				line.WriteString("  " + space + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// comparison is the table of the metrics that there are figures for: a row of
// medians, and below it one for each ratio.
func comparison(s samples, metrics []metric, names []string) [][]string {
	rows := [][]string{append(append([]string{""}, names...), "goal")}
	for _, m := range metrics {
		if len(s[m.key]) == 0 {
			continue
		}
		row := []string{m.name}
		for _, name := range names {
			row = append(row, figure(s.median(m.key, name)))
		}
		rows = append(rows, append(row, m.limit.judge(s.median(m.key, ours))))
		for _, r := range m.ratios {
			reference := s.median(r.reference(m), r.to)
			row := []string{"  ÷ " + r.to}
			for _, name := range names {
				row = append(row, figure(s.median(m.key, name)/reference))
			}
			rows = append(rows, append(row, r.limit.judge(s.median(m.key, ours)/reference)))
		}
	}
	return rows
}

// writeExplanations says of each metric in the table what it is.
func writeExplanations(w io.Writer, s samples, metrics []metric) {
	var rows [][]string
	for _, m := range metrics {
		if len(s[m.key]) > 0 {
			rows = append(rows, []string{m.name, m.explain})
		}
	}
	wide := 0
	for _, row := range rows {
		wide = max(wide, utf8.RuneCountInString(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintln(w, row[0]+strings.Repeat(" ", wide-utf8.RuneCountInString(row[0]))+"  "+row[1])
	}
}
