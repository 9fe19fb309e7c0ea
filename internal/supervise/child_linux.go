package supervise

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/syntax"
)

// brokenPipe is what systemd has every service ignore, unless IgnoreSIGPIPE=no
// (systemd.exec(5)).
var brokenPipe = proc.NewSignalSet(syntax.SIGPIPE)

// ignoredAtStart is what the child has to find ignored: what svcrun was given.
// A program that was linked without its own entry point cannot know of SIGPIPE,
// and takes it that systemd has started it as it starts most.
func ignoredAtStart(environ []string) proc.SignalSet {
	ignored, known := proc.InheritedIgnored()
	if !known && Variable(environ, "INVOCATION_ID") != "" {
		ignored |= brokenPipe
	}
	return ignored
}

// keepIgnored has SIGPIPE stay ignored where it was: the runtime has caught it,
// and a signal that is caught is reset in the child. svcrun itself needs no more:
// its lines are written past os.File, which alone has a program die of one.
func (s *service) keepIgnored() {
	if s.ignored&brokenPipe != 0 {
		signal.Ignore(unix.SIGPIPE)
	}
}

// spawn starts the child, on the first thread, and frees the loop from it.
//
// The shim costs a second start of svcrun, and is had only where it is needed:
// for the pid of socket activation, and for ignored signals that svcrun has
// handlers for by now, which the fork would reset.
func (s *service) spawn() (int, error) {
	defer runtime.UnlockOSThread()
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
