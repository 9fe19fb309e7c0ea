package bus

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	godbus "github.com/godbus/dbus/v5"

	"github.com/svckit/svckit/history/why"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// Settings asks how the manager treats a unit. It asks for all properties at
// once, which is slow for many units and simple for one.
func (c *Conn) Settings(ctx context.Context, unit string) (why.Settings, error) {
	all, err := c.manager.GetAllPropertiesContext(ctx, unit)
	if err != nil {
		return why.Settings{}, fmt.Errorf("cannot read the properties of %s: %w", unit, err)
	}
	version, err := c.ofManager(ctx, "Version")
	if err != nil {
		return why.Settings{}, err
	}
	s := settings(all, versionOf(str(version)))
	s.CountsSince, err = c.countsSince(ctx, s.Rules.Systemd)
	return s, err
}

// keepsCounts is the version from which on a manager that loads its units anew
// remembers how often it has started each.
const keepsCounts = 255

// countsSince is since when the manager of that version counts starts.
func (c *Conn) countsSince(ctx context.Context, version int) (time.Time, error) {
	begun, err := c.ofManager(ctx, "UserspaceTimestamp")
	if err != nil || version >= keepsCounts {
		return timestamp(begun), err
	}
	loaded, err := c.ofManager(ctx, "UnitsLoadTimestamp") // since 250
	if since := timestamp(loaded); since.After(timestamp(begun)) {
		return since, err
	}
	return timestamp(begun), err
}

// ofManager is a property of the manager itself; an empty one where it has none
// of that name.
func (c *Conn) ofManager(ctx context.Context, name string) (godbus.Variant, error) {
	var v godbus.Variant
	manager := c.conn.Object(destination, "/org/freedesktop/systemd1")
	call := manager.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, destination+".Manager", name)
	if err := call.Store(&v); err != nil && !isMissing(err) {
		return v, fmt.Errorf("cannot read %s of the manager: %w", name, err)
	}
	return v, nil
}

// versionOf is the number that a manager's Version= begins with. 0 where it begins
// with none.
func versionOf(word string) int {
	word = strings.TrimPrefix(word, "v")
	end := strings.IndexFunc(word+".", func(r rune) bool { return r < '0' || r > '9' })
	version, _ := strconv.Atoi(word[:end])
	return version
}

// settings reads the properties. What an older manager does not have, or has in
// another form, is the zero value.
func settings(all map[string]any, version int) why.Settings {
	of := func(name string) godbus.Variant { return variant(all, name) }
	s := why.Settings{
		Rules: policy.Rules{
			Restart: policy.Restart(str(of("Restart"))),
			Prevent: statuses(all["RestartPreventExitStatus"]), Force: statuses(all["RestartForceExitStatus"]),
			Success: statuses(all["SuccessExitStatus"]),
			Oneshot: str(of("Type")) == "oneshot", RemainAfterExit: all["RemainAfterExit"] == true,
			Systemd: version,
		},
		Limit:       policy.Limit{Starts: int(number(of("StartLimitBurst"))), Within: endless(of("StartLimitIntervalUSec"))},
		Type:        str(of("Type")),
		RandomDelay: span(of("RestartRandomizedDelayUSec")),
		Ladder: policy.Ladder{
			Base: endless(of("RestartUSec")), Cap: endless(of("RestartMaxDelayUSec")), Steps: int(number(of("RestartSteps"))),
		},
		TimeoutStart: endless(of("TimeoutStartUSec")), TimeoutStop: endless(of("TimeoutStopUSec")),
		Reload:  all["NeedDaemonReload"] == true,
		Enabled: strings.HasPrefix(str(of("UnitFileState")), "enabled"),
	}
	s.TriggeredBy, _ = all["TriggeredBy"].([]string)
	s.Unmet = unmet(all, "Assert")
	if condition := unmet(all, "Condition"); s.Unmet == nil {
		s.Unmet = condition
	}
	return s
}

// variant is a property as it came; an empty one where it did not.
func variant(all map[string]any, name string) godbus.Variant {
	value, ok := all[name]
	if !ok || value == nil {
		return godbus.Variant{}
	}
	return godbus.MakeVariant(value)
}

// endless is a span of which systemd's infinity is syntax.Infinity.
func endless(v godbus.Variant) time.Duration {
	if u, ok := v.Value().(uint64); ok && u == 1<<64-1 {
		return syntax.Infinity
	}
	return span(v)
}

// statuses reads an (aiai): exit codes and signals.
func statuses(v any) policy.Statuses {
	var s policy.Statuses
	lists, _ := v.([]any)
	if len(lists) != 2 {
		return s
	}
	codes, _ := lists[0].([]int32)
	for _, code := range codes {
		s.Codes = append(s.Codes, int(code))
	}
	signals, _ := lists[1].([]int32)
	for _, signal := range signals {
		s.Signals = append(s.Signals, syntax.Signal(signal))
	}
	return s
}

// unmet finds what of a kind, Condition or Assert, the last start did not meet.
// Of each one the manager says whether it was (a(sbbsi), the last is below 0 if
// not); of triggering ones, with their |, one is enough.
func unmet(all map[string]any, kind string) *why.Condition {
	at := timestamp(variant(all, kind+"Timestamp"))
	if all[kind+"Result"] != false || at.IsZero() {
		return nil
	}
	found := &why.Condition{Name: kind + "…=", At: at, Assert: kind == "Assert"}
	list, _ := all[kind+"s"].([][]any)
	for _, c := range list {
		if len(c) != 5 {
			continue
		}
		name, _ := c[0].(string)
		value, _ := c[3].(string)
		if state, _ := c[4].(int32); state >= 0 || name == "" {
			continue
		}
		if c[2] == true {
			value = "!" + value
		}
		found.Name, found.Value = name, value
		break
	}
	return found
}
