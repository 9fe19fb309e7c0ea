package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history/bus"
)

// managed is whose manager has a service: the system's, or with --user that of
// whoever runs svcstat.
type managed struct {
	user bool
	uid  string // of the user; "" for the system's
}

func managedBy(c *cli.Context) managed {
	if !c.Bool("user") {
		return managed{}
	}
	return managed{user: true, uid: strconv.Itoa(os.Geteuid())}
}

// dial connects to the manager.
func (m managed) dial(ctx context.Context) (*bus.Conn, error) {
	if m.user {
		return bus.DialUser(ctx)
	}
	return bus.Dial(ctx)
}

// stateRoot is the directory that StateDirectory= is in, %S, where no command
// line of svcrun's tells it: systemd.exec(5).
func (m managed) stateRoot(getenv func(string) string) string {
	switch state := getenv("XDG_STATE_HOME"); {
	case !m.user:
		return "/var/lib"
	case filepath.IsAbs(state):
		return state
	}
	return filepath.Join(getenv("HOME"), ".local/state")
}

// flag is what tells systemctl(1) the same.
func (m managed) flag() string {
	if m.user {
		return "--user "
	}
	return ""
}
