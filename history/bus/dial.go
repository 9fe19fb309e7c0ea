package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/svckit/svckit/history/bus/wire"
)

const (
	destination     = "org.freedesktop.systemd1"
	managerPath     = "/org/freedesktop/systemd1"
	unitPrefix      = managerPath + "/unit/"
	managerIface    = destination + ".Manager"
	unitIface       = destination + ".Unit"
	serviceIface    = destination + ".Service"
	propertiesIface = "org.freedesktop.DBus.Properties"
	privateSocket   = "/run/systemd/private"
	systemBus       = "unix:path=/run/dbus/system_bus_socket"
)

// Conn is a connection to the manager.
type Conn struct{ wire *wire.Conn }

// Dial connects to the system manager: as root at its own socket, as systemctl
// does, which spares every question the way through the bus.
func Dial(ctx context.Context) (*Conn, error) { return dialFirst(ctx, "the system manager", dials()) }

// DialUser connects to the manager of this process's user: at its own socket in
// the runtime directory, or else over the session's bus.
func DialUser(ctx context.Context) (*Conn, error) {
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if runtime == "" {
		runtime = "/run/user/" + strconv.Itoa(os.Geteuid())
	}
	ways := []dialFunc{own(runtime + "/systemd/private")}
	if session := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); session != "" {
		ways = append(ways, over(session))
	}
	return dialFirst(ctx, "the user's manager", ways)
}

// dialFunc is a way to a manager.
type dialFunc func(context.Context) (*wire.Conn, error)

// own is the way to a manager's own socket.
func own(path string) dialFunc {
	return func(ctx context.Context) (*wire.Conn, error) { return wire.DialPeer(ctx, path) }
}

// over is the way over a bus.
func over(addresses string) dialFunc {
	return func(ctx context.Context) (*wire.Conn, error) { return wire.DialBus(ctx, addresses) }
}

// dialFirst takes the first way that works.
func dialFirst(ctx context.Context, whom string, ways []dialFunc) (*Conn, error) {
	var errs []error
	for _, dial := range ways {
		conn, err := dial(ctx)
		if err == nil {
			return &Conn{conn}, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("cannot reach %s over D-Bus: %w", whom, errors.Join(errs...))
}

// dials are the ways to the manager, the best first. A bus that the environment
// names is meant.
func dials() []dialFunc {
	address := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS")
	switch {
	case address != "" && os.Geteuid() == 0:
		return []dialFunc{over(address), own(privateSocket)}
	case address != "":
		return []dialFunc{over(address)}
	case os.Geteuid() != 0:
		return []dialFunc{over(systemBus)}
	}
	return []dialFunc{own(privateSocket), over(systemBus)}
}

// Close ends the connection.
func (c *Conn) Close() error { return c.wire.Close() }
