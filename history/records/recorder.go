package records

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/svckit/svckit/history"
)

// Recorder writes down one run of this process. It does so by itself: whoever
// has something to be noted goes on at once.
//
// It belongs to one goroutine. A nil Recorder records nothing.
type Recorder struct {
	disk disk
	dir  string
	warn func(error)
	said map[string]bool // kinds of errors that were warned of

	run     int           // its number; 0 until its record is there
	pace    pace          // of what is written while the run lasts
	next    chan job      // what is to be written; the newest
	closing chan struct{} // the final record comes
	ended   chan struct{} // it has been dealt with
	err     error         // why it is not there; to be read once ended is closed
}

// disk is where records go.
type disk interface {
	// begin gives the run its number and writes its first record.
	begin(r history.Record) (run int, warnings []error, err error)
	// write replaces the record of a run; with sync, for good.
	write(r history.Record, run int, sync bool) error
}

// job is a record to be written.
type job struct {
	record history.Record
	final  bool
}

// Open returns the recorder of a run in a state directory, which keeps the
// records of so many runs; nil where there is no directory or none are kept. It
// waits for nothing: the directory is looked at when the first record comes.
//
// What goes wrong is handed to warn, each kind once, by a goroutine of the
// recorder's.
func Open(dir string, keep int, warn func(error)) *Recorder {
	if dir == "" || keep <= 0 {
		return nil
	}
	return newRecorder(at(dir, min(keep, MaxKept)), dir, warn)
}

func newRecorder(disk disk, dir string, warn func(error)) *Recorder {
	r := &Recorder{
		disk: disk, dir: dir, warn: warn, said: map[string]bool{},
		next: make(chan job, 1), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	go r.work()
	return r
}

// Note has a record be written, in the place of one that still waits for a slow
// disk. The caller leaves the record as it is from then on; its number and its
// process are filled in here.
func (r *Recorder) Note(record history.Record) {
	if r != nil {
		r.put(job{record: record})
	}
}

// put replaces what waits. It never waits itself, as it is the only one to put.
func (r *Recorder) put(j job) {
	select {
	case <-r.next:
	default:
	}
	r.next <- j
}

// Close has the record of the whole run be written for good, and waits a
// bounded time for that. Its error says why the record is not there, and is not
// handed to warn. The recorder can't be used any more.
func (r *Recorder) Close(final history.Record, wait time.Duration) error {
	if r == nil {
		return nil
	}
	r.put(job{final, true})
	close(r.closing)
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-r.ended:
		return r.err
	case <-late.C:
		return fmt.Errorf("%s: the disk has not taken the record of this run within %v", r.dir, wait)
	}
}

// work writes what there is to write, until the run has ended.
func (r *Recorder) work() {
	defer close(r.ended)
	for j := range r.next {
		err := r.store(j)
		if j.final {
			r.err = err
			return
		}
		r.tell(err)
		r.rest()
	}
}

// store writes one record, the first one under a new number.
func (r *Recorder) store(j job) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write the run record: %w", err)
		}
	}()
	if r.run == 0 {
		run, warnings, err := r.disk.begin(j.record)
		for _, w := range warnings {
			r.tell(w)
		}
		if err != nil {
			return err
		}
		if r.run = run; !j.final {
			return nil
		}
	}
	return r.disk.write(j.record, r.run, j.final)
}

// rest waits until there may be another write, or the run has ended.
func (r *Recorder) rest() {
	wait := time.NewTimer(r.pace.next(time.Now()))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-r.closing:
	}
}

// tell warns of an error whose kind it has not warned of yet: the system's, or
// where it has none what the error says.
func (r *Recorder) tell(err error) {
	if err == nil {
		return
	}
	kind := err.Error()
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		kind = errno.Error()
	}
	if !r.said[kind] {
		r.said[kind] = true
		r.warn(err)
	}
}

// pace bounds how often a record is written: a service may reload in a loop.
type pace struct{ due time.Time }

const (
	paceBurst = 32          // writes that may come at once
	paceEvery = time.Second // one more
)

// next counts a write, and says how long the one after it has to wait.
func (p *pace) next(now time.Time) time.Duration {
	if earliest := now.Add(-paceBurst * paceEvery); p.due.Before(earliest) {
		p.due = earliest
	}
	p.due = p.due.Add(paceEvery)
	return p.due.Sub(now)
}
