package history

import "time"

// Lines says which of a unit's own lines in the journal are a run's. The zero value
// is all of them.
//
// A line that has the invocation ID of a run is that run's, but for the runs of a
// unit that did not become inactive between them, with RestartMode=direct: the
// manager tells journald of the first one's ID and of no other (systemd:
// src/core/unit.c, unit_export_invocation_id). Between two of them stands when the
// restart was announced, at the end of the hold-off; so time tells them apart.
type Lines struct {
	ID    string    // the lines have this invocation ID; "" for whichever they have, where Since is set
	Since time.Time // of the first; zero for no bound
	Until time.Time // they are before it; zero for no bound
}

// LinesOf are the lines of each run, of all that are on record. Direct: the unit has
// RestartMode=direct, so that a run may have the ID of one that is not on record.
func LinesOf(runs []Run, direct bool) []Lines {
	all := make([]Lines, len(runs))
	for i, r := range runs {
		lines := Lines{ID: r.InvocationID, Until: r.Restarted}
		switch {
		case r.Cause.Refused():
		case i > 0 && !runs[i-1].Restarted.IsZero():
			lines.ID, lines.Since = "", runs[i-1].Restarted
		case direct && i == 0 && r.Start == UnknownStart && !r.Started.IsZero():
			lines.ID, lines.Since = "", r.Started.Truncate(time.Second) // the manager may tell of the start after the first line
		}
		if lines.ByTime() && lines.Until.IsZero() && i+1 < len(runs) {
			lines.Until = runs[i+1].Started
		}
		if !lines.Until.IsZero() && (!lines.Since.Before(lines.Until) || r.Started.After(lines.Until)) { // the clock was set back
			lines = Lines{ID: r.InvocationID}
		}
		all[i] = lines
	}
	return all
}

// ByTime says whether the time tells of the run, and not the ID.
func (l Lines) ByTime() bool { return l.ID == "" && !l.Since.IsZero() }

// Has says whether a line that was written then is one of these. One without an ID
// is of no run that is known.
func (l Lines) Has(id string, written time.Time) bool {
	switch {
	case l == Lines{}:
		return true
	case id == "", l.ID != "" && id != l.ID:
		return false
	}
	return !written.Before(l.Since) && (l.Until.IsZero() || written.Before(l.Until))
}
