package manager

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/timeline"
)

const (
	// maxLines is how many lines of services wait to be written: a service that
	// prints faster than the terminal reads waits with them.
	maxLines = 64

	// maxEvents is how many events wait in all: those of the manager's own wait
	// for nobody, and what comes on top is counted and left out.
	maxEvents = 1024
)

// feed is the time line on its way out: events in, in one order, and lines out.
// One goroutine writes, so that a terminal that does not read keeps nobody but
// services that print from what they do.
type feed struct {
	out    io.Writer
	writer *timeline.Writer
	torn   bool          // the last line that was written has no end
	gone   chan struct{} // closed when nobody reads any more
	done   chan struct{} // closed when all is written after close

	mu       sync.Mutex
	changed  *sync.Cond
	queue    []timeline.Event
	left     int // out
	closed   bool
	deserted bool
}

// newFeed starts a feed.
func newFeed(out io.Writer, writer *timeline.Writer) *feed {
	f := &feed{out: out, writer: writer, gone: make(chan struct{}), done: make(chan struct{})}
	f.changed = sync.NewCond(&f.mu)
	go f.run()
	return f
}

// tell adds an event of the manager's own, without waiting.
func (f *feed) tell(e timeline.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) >= maxEvents {
		f.left++
		return
	}
	f.add(e)
}

// line adds a line of a service's, when there is room.
func (f *feed) line(e timeline.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) >= maxLines && !f.deserted {
		f.changed.Wait()
	}
	f.add(e)
}

func (f *feed) add(e timeline.Event) {
	if !f.deserted {
		f.queue = append(f.queue, e)
		f.changed.Broadcast()
	}
}

// close ends the feed when all is written, or after some time.
func (f *feed) close(patience time.Duration) {
	f.mu.Lock()
	f.closed = true
	f.changed.Broadcast()
	f.mu.Unlock()
	select {
	case <-f.done:
	case <-time.After(patience):
	}
}

// run writes what comes.
func (f *feed) run() {
	defer close(f.done)
	var text []byte
	lost := 0 // events
	for more := true; more; {
		var events []timeline.Event
		events, more = f.take()
		text = text[:0]
		if f.torn && len(events) > 0 {
			text = append(text, '\n')
		}
		if lost > 0 && len(events) > 0 {
			text = f.writer.Append(text, leftOut(events[0].Time, lost, "could not be written"))
		}
		for _, e := range events {
			text = f.writer.Append(text, e)
		}
		switch err := f.write(text); {
		case err == nil:
			lost = 0
		case errors.Is(err, unix.EPIPE):
			f.desert()
			return
		default: // a full disk: the services go on, and the time line when it can
			lost += len(events)
		}
	}
}

// busyWait is how long the reader of a descriptor that does not block is given:
// whoever shares it may have made it one.
const busyWait = 10 * time.Millisecond

// write writes all of a text.
func (f *feed) write(text []byte) error {
	for len(text) > 0 {
		n, err := f.out.Write(text)
		if n > 0 {
			f.torn = text[n-1] != '\n'
		}
		text = text[n:]
		switch {
		case errors.Is(err, unix.EAGAIN):
			<-time.After(busyWait)
		case err != nil:
			return err
		}
	}
	return nil
}

// take waits for events; more is false after the last ones.
func (f *feed) take() (events []timeline.Event, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.closed {
		f.changed.Wait()
	}
	events, f.queue = f.queue, nil
	if f.left > 0 && len(events) > 0 {
		events = append(events, leftOut(events[len(events)-1].Time, f.left, "came faster than they were read"))
		f.left = 0
	}
	f.changed.Broadcast()
	return events, !f.closed || len(events) > 0
}

// leftOut is the event that tells of events that are not in the time line.
func leftOut(at time.Time, count int, why string) timeline.Event {
	return timeline.Event{Time: at, Name: timeline.Note, Text: fmt.Sprintf("events left out here: %d, as they %s", count, why)}
}

// desert has what comes from now on be forgotten: the reader has gone.
func (f *feed) desert() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deserted, f.queue = true, nil
	f.changed.Broadcast()
	close(f.gone)
}
