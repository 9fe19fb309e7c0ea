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

// Dial connects to the system manager: as root at its own socket, as systemctl
// does, which spares every question the way through the bus. Canceling the
// context closes the connection.
func Dial(ctx context.Context) (*Conn, error) {
	var errs []error
	for _, dial := range dials() {
		conn, err := dial(ctx)
		if err == nil {
			return newConn(conn)
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("cannot reach the system manager over D-Bus: %w", errors.Join(errs...))
}

// dials are the ways to the manager, the best first. A bus that the environment
// names is meant.
func dials() []func(context.Context) (*godbus.Conn, error) {
	system := func(ctx context.Context) (*godbus.Conn, error) {
		return godbus.ConnectSystemBus(godbus.WithContext(ctx))
	}
	switch {
	case os.Geteuid() != 0:
		return []func(context.Context) (*godbus.Conn, error){system}
	case os.Getenv("DBUS_SYSTEM_BUS_ADDRESS") != "":
		return []func(context.Context) (*godbus.Conn, error){system, dialPrivate}
	}
	return []func(context.Context) (*godbus.Conn, error){dialPrivate, system}
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
