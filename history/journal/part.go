package journal

import (
	"fmt"
	"strconv"
	"time"

	"github.com/svckit/svckit/history"
)

// part is what one run of journalctl reads.
type part struct {
	unit         string
	user         string // the UID whose manager has the unit; "" for the system's
	since, until time.Time
	invocation   string        // one run only, or all where empty
	last         bool          // the manager's last line only
	own          history.Lines // which of its own lines, where tail is set
	tail         int           // so many last lines of the run's own output, and nothing else; 0 for all of the above
}

// wanted says of each line, in their order, whether it is worth decoding.
func (p part) wanted() func(line []byte) bool {
	if p.tail > 0 {
		return func([]byte) bool { return true }
	}
	return newPicker(p.unit).wants
}

// arguments are journalctl's. The alternatives of the match are the manager's
// lines about the unit, by fields that cannot be forged, and the unit's own.
func (p part) arguments() []string {
	args := []string{"--output=json", "--no-pager", "--output-fields=" + outputFields}
	if p.tail > 0 {
		p.since, p.until, p.invocation = p.own.Since, p.own.Until, p.own.ID
		if !p.until.IsZero() {
			p.until = p.until.Add(-time.Microsecond) // --until= has its own time in it
		}
	}
	if !p.since.IsZero() {
		args = append(args, "--since="+Epoch(p.since))
	}
	if !p.until.IsZero() {
		args = append(args, "--until="+Epoch(p.until))
	}
	if p.last {
		args = append(args, "--reverse", "--lines=1") // up to 252 --until alone does not place the end
	}
	about, own, managers := p.matches()
	if p.tail > 0 {
		return append(append(args, "--lines="+strconv.Itoa(p.tail)), own...)
	}
	for i, manager := range managers {
		if i > 0 {
			args = append(args, "+")
		}
		args = append(append(args, about...), manager...)
	}
	if !p.last {
		args = append(append(args, "+"), own...)
	}
	return args
}

// matches are what the lines about the unit have, what its own have, and what
// those of its manager's have, which nobody else can write.
func (p part) matches() (about, own []string, managers [][]string) {
	about, own = []string{"UNIT=" + p.unit}, []string{"_SYSTEMD_UNIT=" + p.unit}
	managers = [][]string{{"_PID=1"}, {"_SYSTEMD_CGROUP=/init.scope", "_UID=0"}}
	invocation := "INVOCATION_ID="
	if p.user != "" {
		about, own = []string{"USER_UNIT=" + p.unit}, []string{"_SYSTEMD_USER_UNIT=" + p.unit, "_UID=" + p.user}
		managers = [][]string{{"_SYSTEMD_UNIT=user@" + p.user + ".service", "_SYSTEMD_USER_UNIT=init.scope", "_UID=" + p.user}}
		invocation = "USER_INVOCATION_ID="
	}
	if p.invocation != "" {
		about = append(about, invocation+p.invocation)
		own = append(own, "_SYSTEMD_INVOCATION_ID="+p.invocation)
	}
	return about, own, managers
}

// Epoch is a time for journalctl, whatever its zone: seconds since 1970.
func Epoch(t time.Time) string {
	us := max(0, t.UnixMicro())
	return fmt.Sprintf("@%d.%06d", us/1e6, us%1e6)
}
