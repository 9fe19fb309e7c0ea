package bus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	systemd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/history"
)

// manager answers as systemd does, for units of these states.
type manager map[string]fakeUnit

type fakeUnit struct {
	load, active, sub string
	properties        map[string]any
}

func (m manager) answer(msg *dbus.Message) ([]any, error) {
	switch member := msg.Headers[dbus.FieldMember].Value(); member {
	case "ListUnitsByPatterns", "ListUnitsByNames":
		return []any{m.list(msg.Body[len(msg.Body)-1].([]string), member == "ListUnitsByNames")}, nil
	case "Get":
		path := msg.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
		for name, unit := range m {
			if unitPath(name) == path {
				if value, ok := unit.properties[msg.Body[1].(string)]; ok {
					return []any{dbus.MakeVariant(value)}, nil
				}
				return nil, errors.New("org.freedesktop.DBus.Error.UnknownProperty")
			}
		}
		return nil, errors.New("org.freedesktop.DBus.Error.UnknownObject")
	}
	return nil, errors.New("org.freedesktop.DBus.Error.UnknownMethod")
}

func (m manager) list(wanted []string, names bool) []systemd.UnitStatus {
	var units []systemd.UnitStatus
	for name, u := range m {
		if !names && (strings.HasSuffix(wanted[0], ".service") || slices.Contains(wanted, name)) || names && slices.Contains(wanted, name) {
			units = append(units, systemd.UnitStatus{
				Name: name, LoadState: u.load, ActiveState: u.active, SubState: u.sub, Path: unitPath(name), JobId: jobs[name], JobPath: "/",
			})
		}
	}
	if names {
		for _, name := range wanted {
			if _, ok := m[name]; !ok {
				units = append(units, systemd.UnitStatus{Name: name, LoadState: "not-found", ActiveState: "inactive", SubState: "dead", Path: unitPath(name), JobPath: "/"})
			}
		}
	}
	return units
}

func dial(t *testing.T, answer func(*dbus.Message) ([]any, error)) (*Conn, *fakeBus) {
	t.Helper()
	fake := &fakeBus{answer: answer}
	fake.serve(t)
	conn, err := Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, fake
}

const us = 1_700_000_000_000_000

// execCommand is one of ExecStart=, an a(sasbttttuii).
type execCommand struct {
	Path       string
	Argv       []string
	Ignored    bool
	A, B, C, D uint64 // times
	PID        uint32
	Code, Exit int32
}

var units = manager{
	"up.service": {"loaded", "active", "running", map[string]any{
		"InvocationID": []byte{0xab, 0x01}, "InactiveExitTimestamp": uint64(us), "ActiveEnterTimestamp": uint64(us + 5e6),
		"NRestarts": uint32(3), "StatusText": "live 2/2", "Result": "success",
		"ExecMainCode": int32(1), "RestartUSec": uint64(100_000), "LogLevelMax": int32(-1),
		"ExecStart":    []execCommand{{Path: "/usr/bin/svcrun", Argv: []string{"svcrun", "--state-dir=/var/lib/svckit/up", "--", "x"}}},
		"ReloadResult": "exit-code", "ExecReload": []execCommand{
			{Path: "/bin/a", Argv: []string{"a"}, Ignored: true, A: us + 6e6, C: us + 7e6, Code: 1, Exit: 1},
			{Path: "/bin/b", Argv: []string{"b"}, A: us + 7e6, C: us + 8e6, Code: 1, Exit: 4},
			{Path: "/bin/c", Argv: []string{"c"}},
		},
	}},
	"waits.service": {"loaded", "activating", "auto-restart", map[string]any{
		"InvocationID": []byte{0xcd}, "InactiveExitTimestamp": uint64(us), "ActiveEnterTimestamp": uint64(0),
		"InactiveEnterTimestamp": uint64(us + 1e6), "StateChangeTimestamp": uint64(us + 2e6), "NRestarts": uint32(7),
		"StatusText": "", "Result": "core-dump", "ExecMainCode": int32(3), "ExecMainStatus": int32(11),
		"ExecMainExitTimestamp": uint64(us + 9e5), "RestartUSec": uint64(1e6), "RestartUSecNext": uint64(26.5e6),
		"ExecStart": []execCommand{{Path: "/bin/sleep", Argv: []string{"sleep", "1"}}}, "LogLevelMax": int32(5), "RestartMode": "direct",
		"ExecMainStartTimestamp": uint64(us + 2e5),
		"ExecStartPre": []execCommand{
			{Path: "/bin/a", Argv: []string{"a"}, A: us + 1e5, C: us + 2e5, Code: 1, Exit: 9}, {Path: "/bin/b", Argv: []string{"b"}},
		},
	}},
	"old.service": {"loaded", "failed", "failed", map[string]any{
		"RestartUSec": uint64(math.MaxUint64), "StateChangeTimestamp": uint64(math.MaxUint64), "Result": "exit-code",
		"ExecMainCode": int32(1), "ExecMainStatus": int32(3), "NRestarts": "not a number", "StatusText": uint32(5),
	}},
}

