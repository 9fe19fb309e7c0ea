package manager

import (
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/timeline"
)

// reader is who reads a time line, or does not.
type reader struct {
	reads chan error // one for each write
	mu    sync.Mutex
	text  strings.Builder
}

func (r *reader) Write(text []byte) (int, error) {
	err := <-r.reads
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(text)
	return len(text), err
}

func note(text string) timeline.Event { return timeline.Event{Name: timeline.Note, Text: text} }

func TestLinesWaitForAReaderAndEventsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{reads: make(chan error)}
		f := newFeed(r, timeline.NewWriter(timeline.Style{}, time.Time{}, nil))
		lines := 0
		go func() {
			for range 3 * maxLines {
				f.line(note("a line"))
				lines++
			}
		}()
		synctest.Wait()
		if lines > 2*maxLines { // those being written, and those that wait
			t.Errorf("%d lines were taken that nobody reads", lines)
		}
		for range 2 * maxEvents {
			f.tell(note("an event"))
		}
		close(r.reads)
		synctest.Wait()
		f.close(time.Minute)
		text := r.text.String()
		if lines != 3*maxLines || !strings.Contains(text, ", as they came faster than they were read\n") {
			t.Errorf("%d lines; the time line ends in %q", lines, text[max(0, len(text)-200):])
		}
	})
}

func TestAReaderThatGoesIsToldOfAndNobodyWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{reads: make(chan error)}
		f := newFeed(r, timeline.NewWriter(timeline.Style{}, time.Time{}, nil))
		go func() {
			for range 10 * maxLines {
				f.line(note("a line"))
			}
		}()
		synctest.Wait()
		r.reads <- &os.PathError{Op: "write", Path: "pipe", Err: unix.EPIPE}
		<-f.gone
		f.tell(note("an event"))
		f.close(time.Minute)
	})
}

func TestAFullDiskStopsNothingAndWhatIsLostIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{reads: make(chan error)}
		f := newFeed(r, timeline.NewWriter(timeline.Style{}, time.Time{}, nil))
		for _, err := range []error{unix.ENOSPC, unix.EIO, nil} {
			f.tell(note("an event"))
			r.reads <- err
		}
		synctest.Wait()
		select {
		case <-f.gone:
			t.Error("the reader counts as gone")
		default:
		}
		close(r.reads)
		f.close(time.Minute)
		if text := r.text.String(); !strings.Contains(text, "events left out here: 2, as they could not be written\n") {
			t.Errorf("%q", text)
		}
	})
}

func TestALineThatAFullDiskHasCutIsNotGluedToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		full := true
		f := newFeed(writer(func(p []byte) (int, error) {
			if full {
				full = false
				n, _ := text.Write(p[:len(p)/2])
				return n, unix.ENOSPC
			}
			return text.Write(p)
		}), timeline.NewWriter(timeline.Style{}, time.Time{}, nil))
		for _, event := range []string{"the first event", "the second one", "the third one"} {
			f.tell(note(event))
			synctest.Wait()
		}
		f.close(time.Minute)
		var words []string
		for line := range strings.Lines(text.String()) {
			_, said, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "svcgen  ")
			words = append(words, said)
		}
		if got, want := strings.Join(words[1:], "|"), "events left out here: 1, as they could not be written|the second one|the third one"; got != want {
			t.Errorf("%q; want a cut line, and %q", words, want)
		}
	})
}

func TestADescriptorThatWouldBlockIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		tries := 0
		f := newFeed(writer(func(p []byte) (int, error) {
			if tries++; tries < 10 {
				text.Write(p[:1])
				return 1, unix.EAGAIN
			}
			return text.Write(p)
		}), timeline.NewWriter(timeline.Style{}, time.Time{}, nil))
		f.tell(note("an event that is not read at once"))
		f.close(time.Minute)
		if !strings.HasSuffix(text.String(), "  an event that is not read at once\n") || strings.Count(text.String(), "\n") != 1 {
			t.Errorf("%q", text.String())
		}
	})
}

// writer is a function that is an io.Writer.
type writer func([]byte) (int, error)

func (w writer) Write(text []byte) (int, error) { return w(text) }

func TestAReaderThatIsStuckHoldsTheEndUpForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reader{reads: make(chan error)}
		f := newFeed(r, timeline.NewWriter(timeline.Style{}, time.Time{}, nil))
		f.tell(note("last words"))
		began := time.Now()
		f.close(lastWords)
		if took := time.Since(began); took != lastWords {
			t.Errorf("the end took %v; want %v", took, lastWords)
		}
		close(r.reads)
	})
}
