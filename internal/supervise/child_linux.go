package supervise

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
)

// spawn starts the child, and after it all that runs beside the loop.
//
// The shim costs a second start of svcrun, and is had only where it is needed:
// for the pid of socket activation, and for ignored signals that svcrun has
// handlers for by now, which the fork would reset.
func (s *service) spawn() (int, error) {
	defer s.attend()
	path, err := s.o.Find()
	if err != nil {
		return 0, fmt.Errorf("cannot execute %s: %w", s.o.Argv[0], err)
	}
	pipes, err := s.openDescriptors()
	if err != nil {
		return 0, err
	}
	pid := os.Getpid()
	shim := activated(s.o.Environ, pid) || s.resetByFork() != 0
	child, err := s.table.Start(proc.Command{
		Argv: s.o.Argv, Path: path, Env: childEnv(s.o, s.listener.Address(), pid, shim),
		Descriptors: pipes, Shim: shim, Ignore: s.ignored,
	}, s.ended)
	for _, pipe := range pipes {
		_ = pipe.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("cannot execute %s: %w", path, err)
	}
	s.letGo()
	s.main = mainProcess{pid: child, groups: []int{child}}
	s.mainPID.Store(int64(child))
	return child, nil
}

// resetByFork are the signals that the child has to find ignored and that svcrun
// has a handler for. Others stay ignored by themselves.
func (s *service) resetByFork() proc.SignalSet {
	if unusual := s.ignored &^ brokenPipe; unusual != 0 {
		return unusual &^ proc.Ignored()
	}
	return 0
}

// letGo closes what was given to svcrun for the child. A listener that stayed
// open here would take connections that nobody serves, and neither probe nor
// hook may have one.
func (s *service) letGo() {
	for _, fd := range s.o.Inherited {
		_ = unix.Close(fd)
	}
	s.o.Inherited = nil
}
