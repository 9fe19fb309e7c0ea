package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	watchdogTimeout = time.Second // half of it is the heartbeat's period
	probeEvery      = time.Second
	// idleSettled is how long all are given to have nothing left to do.
	idleSettled = time.Second
)

// atRest is a wrapper at rest.
type atRest struct {
	metric, name string
	instance     *instance
	switches     int64 // of all its threads
}

// idleness watches one of each at the same time: none of them does anything
// that could disturb another.
func (b *bench) idleness(ctx context.Context) error {
	all := &group{}
	defer all.end()
	endpoint, err := newHealth()
	if err != nil {
		return err
	}
	defer endpoint.close()
	who, err := b.idlers(ctx, all, endpoint)
	if err != nil {
		return err
	}
	beating := who[slices.IndexFunc(who, func(w atRest) bool { return w.metric == "idle.heartbeat" })]
	if _, err := beating.instance.manager.heartbeats(ctx, idleSettled); err != nil {
		return err
	}
	before, probes := slices.Clone(who), endpoint.probes.Load()
	if err := readSwitches(before); err != nil {
		return err
	}
	beats, err := beating.instance.manager.heartbeats(ctx, b.idle)
	if err != nil {
		return err
	}
	if err := readSwitches(who); err != nil {
		return err
	}
	events := map[string]int64{"idle": 1, "idle.heartbeat": beats, "idle.probe": endpoint.probes.Load() - probes}
	for n, w := range who {
		if events[w.metric] == 0 {
			return fmt.Errorf("%s: nothing has happened in %v", w.metric, b.idle)
		}
		b.samples.add(w.metric, w.name, float64(w.switches-before[n].switches)/float64(events[w.metric]))
	}
	return nil
}

func readSwitches(who []atRest) (err error) {
	for n := range who {
		if who[n].switches, err = switches(who[n].instance.pid); err != nil {
			return fmt.Errorf("%s: %w", who[n].name, err)
		}
	}
	return nil
}

// idlers starts one of each, and svcrun with a heartbeat and with a probe too.
func (b *bench) idlers(ctx context.Context, all *group, endpoint *health) (who []atRest, err error) {
	start := func(metric string, c contender, u use) error {
		u.nth = len(who)
		if err := all.add(b.launch(ctx, c, u)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		who = append(who, atRest{metric: metric, name: c.name, instance: all.instances[len(all.instances)-1]})
		return nil
	}
	for _, c := range b.contenders {
		if !isWrapper(c) {
			continue
		}
		if err := start("idle", c, use{prefix: c.plain}); err != nil {
			return nil, err
		}
	}
	svcrun := b.own()
	if err := start("idle.heartbeat", svcrun, use{
		prefix: []string{b.svcrun, "--live=file:/,interval=1h", "--"},
		env:    []string{fmt.Sprintf("WATCHDOG_USEC=%d", watchdogTimeout.Microseconds())},
	}); err != nil {
		return nil, err
	}
	err = start("idle.probe", svcrun, use{
		prefix: []string{b.svcrun, fmt.Sprintf("--live=%s,interval=%v", endpoint.url(0), probeEvery), "--"},
	})
	return who, err
}

// heartbeats counts the heartbeats that arrive within d.
func (m *manager) heartbeats(ctx context.Context, d time.Duration) (beats int64, err error) {
	const slice = 100 * time.Millisecond
	for until := now() + d; now() < until; {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if readable(m.fd, min(slice, until-now())) != nil {
			continue // nothing came
		}
		message, _, err := m.receive(answerLimit)
		if err != nil {
			return 0, err
		}
		if bytes.Contains(message, []byte("WATCHDOG=1")) {
			beats++
		}
	}
	return beats, nil
}
