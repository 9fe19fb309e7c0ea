package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// options are the command line.
type options struct {
	svcrun  string
	svcgen  string
	svcstat string
	rounds  int
	seed    uint64
	only    []string      // scenarios; empty is all
	many    int           // wrappers at once
	entries int           // of the journal that svcstat reads
	age     time.Duration // how long they have run before they are stopped
	idle    time.Duration // how long they are watched at rest
	gate    bool          // a missed goal is a failure
	loud    bool          // what the wrappers say is shown
}

// bench is one run.
type bench struct {
	options
	dir        string // scratch, removed at the end
	programs   programs
	contenders []contender
	missing    []string // what is left out, and how to get it
	random     *rand.Rand
	samples    samples
	stderr     *os.File // of the wrappers
}

// scenario is something that is measured.
type scenario struct {
	name string
	run  func(*bench, context.Context) error
}

// scenarios are in the order in which they are run.
func scenarios() []scenario {
	return []scenario{
		{"ready", (*bench).readiness},
		{"start", first(interleaved(2, canRun, (*bench).start))},
		{"exit", first(aged(canEnd, plainly, (*bench).exit))},
		{"stop", first(aged(canRun, plainly, (*bench).stop))},
		{"grace", first(aged(canKill, stubbornly, (*bench).killed))},
		{"relay", interleaved(1, canRelay, (*bench).relay)},
		{"memory", (*bench).memory},
		{"idle", (*bench).idleness},
		{"generator", (*bench).generators},
		{"history", (*bench).histories},
	}
}

// newBench builds and finds what is to be measured.
func newBench(ctx context.Context, o options) (*bench, error) {
	dir, err := os.MkdirTemp("", "svckit-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, dir: dir, samples: samples{}, stderr: os.Stderr}
	b.random = b.newRandom()
	if err := b.prepare(ctx); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

// newRandom is a run's dice.
func (b *bench) newRandom() *rand.Rand { return rand.New(rand.NewPCG(b.seed, 0)) }

func (b *bench) prepare(ctx context.Context) error {
	if !b.loud {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		b.stderr = null
	}
	svcrun := filepath.Join(b.dir, "svcrun")
	if err := copyProgram(b.svcrun, svcrun); err != nil {
		return fmt.Errorf("svcrun: %w; make build builds it", err)
	}
	b.svcrun = svcrun
	var err error
	if b.programs, err = buildPrograms(ctx, b.dir); err != nil {
		return err
	}
	b.contenders, b.missing = assemble(b.programs, b.svcrun)
	return nil
}

func (b *bench) close() {
	if b.stderr != os.Stderr {
		_ = b.stderr.Close()
	}
	_ = os.RemoveAll(b.dir)
}

// run measures, scenario by scenario.
func (b *bench) run(ctx context.Context, progress func(scenario string)) error {
	// Wrappers die with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, s := range scenarios() {
		if len(b.only) > 0 && !slices.Contains(b.only, s.name) {
			continue
		}
		progress(s.name)
		if err := s.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// interleaved makes a scenario in which each contender that can is measured
// once a round, in a new order each time. Rounds may be many times as many for
// what is short and small.
func interleaved(times int, can func(contender) bool, measure func(*bench, context.Context, contender) error) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		return b.eachRound(ctx, times, can, func(_ int, c contender) error { return measure(b, ctx, c) })
	}
}

// aged makes a scenario of wrappers that have run for a while, as those have
// that are stopped in earnest: s6-supervise holds back what ends in its first
// second, and svcrun waits for the manager if READY=1 is only just out. They
// grow old together, and are then measured as in interleaved.
func aged(
	can func(contender) bool, how func(contender) use, measure func(*bench, contender, *instance) error,
) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		all := &group{}
		defer all.end()
		launched := map[string][]*instance{}
		err := b.eachRound(ctx, 1, can, func(_ int, c contender) error {
			u := how(c)
			u.nth = len(all.instances)
			err := all.add(b.launch(ctx, c, u))
			if err == nil {
				launched[c.name] = append(launched[c.name], all.instances[u.nth])
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := pause(ctx, b.age); err != nil {
			return err
		}
		return b.eachRound(ctx, 1, can, func(round int, c contender) error {
			i := launched[c.name][round]
			defer i.manager.attend(ignore)()
			return measure(b, c, i)
		})
	}
}

// eachRound calls do for each contender that can, once a round, in a new order
// each time.
func (b *bench) eachRound(ctx context.Context, times int, can func(contender) bool, do func(round int, c contender) error) error {
	stop, err := b.keepAwake(ctx)
	if err != nil {
		return err
	}
	defer stop()
	who := slices.DeleteFunc(slices.Clone(b.contenders), func(c contender) bool { return !can(c) })
	for round := range b.rounds * times {
		b.random.Shuffle(len(who), func(i, j int) { who[i], who[j] = who[j], who[i] })
		for _, c := range who {
			if err := do(round, c); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
