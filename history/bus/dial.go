package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"
)

const (
	destination    = "org.freedesktop.systemd1"
	unitPrefix     = "/org/freedesktop/systemd1/unit/"
	unitIface      = destination + ".Unit"
	serviceIface   = destination + ".Service"
	privateAddress = "unix:path=/run/systemd/private"
)

// Conn is a connection to the manager. It is one: go-systemd would open a second
// for signals, which nobody here waits for, and properties are asked for in a
// pipeline, which it does not have.
type Conn struct {
	manager *dbus.Conn
	conn    *godbus.Conn
}

// Dial connects to the system manager. Canceling the context closes the
// connection.
func Dial(ctx context.Context) (*Conn, error) {
	conn, err := godbus.ConnectSystemBus(godbus.WithContext(ctx))
	if err != nil && os.Geteuid() == 0 {
		var privateErr error
		if conn, privateErr = dialPrivate(ctx); privateErr == nil {
			return newConn(conn)
		}
		err = errors.Join(err, privateErr)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach the system manager over D-Bus: %w", err)
	}
	return newConn(conn)
}

// newConn has go-systemd use a connection that is there.
func newConn(conn *godbus.Conn) (*Conn, error) {
	manager, err := dbus.NewConnection(func() (*godbus.Conn, error) { return conn, nil })
	if err != nil {
		return nil, fmt.Errorf("cannot speak with the system manager: %w", err)
	}
	return &Conn{manager, conn}, nil
}

// dialPrivate connects to the manager's own socket, which speaks D-Bus
// without a bus: it wants no Hello.
func dialPrivate(ctx context.Context) (*godbus.Conn, error) {
	conn, err := godbus.Dial(privateAddress, godbus.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	uid := strconv.Itoa(os.Geteuid())
	if err := conn.Auth([]godbus.Auth{godbus.AuthExternal(uid)}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Close ends the connection.
func (c *Conn) Close() error {
	return c.conn.Close()
}
