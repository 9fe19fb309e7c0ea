package records

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/svckit/svckit/history"
)

// MaxKept is how many records may be kept.
const MaxKept = 10_000

const (
	// maxReadBytes bounds what Read returns.
	maxReadBytes = 64 << 20

	// maxWarnings is how many records that cannot be read are named.
	maxWarnings = 16
)

// Read reads the records in a state directory, the newest last; none where there
// is no such directory. What cannot be read is left out and named in a warning;
// nothing is changed.
func Read(dir string) (runs []history.Record, warnings []error) {
	d := at(dir, MaxKept)
	l, err := d.list()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		warnings = append(warnings, err)
	}
	unread := 0
	for budget := maxReadBytes; len(l.runs) > 0 && len(runs) < MaxKept && budget > 0; {
		newest := l.runs[len(l.runs)-1]
		l.runs = l.runs[:len(l.runs)-1]
		data, err := d.readFile(newest)
		var r history.Record
		if err == nil {
			r, err = d.decode(newest, data)
		}
		switch {
		case err == nil:
			runs = append(runs, r)
			budget -= len(data)
		case errors.Is(err, fs.ErrNotExist): // a start has removed it in between
		case unread < maxWarnings:
			unread++
			warnings = append(warnings, err)
		default:
			unread++
		}
	}
	if unread > maxWarnings {
		warnings = append(warnings, fmt.Errorf("%s: %d more records cannot be read", d.path, unread-maxWarnings))
	}
	if len(l.runs) > 0 {
		warnings = append(warnings, fmt.Errorf("%s: the oldest %d records are left out", d.path, len(l.runs)))
	}
	slices.Reverse(runs)
	return runs, warnings
}
