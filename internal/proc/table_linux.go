package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// Table is svcrun's table of children: the ones it started, and the orphans
// that it inherits as a subreaper.
type Table struct {
	mu      sync.Mutex                    // held from fork to registration: Reap comes after it
	waiting map[int]chan<- machine.Status // with room for one status each
	helpers map[int]bool                  // leaders of the groups of probes and hooks
}

// NewTable makes svcrun a subreaper, so that an orphaned descendant stays
// among its children instead of going to PID 1.
func NewTable() (*Table, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("cannot become a subreaper: %w", err)
	}
	return &Table{waiting: map[int]chan<- machine.Status{}, helpers: map[int]bool{}}, nil
}

// Command is what to start.
type Command struct {
	Argv []string
	Path string   // of the file to execute
	Env  []string // KEY=VALUE
	Dir  string   // "" for svcrun's own
	Out  *os.File // for both standard output and error; nil: svcrun's own streams
	Err  *os.File // for standard error, where it is not Out's

	// Descriptors beyond the standard streams, by the number that the command
	// finds them under. Those that svcrun was given itself are passed on anyway.
	Descriptors map[int]*os.File

	Shim   bool      // the command is executed by the shim
	Ignore SignalSet // what the command finds ignored, as the shim can have it
	NoFile uint64    // RLIMIT_NOFILE, or what comes closest to it, as the shim can have it; 0 for as it is

	Session bool                // a session of its own too: it has no terminal
	Death   syntax.Signal       // what it gets when this process dies; 0 for SIGKILL
	As      *syscall.Credential // whom it runs as; nil for the same as this process

	Helper bool // a probe or a hook: no process of the service
}

// Start starts a command in a process group of its own, and hands its status
// to ended, which has room for it, when it has been reaped. The command dies
// when the thread that started it does, as far as the kernel grants that: a
// change of uid clears it.
func (t *Table) Start(c Command, ended chan<- machine.Status) (int, error) {
	files := []uintptr{0, 1, 2}
	if c.Out != nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return 0, err
		}
		defer func() { _ = null.Close() }()
		files = []uintptr{null.Fd(), c.Out.Fd(), c.Out.Fd()}
	}
	if c.Err != nil {
		files[2] = c.Err.Fd()
	}
	attr := &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: withDescriptors(files, c.Descriptors), Sys: c.attributes(),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	pid, err := start(c, attr)
	if err != nil {
		return 0, err
	}
	t.waiting[pid] = ended
	if c.Helper {
		t.helpers[pid] = true
	}
	return pid, nil
}

// attributes are what the kernel has to see to between the fork and the exec.
func (c Command) attributes() *syscall.SysProcAttr {
	death := syscall.SIGKILL
	if c.Death != 0 {
		death = syscall.Signal(c.Death)
	}
	return &syscall.SysProcAttr{Setsid: c.Session, Setpgid: !c.Session, Pdeathsig: death, Credential: c.As}
}

// start executes a command, by way of the shim where it needs that.
func start(c Command, attr *syscall.ProcAttr) (int, error) {
	defer blockAsGiven()()
	if c.Shim {
		return startShim(c, attr)
	}
	return syscall.ForkExec(c.Path, c.Argv, attr)
}

// withDescriptors adds descriptors to the standard streams. What is between them
// stays as it is: open if svcrun was given it, else closed.
func withDescriptors(files []uintptr, more map[int]*os.File) []uintptr {
	for number, file := range more {
		for n := len(files); n <= number; n++ {
			if passedOn(n) {
				files = append(files, uintptr(n))
			} else {
				files = append(files, ^uintptr(0))
			}
		}
		files[number] = file.Fd()
	}
	return files
}

// Reap takes every child that has ended, and tells who waits for it. It
// returns how many it has reaped, and whether any child is left.
func (t *Table) Reap() (reaped int, left bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		pid, ws, err := reapOne()
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // ECHILD
			return reaped, false
		case pid == 0:
			return reaped, true
		default:
			reaped++
			if ended, ok := t.waiting[pid]; ok { // an orphan's status is nobody's
				delete(t.waiting, pid)
				ended <- status(ws)
			}
		}
	}
}

// reapOne takes the status of a child that has ended; pid is 0 where none has. It
// never waits, so the runtime is not told of the call: see files_linux.go.
func reapOne() (pid int, ws unix.WaitStatus, err error) {
	var status int32
	r, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), unix.WNOHANG, 0, 0, 0)
	if errno != 0 {
		return 0, 0, errno
	}
	return int(r), unix.WaitStatus(status), nil
}

// Orphans says whether this process has children and has started none of them:
// as it is a subreaper, they are what its descendants have left. That is exact,
// where a search through the process table may miss a process: one that was forked
// behind it, by a parent that had ended before the search came to it.
func (t *Table) Orphans() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) > 0 {
		return false
	}
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return !errors.Is(err, unix.ECHILD)
}

// SignalChild sends a signal to a child that Start started, unless it has been
// reaped: then its number may be another's.
func (t *Table) SignalChild(pid int, s syntax.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.waiting[pid]; ok {
		_ = unix.Kill(pid, unix.Signal(s))
	}
}

// SignalGroup sends a signal to the process group that a child leads or led.
// The group may outlive its leader; its number is ours as long as a descendant
// is in it.
func (t *Table) SignalGroup(pid int, s syntax.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.waiting[pid]; ok || exists(pid) && inGroup(Descendants(), pid) {
		_ = unix.Kill(-pid, unix.Signal(s))
	}
}

// exists says whether there is a group of that number, whosever. One call, where
// a walk through the process table would be owed after every probe's end.
func exists(group int) bool {
	return !errors.Is(unix.Kill(-group, 0), unix.ESRCH)
}

// Service finds every living descendant that belongs to the service: all but
// the groups of probes and hooks.
func (t *Table) Service() []Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(Descendants(), func(p Process) bool { return t.helpers[p.Group] })
}

// QuickService is Service in a fraction of the time, and may miss some of it;
// known is false where nothing can be found in this way.
func (t *Table) QuickService() (found []Process, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, known = quickDescendants(os.Getpid(), walkBound)
	return slices.DeleteFunc(found, func(p Process) bool { return t.helpers[p.Group] }), known
}

// KillHelpers kills every probe and hook that still runs, with its group.
func (t *Table) KillHelpers() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for pid := range t.helpers {
		if _, ok := t.waiting[pid]; ok {
			_ = unix.Kill(-pid, unix.SIGKILL)
		}
	}
}

// forget ends a helper's group being one: its number may be another's soon.
func (t *Table) forget(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.helpers, pid)
}

// status is a wait status in the machine's terms.
func status(ws unix.WaitStatus) machine.Status {
	if ws.Signaled() {
		return machine.Status{Signal: syntax.Signal(ws.Signal()), Core: ws.CoreDump()}
	}
	return machine.Status{Code: ws.ExitStatus()}
}
