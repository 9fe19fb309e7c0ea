package manager

import (
	"slices"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/notify/socket"
)

// maxTraces bounds by how many of its runs what is left of a unit is known.
const maxTraces = 16

// unit is what a service has in the world.
type unit struct {
	plan     *plan.Service
	who      identity
	sockets  *sockets // nil when it is down for good
	listener *socket.Listener
	running  map[machine.Role]*process

	preparing  chan struct{} // has one while the files of a start are seen to
	surrounded bool          // directories and credentials may have been made

	run         int    // its number
	invocation  string // of the run
	invocations []string
	noted       bool  // that svcrun does without a directory
	sessions    []int // of its processes: each has one of its own
}

// process is one that was started for a unit, until its end has been told.
type process struct {
	unit   *unit
	role   machine.Role
	pid    int
	output *output
}

// begin is a run of the unit.
func (u *unit) begin(run int, invocation string) {
	u.run, u.invocation = run, invocation
	u.invocations = lastOnes(append(u.invocations, invocation))
}

// started notes a process.
func (u *unit) started(p *process) {
	u.running[p.role] = p
	u.sessions = lastOnes(append(u.sessions, p.pid))
}

// forget has a session be none of the unit's: its number is another's now.
func (u *unit) forget(session int) {
	u.sessions = slices.DeleteFunc(u.sessions, func(s int) bool { return s == session })
}

// over notes a process's end. It may be one of an earlier run, that would not die.
func (u *unit) over(e machine.Exited) {
	if u.pid(e.Role) == e.PID {
		delete(u.running, e.Role)
	}
}

// pid is that of the process that has a role, 0 where there is none.
func (u *unit) pid(role machine.Role) int {
	if p := u.running[role]; p != nil {
		return p.pid
	}
	return 0
}

// isOwn says whether a process is the main or the control process.
func (u *unit) isOwn(pid int) bool {
	return pid != 0 && (u.pid(machine.Main) == pid || u.pid(machine.Control) == pid)
}

// lastOnes keeps the last few.
func lastOnes[T any](all []T) []T {
	if len(all) > maxTraces {
		all = slices.Clone(all[len(all)-maxTraces:])
	}
	return all
}