// jobs are those of the units that have one.
var jobs = map[string]uint32{"old.service": 7}

func TestServicesAreReadWithAllThatTellsOfARun(t *testing.T) {
	conn, _ := dial(t, units.answer)
	states, err := conn.List(t.Context(), []string{"*.service", "up.service"})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Fill(t.Context(), states, Full); err != nil {
		t.Fatal(err)
	}
	want := []history.State{
		{ // what an older manager lacks, and values that make no sense, are left out
			Unit: "old.service", LoadState: "loaded", ActiveState: "failed", SubState: "failed", Job: true, Result: "exit-code",
			Exit: history.Exit{Kind: history.Exited, Status: 3}, RestartDelay: time.Duration(1<<62/1000) * 1000,
		},
		{ // while it is up nobody asks how it ended
			Unit: "up.service", InvocationID: "ab01", LoadState: "loaded", ActiveState: "active", SubState: "running",
			StatusText: "live 2/2", NRestarts: 3,
			LeftInactive: time.UnixMicro(us), BecameActive: time.UnixMicro(us + 5e6),
			Svcrun:       &history.Svcrun{StateDir: "/var/lib/svckit/up"},
			FailedReload: &history.FailedReload{Result: "exit-code", Exit: history.Exit{Kind: history.Exited, Status: 4}, Ended: time.UnixMicro(us + 8e6)},
		},
		{
			Unit: "waits.service", InvocationID: "cd", LoadState: "loaded", ActiveState: "activating", SubState: "auto-restart",
			Result: "core-dump", NRestarts: 7, Exit: history.Exit{Kind: history.Dumped, Status: 11},
			Command: "ExecStartPre", Control: history.Exit{Kind: history.Exited, Status: 9},
			LeftInactive: time.UnixMicro(us), BecameInactive: time.UnixMicro(us + 1e6), Changed: time.UnixMicro(us + 2e6),
			FirstCommand: time.UnixMicro(us + 1e5), LastExit: time.UnixMicro(us + 9e5),
			MainExited: time.UnixMicro(us + 9e5), RestartDelay: 26500 * time.Millisecond, HidesHistory: true, DirectRestart: true,
		},
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestAServiceThatIsNowhereIsNotFound(t *testing.T) {
	conn, _ := dial(t, units.answer)
	state, err := conn.Service(t.Context(), "nowhere.service")
	if err != nil || state.LoadState != "not-found" {
		t.Errorf("%+v, %v; want not-found", state, err)
	}
}

func TestNamesAreThoseOfServicesThatCanRun(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"nginx.service", "up.service", "getty@.service", "fstrim.timer"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conn, _ := dial(t, func(msg *dbus.Message) ([]any, error) {
		if len(msg.Body) == 2 && msg.Body[1] == "UnitPath" {
			return []any{dbus.MakeVariant([]string{filepath.Join(dir, "nowhere"), dir})}, nil
		}
		return units.answer(msg)
	})
	names, err := conn.Names(t.Context())
	if want := []string{"nginx.service", "old.service", "up.service", "waits.service"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v; want %v", names, err, want)
	}
}

// TestManyServicesAreAskedAWindowAtATime: a bus refuses the 129th question
// that has no answer yet.
func TestManyServicesAreAskedAWindowAtATime(t *testing.T) {
	many := manager{}
	for i := range 300 {
		many[fmt.Sprintf("s%d.service", i)] = units["up.service"]
	}
	conn, fake := dial(t, many.answer)
	states, err := conn.List(t.Context(), []string{"*.service"})
	if err != nil || len(states) != 300 {
		t.Fatalf("%d services, %v", len(states), err)
	}
	if err := conn.Fill(t.Context(), states, Brief); err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if s.NRestarts != 3 || s.BecameActive.IsZero() {
			t.Fatalf("%+v", s)
		}
	}
	fake.mu.Lock()
	defer fake.mu.Unlock()
	if got := len(fake.calls); got > 2+300*2 {
		t.Errorf("%d calls for 300 services that are up, want 2 for each", got)
	}
}

// TestAListNeedsNoMoreThanItShows: a state of the brief scope tells the last
// end and the next restart as well as one of the full.
func TestAListNeedsNoMoreThanItShows(t *testing.T) {
	conn, _ := dial(t, units.answer)
	for name := range units {
		full, err := conn.Service(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		brief, err := conn.List(t.Context(), []string{name})
		if err == nil {
			err = conn.Fill(t.Context(), brief, Brief)
		}
		if err != nil {
			t.Fatal(err)
		}
		fullEnd, _ := full.LastEnd()
		briefEnd, _ := brief[0].LastEnd()
		fullNext, _ := full.NextRestart()
		briefNext, _ := brief[0].NextRestart()
		if diff := cmp.Diff([]any{fullEnd, fullNext}, []any{briefEnd, briefNext}); diff != "" {
			t.Errorf("%s: -full +brief\n%s", name, diff)
		}
	}
}

func TestABusThatSaysNoIsAnErrorWithItsReason(t *testing.T) {
	conn, _ := dial(t, func(msg *dbus.Message) ([]any, error) {
		if msg.Headers[dbus.FieldMember].Value() == "Get" {
			return nil, errors.New("org.freedesktop.DBus.Error.AccessDenied")
		}
		return units.answer(msg)
	})
	_, err := conn.Service(t.Context(), "up.service")
	if err == nil || !strings.Contains(err.Error(), "up.service") {
		t.Errorf("error %v, want one that names the unit", err)
	}
}

func TestABusThatIsSilentIsLeftAtTheDeadline(t *testing.T) {
	conn, _ := dial(t, func(*dbus.Message) ([]any, error) { return nil, nil })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := conn.List(ctx, []string{"*.service"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("List: error %v", err)
	}
	if err := conn.Fill(ctx, []history.State{{Unit: "x.service"}}, Full); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Fill: error %v", err)
	}
}

func TestWithoutABusTheErrorSaysSo(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus")
	if _, err := Dial(t.Context()); err == nil || !strings.Contains(err.Error(), "D-Bus") {
		t.Errorf("error %v", err)
	}
}

// TestAUsersManagerIsAskedAtItsOwnSocket: there no bus and no Hello is needed.
func TestAUsersManagerIsAskedAtItsOwnSocket(t *testing.T) {
	fake := &fakeBus{answer: units.answer}
	fake.serve(t)
	socket := strings.TrimPrefix(os.Getenv("DBUS_SYSTEM_BUS_ADDRESS"), "unix:path=")
	runtime := t.TempDir()
	if err := os.Mkdir(runtime+"/systemd", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(socket, runtime+"/systemd/private"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	conn, err := DialUser(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if state, err := conn.Service(t.Context(), "up.service"); err != nil || state.NRestarts != 3 {
		t.Errorf("%+v, %v", state, err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "/nonexistent")
	if _, err := DialUser(t.Context()); err == nil || !strings.Contains(err.Error(), "the user's manager") {
		t.Errorf("error %v", err)
	}
}

func TestUnitPathEscapesAllButLettersAndDigits(t *testing.T) {
	for name, want := range map[string]string{
		"nginx.service":    "nginx_2eservice",
		"a-b@c_d.service":  "a_2db_40c_5fd_2eservice",
		"9p.service":       "_39p_2eservice",
		`sys-\x2d.service`: "sys_2d_5cx2d_2eservice",
	} {
		if got := strings.TrimPrefix(string(unitPath(name)), "/org/freedesktop/systemd1/unit/"); got != want {
			t.Errorf("unitPath(%q) = %q, want %q", name, got, want)
		}
	}
}
