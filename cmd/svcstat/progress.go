package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// progressAfter is how long a scan may take without a word.
const progressAfter = time.Second

// progress tells on a terminal how far a long scan is, in a line that it writes
// over and takes away at the end.
type progress struct {
	entries atomic.Int64
	stop    chan struct{}
	stopped chan struct{}
}

// startProgress begins to count. The caller ends it.
func startProgress(w io.Writer) *progress {
	p := &progress{stop: make(chan struct{}), stopped: make(chan struct{})}
	go p.tell(w)
	return p
}

func (p *progress) tell(w io.Writer) {
	defer close(p.stopped)
	ticker := time.NewTicker(progressAfter)
	defer ticker.Stop()
	told := false
	for {
		select {
		case <-ticker.C:
			told = true
			fmt.Fprint(w, progressLine(p.entries.Load()))
		case <-p.stop:
			if told {
				fmt.Fprint(w, progressGone)
			}
			return
		}
	}
}

// end ends the line.
func (p *progress) end() {
	close(p.stop)
	<-p.stopped
}
