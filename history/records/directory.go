package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/statefile"
)

// attempts bounds the search for a free number.
const attempts = 64

// directory is the records of one service, as this process keeps them.
type directory struct {
	path string
	keep int               // records
	self statefile.Process // this one, once a run has begun
}

// at is the records in a state directory.
func at(dir string, keep int) *directory {
	return &directory{path: filepath.Join(dir, "runs"), keep: keep}
}

// begin is disk's: it gives a run its number and writes its record. Before, it
// closes the records of runs that nobody has ended, and removes the oldest. What
// of that fails is a warning.
func (d *directory) begin(r history.Record) (run int, warnings []error, err error) {
	d.self, err = statefile.Self()
	if err != nil {
		warnings = append(warnings, err) // the next start will take this run for dead, which by then it is
	}
	if err := d.make(); err != nil {
		return 0, warnings, err
	}
	statefile.Sweep(d.path)
	l, err := d.list()
	if err != nil && !errors.Is(err, statefile.ErrTooMany) {
		return 0, warnings, err
	} else if err != nil {
		warnings = append(warnings, err)
	}
	warnings = append(warnings, d.review(&l, r.Begun)...)
	warnings = append(warnings, d.prune(l, d.keep-1)...) // first, as it makes room on a disk that is full
	run, err = d.create(r, l.last()+1)
	return run, warnings, err
}

// make makes the directory. Who may look into it is decided by the one that it
// is in, and not by the service's umask.
func (d *directory) make() error {
	if info, err := os.Stat(d.path); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(d.path, 0o755); err != nil {
		return err
	}
	return os.Chmod(d.path, 0o755)
}

// create writes the record of a new run, under the first free number.
func (d *directory) create(r history.Record, run int) (int, error) {
	for last := run + attempts; run < last && run <= maxRun; run++ {
		data, err := encode(r, d.self, run)
		if err != nil {
			return 0, err
		}
		switch err := statefile.Create(d.file(run), data); {
		case err == nil:
			return run, nil
		case !errors.Is(err, fs.ErrExist):
			return 0, err
		}
	}
	return 0, fmt.Errorf("%s: no number is free for the record of this run", d.path)
}

// write is disk's: it replaces the record of a run of this process.
func (d *directory) write(r history.Record, run int, sync bool) error {
	return d.replace(r, d.self, run, sync)
}

// replace replaces the record of a run of some process.
func (d *directory) replace(r history.Record, of statefile.Process, run int, sync bool) error {
	data, err := encode(r, of, run)
	if err != nil {
		return err
	}
	err = statefile.Write(d.file(run), data, sync)
	if errors.Is(err, fs.ErrNotExist) && d.make() == nil { // somebody has tidied up
		err = statefile.Write(d.file(run), data, sync)
	}
	return err
}

// encode writes a record down with the number and the process of its run.
func encode(r history.Record, of statefile.Process, run int) ([]byte, error) {
	r.Run, r.BootID, r.PID, r.Ticks = run, of.BootID, of.PID, of.Ticks
	return history.EncodeRecord(r)
}
