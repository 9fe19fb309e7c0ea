package e2e

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// table is what the scenarios came to: what systemd did, and by how much the
// times of svcgen run differ from it.
func table(all []scenario, pairs []*pair) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "scenario\truns\tcauses")
	for _, p := range pairs {
		fmt.Fprintf(w, "\tsystemd %s", p.version)
	}
	fmt.Fprintln(w)
	for _, sc := range all {
		for i, svc := range sc.services {
			rows := map[string]bool{}
			for _, p := range pairs {
				o := p.got[sc.name].systemd[svc.suffix]
				row := fmt.Sprintf("%d\t%s", len(o.runs), o.causes())
				if !rows[row] {
					rows[row] = true
					fmt.Fprintf(w, "%s%s\t%s%s\n", sc.name, svc.suffix, row, verdicts(sc, pairs, i == 0))
				}
			}
		}
	}
	_ = w.Flush()
	return text.String()
}

// verdicts are the columns of the systemds, in the row of a scenario's first service.
func verdicts(sc scenario, pairs []*pair, first bool) string {
	text := ""
	for _, p := range pairs {
		c, ok := p.got[sc.name]
		switch {
		case !first:
			text += "\t"
		case !ok:
			text += "\tnot played"
		case len(c.differs) > 0:
			text += "\tDIFFERS"
		case len(c.late()) > 0:
			text += "\tLATE " + c.largest().Round(time.Millisecond).String()
		default:
			text += "\tequal, " + c.largest().Round(time.Millisecond).String()
		}
	}
	return text
}
