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
	version, err := c.version(ctx)
	if err != nil {
		return why.Settings{}, err
	}
	return settings(all, version), nil
}

// version is the manager's: the number that its Version= begins with. 0 where it
// begins with none.
func (c *Conn) version(ctx context.Context) (int, error) {
	var v godbus.Variant
	manager := c.conn.Object(destination, "/org/freedesktop/systemd1")
	call := manager.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, destination+".Manager", "Version")
	if err := call.Store(&v); err != nil {
		return 0, fmt.Errorf("cannot read the version of the manager: %w", err)
	}
	word := strings.TrimPrefix(str(v), "v")
	end := strings.IndexFunc(word+".", func(r rune) bool { return r < '0' || r > '9' })
	version, err := strconv.Atoi(word[:end])
	if err != nil {
		return 0, nil
	}
	return version, nil
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
	if job, ok := all["Job"].([]any); ok && len(job) > 0 {
		s.Job = job[0] != uint32(0)
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
