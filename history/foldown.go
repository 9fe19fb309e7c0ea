package history

import "strings"

// addOwn takes a line of the unit's own. It can tell only of its own run.
// journald does not know the invocation of a writer that was gone too soon:
// then the newest run is meant.
func (f *Fold) addOwn(e Entry) {
	ev := f.writer(e)
	if e.MessageID == spawnFailed {
		if ev != nil {
			ev.spawn = strings.TrimPrefix(e.Message, f.unit+": ")
		}
		return
	}
	line, ok := ParseEndLine(e.Message)
	if !ok {
		return
	}
	if ev == nil && e.OwnInvocation != "" {
		e.Invocation = e.OwnInvocation
		ev = f.run(e)
	}
	if ev != nil && ev.refused == "" {
		ev.endLine, ev.line = &line, stampOf(e)
	}
}

// writer is the run that has written a line; nil for one of which nothing else is
// known. It is the one whose ID the line has, unless the unit's restart had been
// announced by then: see Lines.
func (f *Fold) writer(e Entry) *evidence {
	ev, last := f.byID[e.OwnInvocation], f.last()
	switch {
	case e.OwnInvocation == "":
		return last
	case ev == nil && last != nil && last.isOn() && (last.start == Automatic || len(f.rows) == 1):
		f.sharedIDs = true // the ID is of a run that is not on record
		return last
	case ev == nil || !ev.scheduled.known() || stampOf(e).before(ev.scheduled):
		return ev
	}
	if on := f.onAt(stampOf(e)); on != nil && on != ev {
		f.sharedIDs = true
		return on
	}
	return ev
}

// onAt is the run that was on, or had last ended, after the last restart that had
// been announced by then; nil for none.
func (f *Fold) onAt(at stamp) *evidence {
	for i := len(f.rows) - 1; i > 0; i-- {
		before := f.rows[i-1]
		switch {
		case !before.scheduled.known() || at.before(before.scheduled):
		case f.rows[i].refused != "":
			return before
		default:
			return f.rows[i]
		}
	}
	return nil
}

// SharedIDs says whether the journal has lines of a run under the ID of another.
func (f *Fold) SharedIDs() bool { return f.sharedIDs }
