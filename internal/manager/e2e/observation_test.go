package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// observation is what became of one service.
type observation struct {
	runs  []run
	final string // the unit's state in the end, and how the last main process ended
	acts  []act
	lines []line // of the service's own record
}

// run is one start of a service and what became of it, as a manager tells it.
type run struct {
	start    history.Start
	restarts int // automatic ones before it, as the manager counts them
	cause    history.Cause
	result   string // Result= of systemd.service(5)
	exit     string // of the main process; empty where it was a clean one

	restart bool // the manager said that another start follows by itself

	began time.Time
	ready time.Time // zero where it never was
	ended time.Time // zero where it never began
}

// String is all of it but for the times.
func (r run) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s start", r.start)
	if r.restarts > 0 {
		fmt.Fprintf(&text, " (restart %d)", r.restarts)
	}
	if !r.ready.IsZero() {
		text.WriteString(", ready")
	}
	fmt.Fprintf(&text, ", %s", r.cause)
	if r.result != "" {
		fmt.Fprintf(&text, ", result %s", r.result)
	}
	if r.exit != "" {
		fmt.Fprintf(&text, ", %s", r.exit)
	}
	return text.String()
}

// within are the lines of the record that belong to run i of the manager's,
// which need not have come to execute anything: those after the end of the run
// before it, up to its own. Its begin may be told when the service already runs.
func (o observation) within(i int) []line {
	var from time.Time
	for _, before := range o.runs[:i] {
		if !before.ended.IsZero() {
			from = before.ended
		}
	}
	var some []line
	for _, l := range o.lines {
		if to := o.runs[i].ended; l.at.After(from) && !l.at.After(to) {
			some = append(some, l)
		}
	}
	return some
}

// executed is when the service of run i was executed, or else when the manager
// began with it.
func (o observation) executed(i int) time.Time {
	if lines := o.within(i); len(lines) > 0 {
		return lines[0].at
	}
	return o.runs[i].began
}

// lived is what the service lived through in run i.
func (o observation) lived(i int) string {
	words := []string{}
	for _, l := range o.within(i) {
		words = append(words, l.word)
	}
	return strings.Join(words, " ")
}

// causes are the runs' causes in their order, with how often each came in a row.
func (o observation) causes() string {
	var parts []string
	for i := 0; i < len(o.runs); {
		n := 1
		for i+n < len(o.runs) && o.runs[i+n].cause == o.runs[i].cause {
			n++
		}
		part := string(o.runs[i].cause)
		if n > 1 {
			part = fmt.Sprintf("%d× %s", n, part)
		}
		parts, i = append(parts, part), i+n
	}
	return strings.Join(parts, ", ")
}

// exitText is the end of a main process as this package compares it: what is
// clean has no text, since not every manager tells of it. Where a command around
// the main process had failed, that command is named.
func exitText(code *int, signal *string, dumped bool, result string, detail map[string]string) string {
	switch {
	case result == string(policy.Success):
		return ""
	case detail["command"] != "":
		return detail["command"] + " failed"
	case signal != nil && dumped:
		return *signal + " with a core"
	case signal != nil:
		return *signal
	case code != nil && *code != 0:
		return fmt.Sprintf("exit %d", *code)
	}
	return ""
}
