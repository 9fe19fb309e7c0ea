package unitgen

import (
	_ "embed"
	"strconv"
	"strings"
)

// directiveTable is systemd's directives by section and by the version that
// brought them: section, version, names. NAME=VALUE stands for a value that
// came later than its directive. What came before 183 is given as 183. The
// section Notify has the messages of sd_notify(3).
//
//go:embed directives.tsv
var directiveTable string

// firstVersions says of each directive, and of each NAME=VALUE, which version
// of systemd brought it. No name is in two sections with versions that matter
// to any target: all that differ are older than the oldest.
var firstVersions = parseDirectives(directiveTable)

func parseDirectives(table string) map[string]int {
	first := map[string]int{}
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		version, err := strconv.Atoi(fields[1])
		if err != nil {
			panic("directives.tsv: " + err.Error()) // a fault of the program's text, which its tests find
		}
		for name := range strings.FieldsSeq(fields[2]) {
			if known, ok := first[name]; !ok || version > known {
				first[name] = version
			}
		}
	}
	return first
}
