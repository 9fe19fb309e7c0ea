package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// The nice values of a session as a whole, which weighs it against others.
const (
	hurried = -10
	patient = 19
)

// setSessionNice puts a process's session before or behind other work on the
// machine, where this process may. What is measured takes less than a
// millisecond, and would wait longer than that for what else there is.
func setSessionNice(pid, nice int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(strconv.Itoa(nice)), 0)
}

// hurryApart does it for a service whose wrapper has given it a session of its
// own: it is to be weighed like the others.
func hurryApart(pid int) {
	ours, err := unix.Getsid(0)
	if theirs, e := unix.Getsid(pid); err == nil && e == nil && theirs != ours {
		setSessionNice(pid, hurried)
	}
}

// first makes a scenario whose wrappers come before all other work on the
// machine, where this process may: a real-time class, which they inherit from
// this thread and which knows no sessions. It suits what takes a moment now and
// then. It does not suit a count of CPU time, which it raises by moving them
// from one processor to the other.
func first(run func(*bench, context.Context) error) func(*bench, context.Context) error {
	return func(b *bench, ctx context.Context) error {
		before, err := unix.SchedGetAttr(0, 0)
		if err != nil {
			return run(b, ctx)
		}
		realTime := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
		if unix.SchedSetAttr(0, &realTime, 0) == nil {
			defer func() { _ = unix.SchedSetAttr(0, before, 0) }()
		}
		return run(b, ctx)
	}
}

// keepAwake starts one spinner a processor, which gives way to all others: a
// processor that has halted takes longer to wake than what is measured here,
// above all a virtual one.
func (b *bench) keepAwake(ctx context.Context) (stop func(), err error) {
	var spinners []*instance
	stop = func() {
		for _, s := range spinners {
			s.kill()
			s.end()
		}
	}
	for range runtime.NumCPU() {
		s, err := launch(ctx, order{argv: []string{b.programs.service, "spin"}, dir: b.dir, stderr: b.stderr, session: true})
		if err != nil {
			stop()
			return nil, err
		}
		spinners = append(spinners, s)
		// It gives way to all within its session; and its session to all others.
		setSessionNice(s.pid, patient)
	}
	return stop, nil
}
