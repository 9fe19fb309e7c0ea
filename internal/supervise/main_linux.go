package supervise

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// mainProcess is the service's main process: svcrun's child, or a descendant
// that the service has named in its place.
type mainProcess struct {
	pid     int           // 0 before it is started
	groups  []int         // its process group, and that of svcrun's child
	over    bool          // its status has been taken
	stopped bool          // by the terminal, and this has been told
	adopted *proc.Adopted // nil for svcrun's own child
	before  int           // the main process before it; 0 for none
	uid     uint32        // its last known, where uidSeen
	uidSeen bool
	trusted bool // it was seen in svcrun's own cgroup
}

// adopt has a descendant be the main process.
func (s *service) adopt(pid int) error {
	a, err := s.table.Adopt(pid, s.main.pid, s.ended)
	if err != nil {
		return err
	}
	if s.main.adopted != nil {
		s.main.adopted.Close()
	}
	next := mainProcess{pid: pid, groups: s.main.groups[:1:1], adopted: a, before: s.main.pid}
	if a.Group != unix.Getpgrp() && !slices.Contains(next.groups, a.Group) {
		next.groups = append(next.groups, a.Group)
	}
	s.main = next
	s.mainPID.Store(int64(pid))
	go func() {
		if a.Wait() {
			select {
			case s.gone <- struct{}{}:
			case <-s.closed:
			}
		}
	}()
	return nil
}

// lost is what the end of an adopted main process came to where its own parent
// has taken its status. If that was the main process before, it is so again: a
// program that has failed to execute itself anew goes on. Else the status is
// unknown, and taken for success, as systemd takes that of a main process which
// is no child of its own.
func (s *service) lost() machine.Event {
	if s.main.over || s.main.adopted == nil || !s.main.adopted.Ended() {
		return nil
	}
	before := s.main.before
	if before != 0 && s.adopt(before) == nil {
		s.main.before = 0
		return machine.Adopted{PID: before}
	}
	// Its parent may have ended after it, and have left the status to svcrun.
	if status, _ := s.reap(); status != nil {
		return machine.MainExited{Status: *status, Left: s.others()}
	}
	s.table.Release(s.main.pid)
	s.main.over = true
	s.o.Log(machine.Notice, "the main process was another one's child: how it ended is unknown, and taken for exit 0")
	return machine.MainExited{Left: s.others()}
}

// signal sends a signal to whom it is for.
func (s *service) signal(sig syntax.Signal, to machine.Target) {
	switch {
	case to == machine.ToMain || s.o.KillScope == ScopeMain:
		s.signalMain(sig)
	case to == machine.ToGroup || s.o.KillScope == ScopeGroup:
		s.signalGroups(sig)
	default:
		if sig == syntax.SIGKILL { // all at once, before anybody is looked for
			s.signalGroups(sig)
		}
		s.signalTree(sig)
	}
}

// manySweeps is a kill wait in which SIGKILL is sent time and again.
const manySweeps = time.Second

// signalTree sends a signal to all of the service that can be found. The first
// SIGKILL goes to what is found quickly: the main process's end waits for its
// turn meanwhile. The next ones, which come until nothing is left, reach the rest.
func (s *service) signalTree(sig syntax.Signal) {
	if sig == syntax.SIGKILL && !s.swept && s.o.Machine.Drain.KillWait >= manySweeps {
		s.swept = true
		if found, known := s.table.QuickService(); known {
			proc.SignalAll(found, sig)
			return
		}
	}
	proc.SignalAll(s.table.Service(), sig)
}

func (s *service) signalMain(sig syntax.Signal) {
	if s.main.adopted != nil {
		s.main.adopted.Signal(sig)
		return
	}
	s.table.SignalChild(s.main.pid, sig)
}

func (s *service) signalGroups(sig syntax.Signal) {
	for _, group := range s.main.groups {
		s.table.SignalGroup(group, sig)
	}
}

// reap takes what has ended. main is the main process's status if it is among
// that; left says whether svcrun has any child at all.
func (s *service) reap() (main *machine.Status, left bool) {
	s.seeUID() // while the main process is there, if only as a zombie
	_, left = s.table.Reap()
	s.stoppedByTerminal()
	select {
	case status := <-s.ended:
		s.main.over = true
		return &status, left
	default:
		return nil, left
	}
}

// seeUID looks up the main process's uid, which it may have changed.
func (s *service) seeUID() {
	if s.main.pid == 0 || s.main.over {
		return
	}
	if uid, ok := uidOf(s.main.pid); ok {
		s.main.uid, s.main.uidSeen = uid, true
	}
}

// others counts who is alive in the kill scope beside the main process. That
// nobody is, is known by the whole of the process table only; and of the tree, by
// wait(2): a search may miss whoever is forked behind it.
func (s *service) others() int {
	if s.o.KillScope == ScopeMain {
		return 0
	}
	found, _ := s.table.QuickService()
	if count := s.countOthers(found); count > 0 {
		return count
	}
	count := s.countOthers(s.table.Service())
	if count == 0 && s.o.KillScope == ScopeTree && s.table.Orphans() {
		return 1 // at least; the next look may find it
	}
	return count
}

func (s *service) countOthers(alive []proc.Process) int {
	count := 0
	for _, p := range alive {
		inScope := s.o.KillScope == ScopeTree || s.o.KillScope == ScopeGroup && slices.Contains(s.main.groups, p.Group)
		if inScope && p.PID != s.main.pid {
			count++
		}
	}
	return count
}
