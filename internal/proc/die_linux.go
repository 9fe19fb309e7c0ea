package proc

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
)

// shellBase is what a shell adds to a signal's number to tell it as an exit
// code: all that is left to PID 1 of a namespace, to which the kernel delivers
// no signal with a default disposition.
const shellBase = 128

// Die ends this process as s says: by its exit code, or by the same signal. It
// does not return.
//
// A core is asked for where the child left one, so that the manager says
// core-dump too, but with nothing in it: the child's is the one of interest.
// Where the child left none, this process leaves none. dir is a directory of
// this process's own, or "": its core goes there where it would otherwise take
// the place of the child's.
func Die(s machine.Status, dir string) {
	if s.Signal == 0 {
		os.Exit(s.Code) //nolint:forbidigo // this is the end that main asks for
	}
	if os.Getpid() == 1 {
		os.Exit(shellBase + int(s.Signal)) //nolint:forbidigo // this is the end that main asks for
	}
	setCore(s.Core && keepCoresApart(dir))
	raise(s.Signal)
	os.Exit(shellBase + int(s.Signal)) //nolint:forbidigo // this is the end that main asks for
}

// keepCoresApart sees to it that a core of this process cannot overwrite its
// child's, as core(5) names them: a handler tells them apart by itself; else
// the name has to have the process or its program in it, or the directory has
// to be another.
func keepCoresApart(dir string) bool {
	text, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil {
		return false
	}
	pattern := string(text)
	for _, apart := range []string{"%p", "%P", "%i", "%I", "%e", "%E", "%f"} {
		if strings.Contains(pattern, apart) {
			return true
		}
	}
	if strings.HasPrefix(pattern, "|") || strings.HasPrefix(pattern, "@") {
		return true
	}
	uses, err := os.ReadFile("/proc/sys/kernel/core_uses_pid")
	if err == nil && strings.TrimSpace(string(uses)) != "0" {
		return true
	}
	return dir != "" && !strings.HasPrefix(pattern, "/") && os.Chdir(dir) == nil
}

// setCore allows a core of no mappings, or forbids it. Not dumpable as well:
// RLIMIT_CORE does not stop a core_pattern that is a pipe (core(5)).
func setCore(wanted bool) {
	if !wanted {
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
		return
	}
	_ = os.WriteFile("/proc/self/coredump_filter", []byte("0"), 0)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &limit) == nil {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &limit)
	}
}

// raiseWait is how long a raised signal may take to be delivered.
const raiseWait = time.Second

// raise gives the signal its default disposition and sends it to this process.
// signal.Reset would not do: Go's own default for SIGABRT and its like is a
// dump of goroutines and exit status 2.
//
// Nothing here may want a new thread, not even to lock this one: a service may
// have used up its limit of processes. Wherever the Go runtime has this goroutine
// go on, the thread that it has left lets the signal through.
func raise(s syntax.Signal) {
	if s != syntax.SIGKILL && dispose(s, sigDfl) != nil {
		return
	}
	var set unix.Sigset_t
	set.Val[0] = 1 << (uint(s) - 1)
	_ = unix.PthreadSigmask(unix.SIG_UNBLOCK, &set, nil)
	_ = unix.Kill(os.Getpid(), unix.Signal(s))
	time.Sleep(raiseWait) //nolint:forbidigo // the event is this process's death
}
