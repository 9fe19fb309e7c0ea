package bus

import (
	"errors"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/history/why"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// condition is one of Conditions=, an a(sbbsi).
type condition struct {
	Name            string
	Trigger, Negate bool
	Parameter       string
	State           int32
}

// lists is RestartPreventExitStatus= and its like, an (aiai).
type lists struct{ Codes, Signals []int32 }

func TestSettingsAreTheManagersRules(t *testing.T) {
	all := map[string]dbus.Variant{
		"Restart": dbus.MakeVariant("on-failure"), "Type": dbus.MakeVariant("oneshot"), "RemainAfterExit": dbus.MakeVariant(true),
		"RestartPreventExitStatus": dbus.MakeVariant(lists{[]int32{3, 4}, []int32{15}}),
		"SuccessExitStatus":        dbus.MakeVariant(lists{nil, []int32{1}}),
		"StartLimitBurst":          dbus.MakeVariant(uint32(5)), "StartLimitIntervalUSec": dbus.MakeVariant(uint64(1<<64 - 1)),
		"TimeoutStartUSec": dbus.MakeVariant(uint64(90e6)), "TimeoutStopUSec": dbus.MakeVariant(uint64(1<<64 - 1)),
		"RestartUSec": dbus.MakeVariant(uint64(1e6)), "RestartMaxDelayUSec": dbus.MakeVariant(uint64(60e6)), "RestartSteps": dbus.MakeVariant(uint32(5)),
		"RestartRandomizedDelayUSec": dbus.MakeVariant(uint64(5e6)),
		"NeedDaemonReload":           dbus.MakeVariant(true), "UnitFileState": dbus.MakeVariant("enabled-runtime"),
		"TriggeredBy":     dbus.MakeVariant([]string{"x.timer"}),
		"ConditionResult": dbus.MakeVariant(false), "ConditionTimestamp": dbus.MakeVariant(uint64(us)),
		"Conditions":   dbus.MakeVariant([]condition{{"ConditionHost", false, false, "a", 1}, {"ConditionPathExists", false, true, "/b", -1}}),
		"AssertResult": dbus.MakeVariant(true), "AssertTimestamp": dbus.MakeVariant(uint64(us)),
	}
	conn := dialManager(t, all, map[string]dbus.Variant{
		"Version": dbus.MakeVariant("257.9-1~deb13u1"), "UserspaceTimestamp": dbus.MakeVariant(uint64(us)), "UnitsLoadTimestamp": dbus.MakeVariant(uint64(us + 9e6)),
	})
	got, err := conn.Settings(t.Context(), "x.service")
	if err != nil {
		t.Fatal(err)
	}
	want := why.Settings{
		Rules: policy.Rules{
			Restart: policy.RestartOnFailure, Oneshot: true, RemainAfterExit: true, Systemd: 257,
			Prevent: policy.Statuses{Codes: []int{3, 4}, Signals: []syntax.Signal{15}}, Success: policy.Statuses{Signals: []syntax.Signal{1}},
		},
		Limit: policy.Limit{Starts: 5, Within: syntax.Infinity}, Type: "oneshot", RandomDelay: 5 * time.Second,
		Ladder:       policy.Ladder{Base: time.Second, Cap: time.Minute, Steps: 5},
		TimeoutStart: 90 * time.Second, TimeoutStop: syntax.Infinity,
		Unmet:  &why.Condition{Name: "ConditionPathExists", Value: "!/b", At: time.UnixMicro(us)},
		Reload: true, Enabled: true, TriggeredBy: []string{"x.timer"},
		CountsSince: time.UnixMicro(us),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// dialManager connects to a manager that has these properties, as have its units.
func dialManager(t *testing.T, unit, own map[string]dbus.Variant) *Conn {
	t.Helper()
	conn, _ := dial(t, func(msg *dbus.Message) ([]any, error) {
		if msg.Headers[dbus.FieldMember].Value() != "Get" {
			return []any{unit}, nil
		}
		if value, ok := own[msg.Body[1].(string)]; ok {
			return []any{value}, nil
		}
		return nil, errors.New("org.freedesktop.DBus.Error.UnknownProperty")
	})
	return conn
}

// TestAManagerThatForgetsStartsIsKnown: up to 254 it does whenever it loads its
// units anew.
func TestAManagerThatForgetsStartsIsKnown(t *testing.T) {
	began, loaded := dbus.MakeVariant(uint64(us)), dbus.MakeVariant(uint64(us+9e6))
	for name, test := range map[string]struct {
		own  map[string]dbus.Variant
		want time.Time
	}{
		"257":       {map[string]dbus.Variant{"Version": dbus.MakeVariant("257.9"), "UserspaceTimestamp": began, "UnitsLoadTimestamp": loaded}, time.UnixMicro(us)},
		"252":       {map[string]dbus.Variant{"Version": dbus.MakeVariant("v252"), "UserspaceTimestamp": began, "UnitsLoadTimestamp": loaded}, time.UnixMicro(us + 9e6)},
		"239":       {map[string]dbus.Variant{"Version": dbus.MakeVariant("239"), "UserspaceTimestamp": began}, time.UnixMicro(us)},
		"who knows": {nil, time.Time{}},
	} {
		got, err := dialManager(t, map[string]dbus.Variant{}, test.own).Settings(t.Context(), "x.service")
		if err != nil || !got.CountsSince.Equal(test.want) {
			t.Errorf("%s counts since %v, %v; want %v", name, got.CountsSince, err, test.want)
		}
	}
}

func TestSettingsOfAnUnknownFormAreNone(t *testing.T) {
	got := settings(map[string]any{
		"Restart": 7, "RestartPreventExitStatus": "x", "RestartForceExitStatus": []any{"x", "y"}, "StartLimitBurst": "x",
		"Conditions": [][]any{{"x"}}, "ConditionResult": false, "ConditionTimestamp": uint64(1), "TriggeredBy": 1, "NeedDaemonReload": "yes", "Type": nil,
	}, 0)
	want := why.Settings{Unmet: &why.Condition{Name: "Condition…=", At: time.UnixMicro(1)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
