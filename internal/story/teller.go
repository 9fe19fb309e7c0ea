package story

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// The journal tells a line some milliseconds after it was written: lines wait
// that long for others that belong before them.
const (
	settleTime = time.Second
	tellEvery  = 100 * time.Millisecond
)

// teller puts lines of several sources into the order of their time.
type teller struct {
	tell func(Line)

	mu      sync.Mutex
	waiting []Line
	closed  bool
}

// newTeller tells lines until ctx ends.
func newTeller(ctx context.Context, tell func(Line)) *teller {
	t := &teller{tell: tell}
	go func() {
		ticker := time.NewTicker(tellEvery)
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				t.tellUntil(now.Add(-settleTime))
			case <-ctx.Done():
				t.close()
				return
			}
		}
	}()
	return t
}

// add takes a line.
func (t *teller) add(l Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.waiting = append(t.waiting, l)
	}
}

// tellUntil tells what happened before then.
func (t *teller) tellUntil(then time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.waiting, func(a, b Line) int { return cmp.Compare(a.At.UnixMicro(), b.At.UnixMicro()) })
	for len(t.waiting) > 0 && t.waiting[0].At.Before(then) && !t.closed {
		t.tell(t.waiting[0])
		t.waiting = t.waiting[1:]
	}
}

// flush tells all that waits.
func (t *teller) flush() { t.tellUntil(time.Now().Add(time.Hour)) }

// close ends telling: nothing is told afterwards.
func (t *teller) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}
