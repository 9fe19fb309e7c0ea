package journal

import (
	"fmt"
	"strconv"
	"time"
)

// part is what one run of journalctl reads.
type part struct {
	unit         string
	since, until time.Time
	invocation   string // one run only, or all where empty
	last         bool   // the manager's last line only
	tail         int    // so many last lines of the run's own output, and nothing else; 0 for all of the above
}

// interesting says whether a line is worth decoding.
func (p part) interesting(line []byte) bool { return p.tail > 0 || interesting(line) }

// arguments are journalctl's. The alternatives of the match are the manager's
// lines about the unit, by fields that cannot be forged, and the unit's own.
func (p part) arguments() []string {
	args := []string{"--output=json", "--no-pager", "--output-fields=" + outputFields}
	if !p.since.IsZero() {
		args = append(args, "--since="+epoch(p.since))
	}
	if !p.until.IsZero() {
		args = append(args, "--until="+epoch(p.until))
	}
	if p.last {
		args = append(args, "--reverse", "--lines=1") // up to 252 --until alone does not place the end
	}
	if p.tail > 0 {
		return append(args, "--lines="+strconv.Itoa(p.tail), "_SYSTEMD_UNIT="+p.unit, "_SYSTEMD_INVOCATION_ID="+p.invocation)
	}
	about, own := []string{"UNIT=" + p.unit}, []string{"_SYSTEMD_UNIT=" + p.unit}
	if p.invocation != "" {
		about = append(about, "INVOCATION_ID="+p.invocation)
		own = append(own, "_SYSTEMD_INVOCATION_ID="+p.invocation)
	}
	args = append(append(args, about...), "_PID=1", "+")
	args = append(append(args, about...), "_SYSTEMD_CGROUP=/init.scope", "_UID=0")
	if !p.last {
		args = append(append(args, "+"), own...)
	}
	return args
}

// epoch writes a time for journalctl: seconds since 1970.
func epoch(t time.Time) string {
	us := max(0, t.UnixMicro())
	return fmt.Sprintf("@%d.%06d", us/1e6, us%1e6)
}
