package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"

	"github.com/svckit/svckit/history"
)

// window is how many questions are out at a time: a bus allows each connection
// 128 pending replies.
const window = 120

// List returns the services that a pattern names, sorted by name. A pattern is
// a unit's full name, which need not be loaded (its LoadState may then be
// not-found), or a glob over the loaded ones.
func (c *Conn) List(ctx context.Context, patterns []string) ([]history.State, error) {
	var globs, names []string
	for _, p := range patterns {
		if strings.ContainsAny(p, "*?[") {
			globs = append(globs, p)
		} else {
			names = append(names, p)
		}
	}
	var units, more []dbus.UnitStatus
	var err error
	if len(globs) > 0 {
		if units, err = c.manager.ListUnitsByPatternsContext(ctx, nil, globs); err != nil {
			return nil, fmt.Errorf("cannot list units: %w", err)
		}
	}
	if len(names) > 0 {
		if more, err = c.manager.ListUnitsByNamesContext(ctx, names); err != nil {
			return nil, fmt.Errorf("cannot list units: %w", err)
		}
	}
	units = append(units, more...)
	slices.SortFunc(units, func(a, b dbus.UnitStatus) int { return strings.Compare(a.Name, b.Name) })
	units = slices.CompactFunc(units, func(a, b dbus.UnitStatus) bool { return a.Name == b.Name })
	states := make([]history.State, len(units))
	for i, u := range units {
		states[i] = history.State{Unit: u.Name, LoadState: u.LoadState, ActiveState: u.ActiveState, SubState: u.SubState, Job: u.JobId != 0}
	}
	return states, nil
}

// Fill asks for what List did not tell of the services.
func (c *Conn) Fill(ctx context.Context, states []history.State, scope Scope) error {
	var out questions
	for i := range states {
		state := &states[i]
		unit := c.conn.Object(destination, unitPath(state.Unit))
		for _, p := range properties {
			if !p.isIn(scope, state.Up()) {
				continue
			}
			if len(out) == window {
				if err := out.answer(ctx); err != nil {
					return err
				}
			}
			// answer heeds the context; each call would wait for it in vain.
			call := unit.Go("org.freedesktop.DBus.Properties.Get", 0, nil, p.iface, p.name)
			out = append(out, question{state, p, call})
		}
	}
	for len(out) > 0 {
		if err := out.answer(ctx); err != nil {
			return err
		}
	}
	return nil
}

// question is one that was asked and not answered yet.
type question struct {
	state *history.State
	property
	call *godbus.Call
}

// questions are those that are out, the oldest first.
type questions []question

// answer waits for the oldest answer and puts it where it belongs.
func (out *questions) answer(ctx context.Context) error {
	q := (*out)[0]
	*out = (*out)[1:]
	var err error
	select {
	case <-q.call.Done:
		err = q.call.Err
	case <-ctx.Done():
		err = ctx.Err()
	}
	var value godbus.Variant
	if err == nil {
		err = q.call.Store(&value)
	}
	switch {
	case err == nil:
		q.set(q.state, value)
	case !isMissing(err):
		return fmt.Errorf("cannot read %s of %s: %w", q.name, q.state.Unit, err)
	}
	return nil
}

const noSuchUnit = destination + ".NoSuchUnit"

// isMissing forgives what older managers and vanished units do not have.
func isMissing(err error) bool {
	var e godbus.Error
	return errors.As(err, &e) && slices.Contains([]string{
		"org.freedesktop.DBus.Error.UnknownProperty",
		"org.freedesktop.DBus.Error.UnknownInterface",
		"org.freedesktop.DBus.Error.UnknownObject",
		noSuchUnit,
	}, e.Name)
}

// Service returns one service, loaded for that if it is not.
func (c *Conn) Service(ctx context.Context, name string) (history.State, error) {
	states, err := c.List(ctx, []string{name})
	if err != nil {
		return history.State{}, err
	}
	if len(states) != 1 {
		return history.State{}, fmt.Errorf("the manager has no answer for unit %s", name)
	}
	err = c.Fill(ctx, states, Full)
	return states[0], err
}

// Names returns the services that the manager has loaded or could load, for
// a hint at a mistyped name. Instances of templates are among the loaded. The
// directories of units are read here: the manager's own list of unit files looks
// into each of them.
func (c *Conn) Names(ctx context.Context) ([]string, error) {
	loaded, err := c.List(ctx, []string{"*.service"})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range loaded {
		if s.LoadState != "not-found" {
			names = append(names, s.Unit)
		}
	}
	directories, err := c.ofManager(ctx, "UnitPath")
	if err != nil {
		return nil, err
	}
	paths, _ := directories.Value().([]string)
	for _, path := range paths {
		files, _ := os.ReadDir(path) // most of them are not there
		for _, f := range files {
			if name := f.Name(); strings.HasSuffix(name, ".service") && !strings.HasSuffix(name, "@.service") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// unitPath is the object of a unit.
func unitPath(name string) godbus.ObjectPath {
	return godbus.ObjectPath(unitPrefix + dbus.PathBusEscape(name))
}
