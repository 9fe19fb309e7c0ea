package supervise

import (
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/supervise/machine"
)

// recordWait is what a disk that hangs can cost at the end of a run. It fits
// into what a unit of svcgen's spares for svcrun beside the service.
const recordWait = time.Second

// recorder writes the record of the run; the loop never waits for it.
type recorder interface {
	// Note takes the record as it is now, and returns at once.
	Note(history.Record)
	// Close writes the final one for good, in at most wait.
	Close(final history.Record, wait time.Duration) error
}

// note writes the record of the run down, where there is a place for it.
func (s *service) note(r history.Record) {
	if s.recorder != nil {
		s.recorder.Note(s.signed(r))
	}
}

// closeRecord writes the final one.
func (s *service) closeRecord(r history.Record) {
	if s.recorder == nil {
		return
	}
	if err := s.recorder.Close(s.signed(r), recordWait); err != nil {
		s.o.Log(machine.Warning, err.Error())
	}
}

// signed adds to a record whose it is.
func (s *service) signed(r history.Record) history.Record {
	r.Schema = history.RecordSchema
	r.Name, r.Version = s.o.Name, s.o.Version
	r.InvocationID = Variable(s.o.Environ, "INVOCATION_ID")
	return r
}

// forget ends the memory of runs that failed.
func (s *service) forget() {}
