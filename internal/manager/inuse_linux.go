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
		if isListenedOn(filepath.Join(d.Path, "notify")) {
			return fmt.Errorf("it is running already, as %s is in use; stop that one first", d.Path)
		}
	}
	return nil
}

// rivals makes sure that no other manager with the same directories, whose
// svcrun may not listen yet, is about to run a unit. Each of them has its own
// notify socket before it looks: of two one at least sees the other.
func (h *Host) rivals(unit string) error {
	if h.Dir == "" || filepath.Dir(h.Dir) != h.Runtime {
		return nil // the runtime directory is nobody else's
	}
	managers, _ := filepath.Glob(filepath.Join(h.Runtime, ownPrefix+"*"))
	for _, dir := range managers {
		if dir != h.Dir && isListenedOn(filepath.Join(dir, notifyName(unit))) {
			return fmt.Errorf("it is running already, as another svcgen run has it (%s); stop that one first", dir)
		}
	}
	return nil
}

func isListenedOn(path string) bool {
	conn, err := net.Dial("unixgram", path)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}
