package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/godbus/dbus/v5"
)

const (
	destination    = "org.freedesktop.systemd1"
	managerPath    = dbus.ObjectPath("/org/freedesktop/systemd1")
	managerIface   = destination + ".Manager"
	unitIface      = destination + ".Unit"
	serviceIface   = destination + ".Service"
	privateAddress = "unix:path=/run/systemd/private"
)

// Conn is a connection to the manager.
type Conn struct {
	conn *dbus.Conn
}

// Dial connects to the system manager. Canceling the context closes the
// connection.
func Dial(ctx context.Context) (*Conn, error) {
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil && os.Geteuid() == 0 {
		var privateErr error
		if conn, privateErr = dialPrivate(ctx); privateErr == nil {
			return &Conn{conn}, nil
		}
		err = errors.Join(err, privateErr)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach the system manager over D-Bus: %w", err)
	}
	return &Conn{conn}, nil
}

// dialPrivate connects to the manager's own socket, which speaks D-Bus
// without a bus: it wants no Hello.
func dialPrivate(ctx context.Context) (*dbus.Conn, error) {
	conn, err := dbus.Dial(privateAddress, dbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	uid := strconv.Itoa(os.Geteuid())
	if err := conn.Auth([]dbus.Auth{dbus.AuthExternal(uid)}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Close ends the connection.
func (c *Conn) Close() error {
	return c.conn.Close()
}

// call asks the manager itself.
func (c *Conn) call(ctx context.Context, method string, args ...any) *dbus.Call {
	return c.conn.Object(destination, managerPath).CallWithContext(ctx, managerIface+"."+method, 0, args...)
}
