package supervise

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/syntax"
)

// sigchld says that a child has ended. No user of svcrun can name it.
const sigchld = syntax.Signal(unix.SIGCHLD)

// handled are the signals that svcrun answers or passes on. They are named:
// SIGURG is the Go runtime's own, and what a manager or a person may send is here.
var handled = []syntax.Signal{
	syntax.SIGTERM, syntax.SIGINT, syntax.SIGHUP, syntax.SIGQUIT, syntax.SIGABRT,
	syntax.SIGUSR1, syntax.SIGUSR2, syntax.SIGWINCH, syntax.SIGCONT, sigchld,
}

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

// catch has signals kept for passSignals from now on.
//
// SIGPIPE stays ignored where it was: the runtime has caught it, and a signal
// that is caught is reset in the child. svcrun itself needs no more: its lines are
// written past os.File, which alone has a program die of one.
func (s *service) catch() (err error) {
	s.signals, s.children = make(chan os.Signal), make(chan os.Signal, 1)
	if s.ignored&brokenPipe != 0 {
		signal.Ignore(unix.SIGPIPE)
	}
	s.catcher, err = proc.Catch(handled...)
	return err
}

// passSignals hands signals to the loop. The word that a child has ended comes
// last: a manager that signals the whole service asks svcrun first (KillMode= in
// systemd.kill(5)), and a child that is quicker has not ended by itself. What it may
// have overtaken is waited for where a signal has killed the main process: one that
// has still to do something for its end is not that quick, and need not wait. It has
// a channel of its own, where one word is enough, as whoever takes it reaps all.
func (s *service) passSignals() {
	for {
		come, ok := s.catcher.Wait()
		if !ok {
			return
		}
		if come.Has(sigchld) && proc.WasKilled(int(s.mainPID.Load())) {
			come |= s.catcher.Overtaken()
		}
		for _, n := range handled {
			if n != sigchld && come.Has(n) && !s.pass(n) {
				return
			}
		}
		if come.Has(sigchld) {
			select {
			case s.children <- unix.SIGCHLD:
			default:
			}
		}
	}
}

// pass hands a signal to the loop; false where there is none any more.
func (s *service) pass(n syntax.Signal) bool {
	if n == syntax.SIGHUP && s.hungUp() {
		n = syntax.SIGTERM // the end of a session is the end of what a person runs in it
	}
	select {
	case s.signals <- unix.Signal(n):
		return true
	case <-s.closed:
		return false
	}
}
