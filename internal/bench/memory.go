package main

import (
	"context"
	"fmt"
	"time"
)

// settled is how long a wrapper is given to come to rest before it is weighed.
const settled = 200 * time.Millisecond

// memory weighs one wrapper, and then many of the kind at once. It needs no
// rounds: the figures move by a few KiB.
func (b *bench) memory(ctx context.Context) error {
	for _, c := range b.contenders {
		if !isWrapper(c) {
			continue
		}
		for _, n := range []int{1, b.many} {
			metric := map[bool]string{true: "memory.one", false: "memory.many"}[n == 1]
			kib, err := b.weigh(ctx, c, n, func(int) []string { return c.plain }, nothing)
			if err != nil {
				return fmt.Errorf("%d of %s: %w", n, c.name, err)
			}
			b.samples.add(metric, c.name, kib)
		}
	}
	return b.memoryWithCheck(ctx)
}

// memoryWithCheck weighs many of svcrun, each with a live check of its own that
// has been probed already.
func (b *bench) memoryWithCheck(ctx context.Context) error {
	endpoint, err := newHealth()
	if err != nil {
		return err
	}
	defer endpoint.close()
	svcrun := b.own()
	kib, err := b.weigh(ctx, svcrun, b.many, func(n int) []string {
		return []string{b.svcrun, fmt.Sprintf("--live=%s,interval=10s", endpoint.url(n)), "--"}
	}, func(ctx context.Context) error { return endpoint.allProbed(ctx, b.many) })
	if err != nil {
		return fmt.Errorf("%d of %s with a check: %w", b.many, svcrun.name, err)
	}
	b.samples.add("memory.check", svcrun.name, kib)
	return nil
}

// nothing more is to be waited for.
func nothing(context.Context) error { return nil }

// weigh is what each of n wrappers costs, in the mean.
func (b *bench) weigh(ctx context.Context, c contender, n int, prefix func(nth int) []string, ready func(context.Context) error) (float64, error) {
	all := &group{}
	defer all.end()
	for nth := range n {
		if err := all.add(b.launch(ctx, c, use{prefix: prefix(nth), nth: nth})); err != nil {
			return 0, err
		}
	}
	if err := ready(ctx); err != nil {
		return 0, err
	}
	if err := pause(ctx, settled); err != nil {
		return 0, err
	}
	var sum int64
	for _, i := range all.instances {
		kib, err := memoryKiB(i.pid)
		if err != nil {
			return 0, err
		}
		sum += kib
	}
	return float64(sum) / float64(n), nil
}

// group is several wrappers at once.
type group struct{ instances []*instance }

// add takes one that has just been launched, when its service runs.
func (g *group) add(i *instance, err error) error {
	if err != nil {
		return err
	}
	g.instances = append(g.instances, i)
	_, err = i.begin()
	return err
}

// end ends all of them side by side.
func (g *group) end() {
	for _, i := range g.instances {
		i.dismiss()
	}
	deadline := now() + endLimit
	for _, i := range g.instances {
		i.endBy(deadline)
	}
}
