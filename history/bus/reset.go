package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	godbus "github.com/godbus/dbus/v5"
)

// DeniedError says that this user may not do that to units.
type DeniedError struct{ err error }

func (e *DeniedError) Error() string {
	return "no permission to manage units; root may, and who polkit lets (org.freedesktop.systemd1.manage-units)"
}

// Unwrap is what the manager or polkit said.
func (e *DeniedError) Unwrap() error { return e.err }

// ResetFailed has the manager forget that a unit failed: the restart counter is
// 0, the start limit's window empty, and a unit that has failed is inactive. A
// unit that is up stays so, and of one that is not loaded there is nothing to
// forget. It is the one thing here that changes anything.
func (c *Conn) ResetFailed(ctx context.Context, unit string) error {
	err := c.manager.ResetFailedUnitContext(ctx, unit)
	var e godbus.Error
	switch {
	case err == nil, errors.As(err, &e) && e.Name == noSuchUnit:
		return nil
	case errors.As(err, &e) && slices.Contains([]string{
		"org.freedesktop.DBus.Error.AccessDenied",
		"org.freedesktop.DBus.Error.InteractiveAuthorizationRequired",
	}, e.Name):
		return &DeniedError{err}
	}
	return fmt.Errorf("cannot reset %s: %w", unit, err)
}
