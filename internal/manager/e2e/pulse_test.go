package e2e

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// pulse tells how busy the machine is, by what every scenario is made of: a
// process that is started and ends.
type pulse struct {
	mu    sync.Mutex
	beats []beat
}

// beat is one such process.
type beat struct {
	begun time.Time
	took  time.Duration
}

// pause is how long there is none.
const pause = 200 * time.Millisecond

// take takes the pulse until the context ends.
func (p *pulse) take(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		if exec.CommandContext(ctx, "/bin/true").Run() == nil {
			p.add(beat{begun, time.Since(begun)})
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (p *pulse) add(b beat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beats = append(p.beats, b)
}

// slowest is how long a process has taken at most that ended after that moment.
func (p *pulse) slowest(since time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var slowest time.Duration
	for _, b := range p.beats {
		if b.begun.Add(b.took).After(since) {
			slowest = max(slowest, b.took)
		}
	}
	return slowest
}

func TestTheSlowestProcessSinceAMomentTellsHowBusyTheMachineIs(t *testing.T) {
	began := time.Now()
	var p pulse
	for i, took := range []time.Duration{9 * time.Second, 2 * time.Second, 3 * time.Second, time.Second} {
		p.add(beat{began.Add(time.Duration(i) * 10 * time.Second), took})
	}
	for since, want := range map[time.Duration]time.Duration{
		0: 9 * time.Second, 8 * time.Second: 9 * time.Second, 9 * time.Second: 3 * time.Second, 25 * time.Second: time.Second, time.Minute: 0,
	} {
		if got := p.slowest(began.Add(since)); got != want {
			t.Errorf("after %v: %v; want %v", since, got, want)
		}
	}
}
