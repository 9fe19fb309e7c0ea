package journal

import (
	"time"

	"github.com/svckit/svckit/history"
)

// maxTails is of how many runs the last lines are kept.
const maxTails = 1000

// tails keeps the last lines of runs, the newest runs only.
type tails struct {
	most    int       // lines of each
	holdOff time.Time // the end of the last one; zero before the first
	of      map[group][]string
	groups  []group // the keys of of, the oldest first
}

// group is the lines under an invocation ID between the ends of two hold-offs.
type group struct {
	id      string
	holdOff time.Time // the first of the two
}

// add adds a line. Twice as many as needed are kept before the first half goes.
func (t *tails) add(invocation, line string) {
	if t.of == nil {
		t.of = make(map[group][]string)
	}
	key := group{invocation, t.holdOff}
	lines, ok := t.of[key]
	if !ok {
		t.groups = append(t.groups, key)
		if len(t.groups) > maxTails {
			delete(t.of, t.groups[0])
			t.groups = t.groups[1:]
		}
	}
	if len(lines) >= 2*t.most {
		lines = append(lines[:0], lines[len(lines)-t.most+1:]...)
	}
	t.of[key] = append(lines, line)
}

// last are the last n of a run's lines that are kept.
func (t *tails) last(of history.Lines, n int) []string {
	var lines []string
	for _, key := range t.groups {
		if of.Has(key.id, key.holdOff) {
			lines = append(lines, t.of[key]...)
		}
	}
	return lines[max(0, len(lines)-n):]
}
