package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
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
	main     policy.Exit
	command  string // the directive of a command around the main process that failed

	restart bool // the manager said that another start follows by itself

	began time.Time
	ready time.Time // zero where it never was
	ended time.Time // zero where it never began
}

// text is all of it but for the times. Of a main process that ended cleanly
// systemd's lines do not tell how.
func (r run) text(rules policy.Rules) string {
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
	switch {
	case r.command != "":
		fmt.Fprintf(&text, ", %s failed", r.command)
	case r.main.How != policy.NoExit && !rules.Clean(r.main):
		fmt.Fprintf(&text, ", %s", r.main)
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

// exitOf is an exit as documents have it: a code, or a signal and whether it
// left a core.
func exitOf(code *int, signal *string, dumped bool) policy.Exit {
	switch {
	case code != nil:
		return policy.Exit{How: policy.Exited, Code: *code}
	case signal == nil:
		return policy.Exit{}
	}
	number, _ := syntax.ParseSignal(*signal)
	if dumped {
		return policy.Exit{How: policy.Dumped, Signal: number}
	}
	return policy.Exit{How: policy.Killed, Signal: number}
}
