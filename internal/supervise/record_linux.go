package supervise

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/records"
	"github.com/svckit/svckit/internal/restarts"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// This file is what outlasts a run: its record, and how it failed.

// recordWait is what a disk that hangs can cost at the end of a run. It fits
// into what a unit of svcgen's spares for svcrun beside the service.
const recordWait = time.Second

// note writes the record of the run down. The first one comes when the child
// has been started: nothing of this is in its way.
func (s *service) note(r history.Record) {
	if s.recorder == nil {
		s.recorder = records.Open(s.o.StateDir, s.o.History, s.warn)
	}
	s.recorder.Note(s.signed(r))
}

// signed adds to a record whose it is.
func (s *service) signed(r history.Record) history.Record {
	r.Schema = history.RecordSchema
	r.Name, r.Version = s.o.Name, s.o.Version
	r.InvocationID = Variable(s.o.Environ, "INVOCATION_ID")
	return r
}

// closeRun writes down how the run has ended, for svcstat and for the next start.
func (s *service) closeRun(outcome machine.Outcome) {
	s.log(s.recorder.Close(s.signed(outcome.Record), recordWait))
	if s.o.StartDelay.Enabled() {
		s.forgetful(s.closeSeries(outcome))
	}
	for {
		select {
		case err := <-s.warnings:
			s.log(err)
		default:
			return
		}
	}
}

// closeSeries counts a run that has failed, or forgets those before it.
func (s *service) closeSeries(outcome machine.Outcome) error {
	if s.forgotten != nil {
		<-s.forgotten // within a second: restarts waits no longer for a disk
	}
	if outcome.Failed && !outcome.Requested {
		return restarts.Fail(s.o.RuntimeDir, s.o.StartDelay.Storm)
	}
	return restarts.Clear(s.o.RuntimeDir)
}

// holdBack decides how long the start is held back for the runs that failed
// before it.
func (s *service) holdBack() machine.Hold {
	if !s.o.StartDelay.Enabled() {
		return machine.Hold{}
	}
	held, err := restarts.Hold(s.o.RuntimeDir, s.o.StartDelay, rand.Int64N)
	s.forgetful(err)
	if held.Total() > 0 {
		s.o.Log(machine.Notice, "start held back for "+syntax.FormatDuration(held.Total().Round(time.Millisecond))+": "+held.String())
	}
	return machine.Hold{Pause: held.Pause, Delay: held.Delay, Reason: held.String()}
}

// forgetful warns once that failed runs are not remembered.
func (s *service) forgetful(err error) {
	if err != nil && !s.muted[restarts.FileName] {
		s.muted[restarts.FileName] = true
		s.log(fmt.Errorf("cannot remember failed runs: %w", err))
	}
}

// forget ends the memory of runs that failed, beside the loop. Once is enough:
// the next that can fail is this run.
func (s *service) forget() {
	if !s.o.StartDelay.Enabled() || s.forgotten != nil {
		return
	}
	s.forgotten = make(chan struct{})
	go func() {
		defer close(s.forgotten)
		_, _ = restarts.Forget(s.o.RuntimeDir) // the end of the run will have the same to say
	}()
}

// warn has the loop warn of something that went wrong beside it. The first few
// are told; more would be of the same.
func (s *service) warn(err error) {
	select {
	case s.warnings <- err:
	default:
	}
}

// log warns of an error, if it is one.
func (s *service) log(err error) {
	if err != nil {
		s.o.Log(machine.Warning, err.Error())
	}
}
