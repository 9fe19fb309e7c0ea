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
		err := d.closeLeftOpen(run, start)
		if errors.Is(err, history.ErrNoRecord) || errors.Is(err, statefile.ErrForeign) {
			err = d.setAside(l, run, err)
		}
		if err != nil && !isHarmless(err) {
			warnings = append(warnings, err)
		}
	}
	return warnings
}

// closeLeftOpen closes a run's record if it is open and its svcrun is gone.
func (d *directory) closeLeftOpen(run int, start time.Time) error {
	data, err := d.readFile(run)
	if err != nil || history.IsClosedRecord(data) {
		return err
	}
	r, err := d.decode(run, data)
	if err != nil || r.Closed() || process(r).Lives() {
		return err
	}
	return d.replace(r.CloseByNextStart(start), process(r), run, false)
}

// setAside sets a file aside that is no record, and says so.
func (d *directory) setAside(l *listing, run int, why error) error {
	if err := statefile.SetAside(d.file(run)); err != nil {
		return fmt.Errorf("%w; it cannot be set aside: %w", why, err)
	}
	l.setAside(run)
	return fmt.Errorf("%w; set aside as %s", why, fileName(run)+statefile.Corrupt)
}

// isHarmless says whether a record that was not read is nobody's concern:
// another start has removed it, or a newer svckit has written it, before
// somebody went back to this one.
func isHarmless(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, history.ErrNewerRecord)
}

// readFile reads the file of a run's record.
func (d *directory) readFile(run int) ([]byte, error) {
	return statefile.Read(d.file(run), history.MaxRecord)
}

// decode decodes a run's record.
func (d *directory) decode(run int, data []byte) (history.Record, error) {
	r, err := history.DecodeRecord(data)
	if err != nil {
		return history.Record{}, fmt.Errorf("%s: %w", d.file(run), err)
	}
	r.Run = run // a copy has the number of its name
	return r, nil
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
