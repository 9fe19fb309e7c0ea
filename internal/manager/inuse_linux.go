package manager

import (
	"fmt"
	"net"
	"path/filepath"

	"github.com/svckit/svckit/internal/manager/plan"
)

// unused makes sure that no other run of a service has its directories: that of
// a systemd on this machine, or of another svcgen. Where svcrun listens in one
// of them, the service is running.
func unused(dirs []plan.Dir) error {
	for _, d := range dirs {
		if !d.Runtime {
			continue
		}
		conn, err := net.Dial("unixgram", filepath.Join(d.Path, "notify"))
		if err == nil {
			_ = conn.Close()
			return fmt.Errorf("it is running already, as %s is in use; stop that one first", d.Path)
		}
	}
	return nil
}
