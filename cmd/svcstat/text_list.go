package main

import (
	"strconv"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
)

// The text of `svcstat list`, by the rules of text.go.

// How narrow a list is made, where the terminal is. Each has what comes before it;
// what is too wide even then is cut.
const (
	asItIs      = iota
	withoutIdle // columns in which no row has anything
	shortStates // systemd's state of the service, which implies the one of the unit
	bareNames   // without .service
	oneColumn   // for what is up or has ended: no service has both
)

// listText is the list in so many columns, 0 for any number.
func listText(states []history.State, now time.Time, zone *time.Location, color bool, columns int) string {
	t := listTable(states, now, zone, asItIs)
	for narrow := withoutIdle; narrow <= oneColumn && columns > 0 && t.width() > columns; narrow++ {
		t = listTable(states, now, zone, narrow)
	}
	return t.text(color, columns)
}

func listTable(states []history.State, now time.Time, zone *time.Location, narrow int) table {
	t := table{cuts: []int{0, 3}}
	head := []string{"UNIT", "STATE", "RESTARTS", "LAST CAUSE", "UP SINCE" + zoneHead(zone), "NEXT RESTART"}
	if narrow >= oneColumn {
		head = append(head[:3], "UP SINCE"+zoneHead(zone)+", OR LAST CAUSE")
	}
	t.add(row(faint, head...)...)
	for _, s := range states {
		name, state := s.Unit, s.ActiveState+" ("+s.SubState+")"
		if narrow >= shortStates {
			state = s.SubState
		}
		if narrow >= bareNames {
			name = bareName(name)
		}
		cells := []cell{{name, plain}, {state, stateStyle(s)}, {strconv.Itoa(s.NRestarts), plain}}
		last, since, next := courseTexts(s, now, zone)
		if narrow >= oneColumn {
			t.add(append(cells, cell{inOne(last, since, next), plain})...)
			continue
		}
		t.add(append(cells, cell{last, plain}, cell{since, plain}, cell{next, plain})...)
	}
	if narrow >= withoutIdle {
		t.dropEmpty()
	}
	return t
}

// courseTexts are why a service's last run ended, since when it is up, and when it
// is started again.
func courseTexts(s history.State, now time.Time, zone *time.Location) (last, since, next string) {
	last, since, next = none, none, none
	if end, ok := s.LastEnd(); ok {
		last = endText(end)
	}
	if at, ok := s.UpSince(); ok {
		since = timeText(at, zone)
	}
	if at, ok := s.NextRestart(); ok {
		next = "in " + syntax.AboutDuration(max(0, at.Sub(now)))
	}
	if s.Stranded() {
		next = never
	}
	return last, since, next
}

// never is when a service is started again whose restart has failed.
const never = "never"

// inOne is what there is of these.
func inOne(last, since, next string) string {
	switch {
	case since != none:
		return since
	case next == never:
		return "no restart after " + last
	case next != none:
		return "next " + next + " after " + last
	}
	return last
}

func stateStyle(s history.State) style {
	switch {
	case s.ActiveState == "failed", s.WaitsForRestart():
		return bad
	case s.ActiveState == "active":
		return good
	}
	return plain
}

// nothingListed says that no service is as was asked for.
func nothingListed(failed, restarting, named bool) string {
	who, what := "no service", "is there to list"
	if named {
		who = "none of the services named"
	}
	switch {
	case failed && restarting:
		what = "has failed or waits for an automatic restart"
	case failed:
		what = "has failed"
	case restarting:
		what = "waits for an automatic restart"
	}
	return "svcstat: " + who + " " + what
}
