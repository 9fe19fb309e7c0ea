package manager

import (
	"bytes"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
)

// What is alive of a unit is found without a control group, which nobody grants
// here. As this process is a subreaper, whatever its services have started is
// among its descendants; whose each is, is told by its session, by an ancestor,
// or by the environment that it was given. A lone service has them all.

// alive are the processes of a unit that are alive.
func (r *runner) alive(u *unit) []proc.Process {
	all := r.table.Service()
	if len(r.units) == 1 {
		return all
	}
	parents := map[int]int{}
	for _, p := range all {
		parents[p.PID] = p.Parent
	}
	return slices.DeleteFunc(all, func(p proc.Process) bool { return !u.has(p, parents) })
}

// has says whether a process is the unit's.
func (u *unit) has(p proc.Process, parents map[int]int) bool {
	for pid, steps := p.PID, 0; pid != 0 && steps <= len(parents); pid, steps = parents[pid], steps+1 {
		if u.isOwn(pid) {
			return true
		}
	}
	if session, err := unix.Getsid(p.PID); err == nil && slices.Contains(u.sessions, session) {
		return true
	}
	return u.isInvocation(p.PID)
}

// isInvocation says whether a process was started with one of the unit's
// invocation ids.
func (u *unit) isInvocation(pid int) bool {
	text, err := proc.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		if id, ok := bytes.CutPrefix(entry, []byte("INVOCATION_ID=")); ok {
			return slices.Contains(u.invocations, string(id))
		}
	}
	return false
}

// left counts what is alive of a unit beside its main and its control process.
func (r *runner) left(u *unit) int {
	count := 0
	for _, p := range r.alive(u) {
		if !u.isOwn(p.PID) {
			count++
		}
	}
	if count == 0 && len(r.units) == 1 && r.table.Orphans() {
		return 1 // at least; the next look may find it
	}
	return count
}
