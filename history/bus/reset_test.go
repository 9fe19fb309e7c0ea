package bus

import (
	"errors"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

func TestWhoMayNotResetIsToldWhoMay(t *testing.T) {
	for _, name := range []string{"AccessDenied", "InteractiveAuthorizationRequired"} {
		conn, _ := dial(t, func(*dbus.Message) ([]any, error) { return nil, errors.New("org.freedesktop.DBus.Error." + name) })
		err := conn.ResetFailed(t.Context(), "x.service")
		var denied *DeniedError
		if !errors.As(err, &denied) || !strings.Contains(err.Error(), "root may") {
			t.Errorf("%s: error %v, want one that says who may", name, err)
		}
	}
}

func TestAResetThatFailsNamesTheUnit(t *testing.T) {
	conn, _ := dial(t, func(*dbus.Message) ([]any, error) { return nil, errors.New("org.freedesktop.DBus.Error.Failed") })
	if err := conn.ResetFailed(t.Context(), "x.service"); err == nil || !strings.Contains(err.Error(), "x.service") {
		t.Errorf("error %v", err)
	}
}

func TestOfAUnitThatIsNotLoadedThereIsNothingToForget(t *testing.T) {
	conn, _ := dial(t, func(*dbus.Message) ([]any, error) { return nil, errors.New("org.freedesktop.systemd1.NoSuchUnit") })
	if err := conn.ResetFailed(t.Context(), "x.service"); err != nil {
		t.Error(err)
	}
}

func TestAResetIsOneCall(t *testing.T) {
	conn, fake := dial(t, func(*dbus.Message) ([]any, error) { return []any{}, nil })
	err := conn.ResetFailed(t.Context(), "x.service")
	fake.mu.Lock()
	defer fake.mu.Unlock()
	if err != nil || len(fake.calls) != 1 || fake.calls[0] != "ResetFailedUnit" {
		t.Errorf("calls %v, error %v", fake.calls, err)
	}
}
