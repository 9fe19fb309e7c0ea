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
func Dial(ctx context.Context) (*Conn, error) { return dialFirst(ctx, "the system manager", dials()) }

// DialUser connects to the manager of this process's user: at its own socket in
// the runtime directory, or else over the session's bus.
func DialUser(ctx context.Context) (*Conn, error) {
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if runtime == "" {
		runtime = "/run/user/" + strconv.Itoa(os.Geteuid())
	}
	own := func(ctx context.Context) (*godbus.Conn, error) {
		return dialPrivate(ctx, "unix:path="+runtime+"/systemd/private")
	}
	session := func(ctx context.Context) (*godbus.Conn, error) {
		return godbus.ConnectSessionBus(godbus.WithContext(ctx))
	}
	ways := []dialFunc{own}
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" { // without one godbus would start a bus
		ways = append(ways, session)
	}
	return dialFirst(ctx, "the user's manager", ways)
}

// dialFunc is a way to a manager.
type dialFunc func(context.Context) (*godbus.Conn, error)

// dialFirst takes the first way that works.
func dialFirst(ctx context.Context, whom string, ways []dialFunc) (*Conn, error) {
	var errs []error
	for _, dial := range ways {
		conn, err := dial(ctx)
		if err == nil {
			return newConn(conn)
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("cannot reach %s over D-Bus: %w", whom, errors.Join(errs...))
}

// dials are the ways to the manager, the best first. A bus that the environment
// names is meant.
func dials() []dialFunc {
	bus := func(ctx context.Context) (*godbus.Conn, error) {
		return godbus.ConnectSystemBus(godbus.WithContext(ctx))
	}
	own := func(ctx context.Context) (*godbus.Conn, error) { return dialPrivate(ctx, privateAddress) }
	switch {
	case os.Geteuid() != 0:
		return []dialFunc{bus}
	case os.Getenv("DBUS_SYSTEM_BUS_ADDRESS") != "":
		return []dialFunc{bus, own}
	}
	return []dialFunc{own, bus}
}

// newConn has go-systemd use a connection that is there.
func newConn(conn *godbus.Conn) (*Conn, error) {
	manager, err := dbus.NewConnection(func() (*godbus.Conn, error) { return conn, nil })
	if err != nil {
		return nil, fmt.Errorf("cannot speak with the system manager: %w", err)
	}
	return &Conn{manager, conn}, nil
}

// dialPrivate connects to a manager's own socket, which speaks D-Bus
// without a bus: it wants no Hello.
func dialPrivate(ctx context.Context, address string) (*godbus.Conn, error) {
	conn, err := godbus.Dial(address, godbus.WithContext(ctx))
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
