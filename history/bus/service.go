package bus

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/bus/wire"
)

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
	var states []history.State
	if len(globs) > 0 {
		found, err := c.units(ctx, "ListUnitsByPatterns", []string{}, globs)
		if err != nil {
			return nil, err
		}
		states = found
	}
	if len(names) > 0 {
		found, err := c.units(ctx, "ListUnitsByNames", names)
		if err != nil {
			return nil, err
		}
		states = append(states, found...)
	}
	slices.SortFunc(states, func(a, b history.State) int { return strings.Compare(a.Unit, b.Unit) })
	return slices.CompactFunc(states, func(a, b history.State) bool { return a.Unit == b.Unit }), nil
}

// units are those that the manager lists, an a(ssssssouso): of each its name,
// description, and how it is.
func (c *Conn) units(ctx context.Context, method string, args ...any) ([]history.State, error) {
	answer, err := c.wire.Call(ctx, managerCall(method, args...))
	if err != nil {
		return nil, fmt.Errorf("cannot list units: %w", err)
	}
	list, _ := only(answer).([]any)
	states := make([]history.State, 0, len(list))
	for _, unit := range list {
		if u, _ := unit.([]any); len(u) > 4 {
			states = append(states, history.State{Unit: str(u[0]), LoadState: str(u[2]), ActiveState: str(u[3]), SubState: str(u[4])})
		}
	}
	return states, nil
}

// question is one about a service, and where the answer goes.
type question struct {
	state *history.State
	property
}

// Fill asks for what List did not tell of the services.
func (c *Conn) Fill(ctx context.Context, states []history.State, scope Scope) error {
	var questions []question
	for i := range states {
		for _, p := range properties {
			if p.isIn(scope, states[i].Up()) {
				questions = append(questions, question{&states[i], p})
			}
		}
	}
	ask := func(i int) wire.Call {
		return get(unitPath(questions[i].state.Unit), questions[i].iface, questions[i].name)
	}
	values := make([]any, len(questions))
	err := c.wire.CallAll(ctx, len(questions), ask, func(i int, answer []any, err error) error {
		if err != nil && !isMissing(err) {
			return fmt.Errorf("cannot read %s of %s: %w", questions[i].name, questions[i].state.Unit, err)
		}
		values[i] = only(answer)
		return nil
	})
	if err != nil {
		return err
	}
	for i, q := range questions {
		if values[i] != nil {
			q.set(q.state, values[i])
		}
	}
	return nil
}

// isMissing forgives what older managers and vanished units do not have.
func isMissing(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && slices.Contains([]string{
		"org.freedesktop.DBus.Error.UnknownProperty",
		"org.freedesktop.DBus.Error.UnknownInterface",
		"org.freedesktop.DBus.Error.UnknownObject",
		"org.freedesktop.systemd1.NoSuchUnit",
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
// a hint at a mistyped name. Instances of templates are among the loaded.
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
	answer, err := c.wire.Call(ctx, managerCall("ListUnitFiles"))
	if err != nil {
		return nil, fmt.Errorf("cannot list unit files: %w", err)
	}
	files, _ := only(answer).([]any) // an a(ss): its path, whether it is enabled
	for _, file := range files {
		f, _ := file.([]any)
		if len(f) == 0 {
			continue
		}
		if base := path.Base(str(f[0])); strings.HasSuffix(base, ".service") && !strings.HasSuffix(base, "@.service") {
			names = append(names, base)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
