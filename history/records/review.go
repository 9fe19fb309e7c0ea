package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/statefile"
)

const (
	// reviewed is how many of the newest records a start looks into for one
	// that was left open. It is the newest, unless two share the directory.
	reviewed = 4

	// keptCorrupt is how many files are kept that could not be read.
	keptCorrupt = 8
)

// review looks into the newest records: it sets aside what cannot be read, and
// closes those whose svcrun was killed before this start.
func (d *directory) review(l *listing, start time.Time) (warnings []error) {
	for _, run := range slices.Clone(l.runs[max(0, len(l.runs)-reviewed):]) {
		r, _, err := d.read(run)
		switch {
		case err == nil && !r.Closed() && !process(r).Lives():
			err = d.replace(r.CloseByNextStart(start), process(r), run, false)
		case errors.Is(err, history.ErrNoRecord), errors.Is(err, statefile.ErrForeign):
			if failed := statefile.SetAside(d.file(run)); failed != nil {
				err = fmt.Errorf("%w; it cannot be set aside: %w", err, failed)
				break
			}
			l.setAside(run)
			err = fmt.Errorf("%w; set aside as %s", err, fileName(run)+statefile.Corrupt)
		}
		if err != nil && !isHarmless(err) {
			warnings = append(warnings, err)
		}
	}
	return warnings
}

// isHarmless says whether a record that was not read is nobody's concern:
// another start has removed it, or a newer svckit has written it, before
// somebody went back to this one.
func isHarmless(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, history.ErrNewerRecord)
}

// read reads a run's record, and says how many bytes it has.
func (d *directory) read(run int) (r history.Record, size int, err error) {
	data, err := statefile.Read(d.file(run), history.MaxRecord)
	if err != nil {
		return history.Record{}, 0, err
	}
	if r, err = history.DecodeRecord(data); err != nil {
		return history.Record{}, 0, fmt.Errorf("%s: %w", d.file(run), err)
	}
	r.Run = run // a copy has the number of its name
	return r, len(data), nil
}

// process is the svcrun that has written a record.
func process(r history.Record) statefile.Process {
	return statefile.Process{BootID: r.BootID, PID: r.PID, Ticks: r.Ticks}
}

// prune removes the oldest records until so many are left, and likewise what was
// set aside.
func (d *directory) prune(l listing, keep int) (warnings []error) {
	remove := func(path string) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			warnings = append(warnings, err)
		}
	}
	for _, run := range l.runs[:max(0, len(l.runs)-keep)] {
		remove(d.file(run))
	}
	for _, run := range l.corrupt[:max(0, len(l.corrupt)-keptCorrupt)] {
		remove(d.file(run) + statefile.Corrupt)
	}
	return warnings
}
