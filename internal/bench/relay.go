package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	relayed      = 40                    // messages a round
	messageEvery = 2 * time.Millisecond  // after the one before has arrived
	relayRest    = 10 * time.Millisecond // for a wrapper to come to rest once its service runs
)

// relay measures how long a child's status takes to the manager, and the CPU
// time that the wrapper needs for it.
func (b *bench) relay(ctx context.Context, c contender) error {
	if c.message != nil {
		return b.messages(ctx, c)
	}
	i, err := b.launch(ctx, c, use{prefix: c.relay, notify: true})
	if err != nil {
		return err
	}
	defer i.end()
	if _, err := i.begin(); err != nil {
		return err
	}
	if err := pause(ctx, relayRest); err != nil {
		return err
	}
	before, err := cpuTime(i.pid)
	if err != nil {
		return err
	}
	ages, err := i.statuses(ctx)
	if err != nil {
		return err
	}
	after, err := cpuTime(i.pid)
	if err != nil {
		return err
	}
	middle, _ := percentile(ages, 50)
	b.samples.add("relay", c.name, microseconds(middle))
	if c.name != direct {
		b.samples.add("relay.cpu", c.name, microseconds(after-before)/relayed)
	}
	return nil
}

// statuses has the service tell its status again and again: how old each was
// when the manager had it.
func (i *instance) statuses(ctx context.Context) (ages []time.Duration, err error) {
	for range relayed {
		if err := i.tell(tellStatus); err != nil {
			return nil, err
		}
		age, err := i.manager.status()
		if err != nil {
			return nil, err
		}
		ages = append(ages, age)
		if err := pause(ctx, messageEvery); err != nil {
			return nil, err
		}
	}
	return ages, nil
}

// messages does the same with a process for each message, as scripts do.
func (b *bench) messages(ctx context.Context, c contender) error {
	const each = 5
	m, err := newManager(filepath.Join(b.dir, "manager-0"))
	if err != nil {
		return err
	}
	defer m.close()
	var ages []time.Duration
	var cpu time.Duration
	for range each {
		age, used, err := b.message(ctx, c, m)
		if err != nil {
			return err
		}
		ages, cpu = append(ages, age), cpu+used
	}
	middle, _ := percentile(ages, 50)
	b.samples.add("relay", c.name, microseconds(middle))
	b.samples.add("relay.cpu", c.name, microseconds(cpu)/each)
	return nil
}

// message has one process send one message.
func (b *bench) message(ctx context.Context, c contender, m *manager) (age, cpu time.Duration, err error) {
	text := fmt.Sprintf("bench:%d;", now().Nanoseconds())
	i, err := launch(ctx, order{
		argv: slices.Concat(c.message, []string{text}), dir: b.dir, stderr: b.stderr,
		env: []string{"PATH=" + os.Getenv("PATH"), "NOTIFY_SOCKET=" + m.path},
	})
	if err != nil {
		return 0, 0, err
	}
	defer i.end()
	if age, err = m.status(); err != nil {
		return 0, 0, err
	}
	// It may send a barrier, and wait until that has been taken.
	stop := m.attend(ignore)
	_, err = i.wait()
	stop()
	return age, time.Duration(i.usage.Utime.Nano() + i.usage.Stime.Nano()), err
}
