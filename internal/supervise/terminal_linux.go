package supervise

import (
	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// hungUp says whether a SIGHUP is the end of a session: of a terminal that was
// there and is gone, rather than somebody's word to reload. Whoever has it ignored
// (nohup(1)) wants to go on.
func (s *service) hungUp() bool {
	return s.o.Terminal && !s.ignored.Has(syntax.SIGHUP) && !proc.HasTerminal()
}

// stoppedByTerminal tells, once, that the terminal has stopped the service: it
// waits for ever for what it may not do in a process group of its own.
func (s *service) stoppedByTerminal() {
	if !s.o.Terminal || s.main.stopped || s.main.adopted != nil {
		return
	}
	did := map[syntax.Signal]string{
		syntax.Signal(unix.SIGTTIN): "reads from the terminal",
		syntax.Signal(unix.SIGTTOU): "changes the terminal's settings",
	}[s.table.StoppedBy(s.main.pid)]
	if did == "" {
		return
	}
	s.main.stopped = true
	s.o.Log(machine.Warning, "the service has been stopped, as it "+did+
		": svcrun keeps the terminal, for Ctrl-C; start it with </dev/null")
}
