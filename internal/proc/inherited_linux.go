package proc

import (
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// atEntry is what this process was given, as svckit_rt0 has found it before the
// Go runtime began: the runtime installs a handler for nearly every signal and
// unblocks some, and keeps to itself what was there before. Nothing else writes
// it. Without -E=svckit_rt0 at the link it stays zero, and seen with it.
var atEntry struct {
	seen, ignored, blocked uint64

	environ *[maxVariables]*byte // as execve(2) has left it, but for the first
	first   *byte                // which is this
}

// maxVariables bounds the environment; execve(2) takes far fewer.
const maxVariables = 1 << 20

// Environ is the environment that this process was given, whole and in its order.
// os.Environ would have what svckit_rt0 has told the runtime.
func Environ() []string {
	if atEntry.first == nil {
		return os.Environ()
	}
	environ := []string{unix.BytePtrToString(atEntry.first)}
	for _, entry := range atEntry.environ[1:] {
		if entry == nil {
			break
		}
		environ = append(environ, unix.BytePtrToString(entry))
	}
	return environ
}

// SignalSet has the bit 1<<(n-1) set for each signal n in it, as SigIgn: of
// proc_pid_status(5).
type SignalSet uint64

// NewSignalSet is the set of these signals.
func NewSignalSet(signals ...syntax.Signal) SignalSet {
	var s SignalSet
	for _, n := range signals {
		s |= 1 << (uint(n) - 1)
	}
	return s
}

// Has says whether a signal is in the set.
func (s SignalSet) Has(n syntax.Signal) bool { return s&NewSignalSet(n) != 0 }

// InheritedIgnored is the set of signals that were ignored when this process
// began. It has to be asked before the first signal.Notify. known is false where
// the program was linked without its own entry point: then only those are found
// for which the runtime installs no handler, and SIGPIPE is not among them.
func InheritedIgnored() (ignored SignalSet, known bool) {
	if atEntry.seen != 0 {
		return SignalSet(atEntry.ignored), true
	}
	return Ignored(), false
}

// Ignored is the set of signals that are ignored now, and so stay ignored in
// whatever this process starts.
func Ignored() (now SignalSet) {
	for n := syntax.Signal(1); n <= maxSignal; n++ {
		if handler, err := disposition(n); err == nil && handler == sigIgn {
			now |= NewSignalSet(n)
		}
	}
	return now
}

// InheritedDescriptors are the descriptors beyond the standard streams that
// this process was given and would pass on, in order: what has been opened since
// closes at an exec.
func InheritedDescriptors() []int {
	found := slices.DeleteFunc(numbersIn("/proc/self/fd"), func(n int) bool { return n <= 2 || !passedOn(n) })
	slices.Sort(found)
	return found
}

// passedOn says whether a descriptor is open and stays so at an exec.
func passedOn(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// blockAsGiven has this thread block what was blocked when the process began, and
// returns what undoes it. A child begins with the mask of the thread that forks,
// and the Go runtime has unblocked some.
func blockAsGiven() (undo func()) {
	if atEntry.blocked == 0 {
		return func() {}
	}
	runtime.LockOSThread()
	given, before := unix.Sigset_t{}, unix.Sigset_t{}
	given.Val[0] = atEntry.blocked
	if unix.PthreadSigmask(unix.SIG_SETMASK, &given, &before) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
		runtime.UnlockOSThread()
	}
}

// The dispositions of signals that are no handlers, and the highest signal.
const (
	sigDfl    = 0
	sigIgn    = 1
	maxSignal = 64
)

// sigsetBytes is the size of the kernel's sigset_t.
const sigsetBytes = 8

// sigaction is the kernel's struct, as far as it is asked here: the handler
// comes first, and all zeros after it is no flags and no mask, on every
// architecture; it has more room than it takes on any.
type sigaction [8]uint64

// disposition is what is done at a signal: sigDfl, sigIgn or a handler.
func disposition(n syntax.Signal) (uint64, error) {
	var action sigaction
	err := getAction(n, &action)
	return action[0], err
}

// dispose sets what is done at a signal, to what is no handler.
func dispose(n syntax.Signal, to uint64) error {
	return setAction(n, &sigaction{to})
}

// getAction reads the whole action for a signal.
func getAction(n syntax.Signal, action *sigaction) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), 0, uintptr(unsafe.Pointer(action)), sigsetBytes, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// setAction sets it, past the Go runtime.
func setAction(n syntax.Signal, action *sigaction) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(action)), 0, sigsetBytes, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
