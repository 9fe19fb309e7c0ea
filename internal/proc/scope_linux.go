package proc

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// Process is one line of the process table, as far as a stop needs it.
type Process struct {
	PID, Parent, Group int
	Zombie             bool
}

// Descendants finds every living descendant of this process by parent pid. As
// svcrun is a subreaper, what double-forked or left its session is among them;
// control processes of the unit (ExecStop=, ExecReload=), which live in the
// same cgroup, are not.
func Descendants() []Process {
	root := os.Getpid()
	return descendants(processes(root, walkBound), root)
}

// descendants picks root's descendants out of a process table. Zombies are
// left out: they are dead, and their parent's to reap. Their children, if the
// table was read in between, are found through them.
func descendants(table []Process, root int) []Process {
	children := map[int][]Process{}
	for _, p := range table {
		children[p.Parent] = append(children[p.Parent], p)
	}
	var found []Process
	seen := map[int]bool{root: true}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			if seen[p.PID] {
				continue
			}
			seen[p.PID] = true
			queue = append(queue, p.PID)
			if !p.Zombie {
				found = append(found, p)
			}
		}
	}
	return found
}

// walkBound is how long a walk through the process table goes on once it has
// found something. A service that has all processors busy, in svcrun's own
// control group, makes seconds of it: what is found by then is enough to go on
// with, and a stop has to be over in time.
const walkBound = 500 * time.Millisecond

// processes reads the process table as far as this process may see it, from
// root on: what root has started is numbered after it, until the numbers begin
// anew. After bound it leaves the rest, if a living descendant is found.
func processes(root int, bound time.Duration) []Process {
	var table []Process
	until, found, alive := time.Now().Add(bound), map[int]bool{root: true}, false
	for _, pid := range from(root, numbersIn("/proc")) {
		p, ok := process(pid)
		if !ok {
			continue // it has just ended
		}
		table = append(table, p)
		if found[p.Parent] {
			found[pid] = true
			alive = alive || !p.Zombie
		}
		if alive && time.Now().After(until) {
			break
		}
	}
	return table
}

// from has the numbers up from first come first, in order.
func from(first int, numbers []int) []int {
	slices.Sort(numbers)
	i, _ := slices.BinarySearch(numbers, first)
	return slices.Concat(numbers[i:], numbers[:i])
}

// process reads one line of the process table; false once it has ended.
func process(pid int) (Process, bool) {
	stat, err := ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	p, ok := parseStat(stat)
	return p, ok && p.PID == pid
}

// maxQuick bounds how many descendants are found quickly.
const maxQuick = 64

// quickDescendants is Descendants by the lists of children that the kernel keeps
// (proc_pid_tid_children(5)): some ten calls, where a walk through the process
// table takes three for each process of the host. A child that ends meanwhile may
// hide its siblings, so what is found is there, but there may be more; known is
// false where the kernel has no such lists. After bound it leaves the rest.
func quickDescendants(root int, bound time.Duration) (found []Process, known bool) {
	until, seen := time.Now().Add(bound), map[int]bool{root: true}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		children, listed := childrenOf(queue[0])
		known = known || listed
		for _, pid := range children {
			if len(found) >= maxQuick || len(found) > 0 && time.Now().After(until) {
				return found, known
			}
			p, ok := process(pid)
			if !ok || seen[pid] {
				continue
			}
			seen[pid] = true
			queue = append(queue, pid)
			if !p.Zombie {
				found = append(found, p)
			}
		}
	}
	return found, known
}

// childrenOf reads the lists of children of all threads of a process, and says
// whether there is any list.
func childrenOf(pid int) (children []int, listed bool) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	for _, thread := range numbersIn(dir) {
		list, err := ReadFile(dir + "/" + strconv.Itoa(thread) + "/children")
		if err != nil {
			continue
		}
		listed = true
		for _, text := range bytes.Fields(list) {
			if child, err := strconv.Atoi(string(text)); err == nil {
				children = append(children, child)
			}
		}
	}
	return children, listed
}

// numThreads is the field num_threads of proc_pid_stat(5), counted from the
// state.
const numThreads = 17

// parseStat reads pid, state, parent and group from proc_pid_stat(5). The
// command's name in parentheses may hold anything, parentheses too: the last
// one ends it. A process whose leading thread has ended has the state of a
// zombie, and lives as long as it has other threads.
func parseStat(stat []byte) (Process, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 1 || end < open {
		return Process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 3 {
		return Process{}, false
	}
	var numbers [3]int
	for i, text := range [][]byte{bytes.TrimSpace(stat[:open]), fields[1], fields[2]} {
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return Process{}, false
		}
		numbers[i] = n
	}
	dead := fields[0][0] == 'Z' || fields[0][0] == 'X'
	if dead && len(fields) > numThreads {
		threads, err := strconv.Atoi(string(fields[numThreads]))
		dead = err != nil || threads < 2
	}
	return Process{PID: numbers[0], Parent: numbers[1], Group: numbers[2], Zombie: dead}, true
}

// inGroup says whether one of the processes is in group.
func inGroup(processes []Process, group int) bool {
	for _, p := range processes {
		if p.Group == group {
			return true
		}
	}
	return false
}

// SignalAll sends a signal to every one of the processes. Each is a descendant
// that was alive a moment ago: it stays a zombie of ours, or of a living
// descendant, until it is reaped, so its number can hardly be another's.
func SignalAll(processes []Process, s syntax.Signal) {
	for _, p := range processes {
		_ = unix.Kill(p.PID, unix.Signal(s))
	}
}
