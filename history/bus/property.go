package bus

import (
	"encoding/hex"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/svckit/svckit/history"
)

// Scope is how much is asked of each service.
type Scope int

// The scopes, each with what the one before has.
const (
	Brief  Scope = iota // what a list shows: restarts, since when, how the last run ended
	Status              // what the service says of itself
	Full                // all that tells of a run
)

const never = Full + 1 // no scope asks for it

// property is one that is read, in which scope while the unit is up and while
// it is down, and where its value goes. Up is what most units are, so that
// there every question counts.
type property struct {
	iface    string
	name     string
	up, down Scope
	set      func(*history.State, dbus.Variant)
}

// properties are in the order in which they are set.
var properties = []property{
	{unitIface, "InvocationID", Full, Full, func(s *history.State, v dbus.Variant) { s.InvocationID = id(v) }},
	{unitIface, "InactiveExitTimestamp", Full, Brief, func(s *history.State, v dbus.Variant) { s.LeftInactive = timestamp(v) }},
	{unitIface, "ActiveEnterTimestamp", Brief, Brief, func(s *history.State, v dbus.Variant) { s.BecameActive = timestamp(v) }},
	{unitIface, "InactiveEnterTimestamp", never, Full, func(s *history.State, v dbus.Variant) { s.BecameInactive = timestamp(v) }},
	{unitIface, "StateChangeTimestamp", Full, Brief, func(s *history.State, v dbus.Variant) { s.Changed = timestamp(v) }},
	{serviceIface, "NRestarts", Brief, Brief, func(s *history.State, v dbus.Variant) { s.NRestarts = int(number(v)) }},
	{serviceIface, "StatusText", Status, Status, func(s *history.State, v dbus.Variant) { s.StatusText = str(v) }},
	{serviceIface, "Result", never, Brief, func(s *history.State, v dbus.Variant) { s.Result = str(v) }},
	{serviceIface, "ExecMainCode", never, Brief, func(s *history.State, v dbus.Variant) { s.Exit.Kind = exitKind(v) }},
	{serviceIface, "ExecMainStatus", never, Brief, func(s *history.State, v dbus.Variant) { s.Exit.Status = int(number(v)) }},
	{serviceIface, "ExecMainExitTimestamp", never, Full, func(s *history.State, v dbus.Variant) { s.MainExited = timestamp(v); addExit(s, s.MainExited) }},
	{serviceIface, "ExecCondition", Full, Full, addControls("ExecCondition")}, // since 243
	{serviceIface, "ExecStartPre", Full, Full, addControls("ExecStartPre")},
	{serviceIface, "ExecStartPost", Full, Full, addControls("ExecStartPost")},
	{serviceIface, "ExecMainStartTimestamp", Full, Brief, func(s *history.State, v dbus.Variant) { addStart(s, timestamp(v)) }},
	{serviceIface, "ReloadResult", Full, never, setReload},
	{serviceIface, "ExecReload", Full, never, addReload}, // after the result
	{serviceIface, "RestartUSec", never, Brief, func(s *history.State, v dbus.Variant) { s.RestartDelay = span(v) }},
	{serviceIface, "ExecStart", Full, Full, func(s *history.State, v dbus.Variant) { s.Svcrun = svcrun(v); addCommands(s, v) }},
	{serviceIface, "LogLevelMax", Full, Full, func(s *history.State, v dbus.Variant) { s.HidesHistory = hidesInfo(v) }},
	{serviceIface, "RestartMode", Full, Full, func(s *history.State, v dbus.Variant) { s.DirectRestart = str(v) == "direct" }}, // since 254
	// Since 254, and then it is the delay with the ladder taken into account.
	{serviceIface, "RestartUSecNext", never, Brief, func(s *history.State, v dbus.Variant) { s.RestartDelay = span(v) }},
}

// isIn says whether the property is asked for in a scope.
func (p property) isIn(scope Scope, up bool) bool {
	if up {
		return p.up <= scope
	}
	return p.down <= scope
}

// number reads any of D-Bus's integers; a value of another type is 0.
func number(v dbus.Variant) int64 {
	switch n := v.Value().(type) {
	case int32:
		return int64(n)
	case uint32:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(min(n, 1<<62))
	}
	return 0
}

func str(v dbus.Variant) string {
	s, _ := v.Value().(string)
	return s
}

// timestamp reads microseconds since the epoch; 0 and the manager's word for
// infinity are no time.
func timestamp(v dbus.Variant) time.Time {
	us := number(v)
	if us <= 0 || us >= 1<<62 {
		return time.Time{}
	}
	return time.UnixMicro(us)
}

// span reads a number of microseconds, bounded to what time.Duration holds.
func span(v dbus.Variant) time.Duration {
	return time.Duration(min(max(number(v), 0), int64(1<<62/time.Microsecond))) * time.Microsecond
}

// id reads an invocation ID, which is bytes here and hexadecimal elsewhere.
func id(v dbus.Variant) string {
	raw, _ := v.Value().([]byte)
	return hex.EncodeToString(raw)
}

// hidesInfo reads a LogLevelMax=, which is -1 for none: the manager's lines of a
// run are of level 6 (LOG_INFO in syslog(3)) and more important.
func hidesInfo(v dbus.Variant) bool {
	level := number(v)
	return 0 <= level && level < 6
}

// exitKind reads the si_code of SIGCHLD: waitid(2).
func exitKind(v dbus.Variant) history.ExitKind {
	switch number(v) {
	case 1:
		return history.Exited
	case 2:
		return history.Killed
	case 3:
		return history.Dumped
	}
	return history.NoExit
}
