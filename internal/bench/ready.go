package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// readiness measures, for each kind of check, how long after its endpoint came
// up READY=1 arrives, and when a shell loop has seen it.
func (b *bench) readiness(ctx context.Context) error {
	for range b.rounds {
		delays := map[string]time.Duration{}
		for _, m := range readyMetrics() {
			delays[m.name] = time.Duration(50+b.random.IntN(450)) * time.Millisecond
		}
		if err := b.shellLoops(ctx, delays); err != nil {
			return err
		}
		for _, m := range readyMetrics() {
			after, err := measure(ctx, m.name, delays[m.name], underSvcrun(b.svcrun))
			if err != nil {
				return fmt.Errorf("%s under svcrun: %w", m.name, err)
			}
			b.samples.add(m.key, ours, milliseconds(after))
		}
	}
	return nil
}

// shellLoops measures one loop of each kind, side by side: they sleep.
func (b *bench) shellLoops(ctx context.Context, delays map[string]time.Duration) error {
	all := readyMetrics()
	figures, errs := make([]time.Duration, len(all)), make([]error, len(all))
	var loops sync.WaitGroup
	for n, m := range all {
		loops.Go(func() { figures[n], errs[n] = measure(ctx, m.name, delays[m.name], besideLoop) })
	}
	loops.Wait()
	for n, m := range all {
		if errs[n] != nil {
			return fmt.Errorf("%s beside a shell loop: %w", m.name, errs[n])
		}
		b.samples.add(m.key, shell, milliseconds(figures[n]))
	}
	return nil
}

// writeReadiness writes the table of it.
func writeReadiness(w io.Writer, s samples) {
	rows := [][]string{{"check", "svcrun, ms", "p90", "shell loop, ms", "svcrun ÷ loop", "goal"}}
	for _, m := range readyMetrics() {
		own, loop := s.median(m.key, ours), s.median(m.key, shell)
		p90, _ := percentile(s[m.key][ours], 90)
		rows = append(rows, []string{m.name, figure(own), figure(p90), figure(loop), fmt.Sprintf("%.3f", own/loop), m.limit.judge(own)})
	}
	writeTable(w, rows)
}
