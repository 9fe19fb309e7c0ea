package unitgen

import (
	_ "embed"
	"strconv"
	"strings"
)

// directiveTable is systemd's directives by section and by the version that
// brought them: section, version, names. A range of versions ends in the last
// one that does not ignore them. NAME=VALUE stands for a value that came later
// than its directive. What came before 183 is given as 183. The section Notify
// has the messages of sd_notify(3).
//
//go:embed directives.tsv
var directiveTable string

// firstVersions says of each directive, and of each NAME=VALUE, which version
// of systemd brought it, and lastVersions of those that are ignored by now
// which was the last to know it. No name is in two sections with versions that
// matter to any target: all that differ are older than the oldest.
var firstVersions, lastVersions = parseDirectives(directiveTable)

func parseDirectives(table string) (first, last map[string]int) {
	first, last = map[string]int{}, map[string]int{}
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		from, to, ends := strings.Cut(fields[1], "-")
		for name := range strings.FieldsSeq(fields[2]) {
			first[name] = max(first[name], number(from))
			if ends {
				last[name] = number(to)
			}
		}
	}
	return first, last
}

// number reads a version of the table. It is the program's own text, which its
// tests read as well.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("directives.tsv: " + err.Error())
	}
	return n
}
