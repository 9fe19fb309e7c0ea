package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// How often a condition is looked at: often at first, for most hold at once,
// then seldom enough not to disturb what is measured.
const (
	firstPoll = 10 * time.Millisecond
	lastPoll  = 100 * time.Millisecond
)

// A failed wait shows some lines of the journal, if they come in time.
const (
	journalTail = 15
	tailBound   = 30 * time.Second
)

// WaitFor waits until a unit's properties have the wanted values, each given as
// "NAME=VALUE", or until the context ends. Its error tells the last values and
// what the journal said.
func (m *Machine) WaitFor(ctx context.Context, unit string, wanted ...string) error {
	want := parseProperties(strings.Join(wanted, "\n"))
	if len(want) != len(wanted) || len(want) == 0 {
		return fmt.Errorf("cannot wait for %q: want different NAME=VALUE", wanted)
	}
	return m.WaitUntil(ctx, unit, func(now Properties) bool {
		for name, value := range want {
			if now[name] != value {
				return false
			}
		}
		return true
	}, slices.Sorted(maps.Keys(want))...)
}

// WaitUntil waits until a condition on some properties of a unit holds.
func (m *Machine) WaitUntil(ctx context.Context, unit string, holds func(Properties) bool, properties ...string) error {
	properties = append(slices.Clone(properties), "ActiveState", "SubState", "Result")
	var last Properties
	for pause := firstPoll; ; pause = min(pause*5/4, lastPoll) {
		now, err := m.Show(ctx, unit, properties...)
		switch {
		case err == nil && holds(now):
			return nil
		case err == nil:
			last = now
		case ctx.Err() == nil:
			return err
		}
		select {
		case <-ctx.Done():
			return m.gaveUp(ctx, unit, last)
		case <-m.ended:
			return ErrEnded
		case <-time.After(pause):
		}
	}
}

// gaveUp is the error of a wait whose time is over.
func (m *Machine) gaveUp(over context.Context, unit string, last Properties) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(over), tailBound)
	defer cancel()
	lines, err := m.Journal(ctx, unit, journalTail)
	if err != nil {
		lines = []string{"no journal: " + err.Error()}
	}
	var values []string
	for _, name := range slices.Sorted(maps.Keys(last)) {
		values = append(values, name+"="+last[name])
	}
	return fmt.Errorf("%s: %w; last seen %s\n%s", unit, context.Cause(over), strings.Join(values, " "), strings.Join(lines, "\n"))
}
