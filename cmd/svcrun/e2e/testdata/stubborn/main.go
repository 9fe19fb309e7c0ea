// Command stubborn is a service that does not end as it is asked to:
//
//	stubborn KIND
//	stubborn leaves FORM,KIND...    starts others, ends at SIGTERM and leaves them
//	stubborn now FORM,KIND...       starts others, and ends at once
//
// A FORM is where another one is: plain (a child), group, session, daemon (its
// parent is gone), stopped (in a session of its own), pidns (PID 1 of its own
// namespace). The KINDs are in the table below. READY=1 goes out when everything
// is in place. None of them lives for more than a minute.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var kinds map[string]func()

func init() {
	runtime.LockOSThread() // main is on the thread that leads the process
	kinds = map[string]func(){
		"heeding":        heeding,
		"deaf":           deaf,                                                // ignores what asks it to end
		"deaf-to-all":    deafToAll,                                           // ignores all that can be ignored
		"forks":          func() { onTerm(func() { start("session,deaf") }) }, // one more at each TERM
		"forks-and-ends": func() { onTerm(func() { start("session,deaf"); os.Exit(0) }) },
		"execs":          func() { onTerm(execs) }, // becomes another program at TERM
		"chain":          func() { onTerm(func() { start("session,link-50"); os.Exit(0) }) },
		"stopped":        func() { inPlace(); _ = unix.Kill(os.Getpid(), unix.SIGSTOP); heeding() },
		"stopped-deaf":   func() { ignore(); inPlace(); _ = unix.Kill(os.Getpid(), unix.SIGSTOP); rest() },
		"vforked":        vforked,    // waits uninterruptibly for a child that does not come to execute anything
		"traced":         traced,     // stopped by a tracer, to which no CONT gets through
		"leaderless":     leaderless, // of which the thread that leads it has ended, and others live
		"threads":        threads,    // many of them, with all signals blocked
		"zombies":        zombies,    // that it never reaps
		"misnamed":       misnamed,   // what stat says of it is to be read with care
		"becomes-root":   becomesRoot,
		"stopping":       func() { ignore(); inPlace(); say("STOPPING=1"); rest() },
		"stopping-ends":  func() { ignore(); inPlace(); say("STOPPING=1"); time.Sleep(200 * time.Millisecond) },
		"stops-svcrun":   stopsSvcrun,
		"tells-term":     func() { onTerm(func() { fmt.Println("the service got TERM"); os.Exit(0) }) },
	}
}

func main() {
	log.SetFlags(0)
	if os.Getenv("IN_PLACE") != "" {
		unix.CloseOnExec(3) // nobody else is to hold it
	}
	switch kind, others := os.Args[1], os.Args[2:]; {
	case kind == "leaves":
		start(others...)
		heeding()
	case kind == "now":
		start(others...)
	case strings.HasPrefix(kind, "link-"):
		link(number(kind))
	case strings.HasPrefix(kind, "deep-"):
		deep(number(kind))
	case strings.HasPrefix(kind, "tracer-"):
		tracer(number(kind))
	case kinds[kind] != nil:
		kinds[kind]()
	default:
		log.Fatalf("no kind %q", kind)
	}
}

func number(kind string) int {
	_, text, _ := strings.Cut(kind, "-")
	n, err := strconv.Atoi(text)
	if err != nil {
		log.Fatal(err)
	}
	return n
}

// say says something to the manager, if there is one.
func say(text string) {
	if address := os.Getenv("NOTIFY_SOCKET"); address != "" {
		send(address, text, nil)
	}
}

func send(address, text string, rights []byte) {
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		log.Fatal(err)
	}
	if err := unix.Sendmsg(socket, []byte(text), rights, &unix.SockaddrUnix{Name: address}, 0); err != nil {
		log.Fatal(err)
	}
	_ = unix.Close(socket)
}

// barrier returns when the manager has heard all that was said.
func barrier() {
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	send(os.Getenv("NOTIFY_SOCKET"), "BARRIER=1", unix.UnixRights(int(w.Fd())))
	_ = w.Close()
	_, _ = io.ReadAll(r)
}

// inPlace tells whoever waits for it that this process is in place.
func inPlace() {
	if os.Getenv("IN_PLACE") == "" {
		say("READY=1")
		return
	}
	_ = os.Unsetenv("IN_PLACE")
	_ = unix.Close(3)
}

// rest does nothing, for a minute at most.
func rest() {
	time.Sleep(time.Minute)
	os.Exit(99)
}

// start starts others, and returns when they are in place.
func start(others ...string) {
	for _, other := range others {
		form, kind, _ := strings.Cut(other, ",")
		startOne(form, kind)
	}
}

func startOne(form, kind string) {
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	args := []string{kind}
	if form == "daemon" {
		args = []string{"now", "session," + kind}
	}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{w}
	cmd.Env = append(os.Environ(), "IN_PLACE=1")
	cmd.SysProcAttr = map[string]*syscall.SysProcAttr{
		"group": {Setpgid: true}, "session": {Setsid: true}, "stopped": {Setsid: true}, "pidns": {Cloneflags: unix.CLONE_NEWPID},
	}[form]
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	_ = w.Close()
	_, _ = io.ReadAll(r)
	switch form {
	case "daemon":
		_ = cmd.Wait()
	case "stopped":
		_ = unix.Kill(cmd.Process.Pid, unix.SIGSTOP)
		var ws unix.WaitStatus
		_, _ = unix.Wait4(cmd.Process.Pid, &ws, unix.WUNTRACED, nil)
	}
}

// heeding ends as it is asked to.
func heeding() { onTerm(func() { os.Exit(0) }) }

// onTerm does something at each TERM.
func onTerm(do func()) {
	got := make(chan os.Signal, 8)
	signal.Notify(got, unix.SIGTERM)
	go func() {
		for range got {
			do()
		}
	}()
	inPlace()
	rest()
}

// ignore ignores what asks a process to end.
func ignore() { signal.Ignore(unix.SIGTERM, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT) }

func deaf() {
	ignore()
	inPlace()
	rest()
}

func deafToAll() {
	for s := unix.Signal(1); s <= 64; s++ {
		signal.Ignore(s)
	}
	inPlace()
	rest()
}

// execs becomes a program that ignores TERM.
func execs() {
	signal.Ignore(unix.SIGTERM)
	log.Fatal(unix.Exec("/bin/sleep", []string{"sleep", "60"}, nil))
}

// link is one of a chain: each starts the next before it ends.
func link(left int) {
	ignore()
	inPlace()
	time.Sleep(100 * time.Millisecond)
	if left > 1 {
		start("session,link-" + strconv.Itoa(left-1))
	}
}

// deep is one of a deep tree.
func deep(left int) {
	ignore()
	if left > 1 {
		start("session,deep-" + strconv.Itoa(left-1))
	}
	inPlace()
	rest()
}

// vforked waits in the kernel, in the state D, until its child ends, or
// executes something: vfork(2).
func vforked() {
	ignore()
	runtime.GOMAXPROCS(2) // this thread does not let go of its processor
	minute := unix.NsecToTimespec(int64(time.Minute))
	time.AfterFunc(50*time.Millisecond, inPlace) // by another thread: this one does not come back
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.CLONE_VFORK)|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 { // a copy of one thread of a Go program, which can do nothing but this
		_, _, _ = syscall.RawSyscall(unix.SYS_CLOSE, 3, 0, 0)
		_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, uintptr(unsafe.Pointer(&minute)), 0, 0, 0)
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 99, 0, 0)
	}
	log.Fatalf("it came back: %v", errno)
}

// traced has a child stop it.
func traced() {
	start("session,tracer-" + strconv.Itoa(os.Getpid()))
	rest()
}

// tracer stops all threads of the process of that pid, and lets none go on.
func tracer(pid int) {
	ignore()
	attached := map[string]bool{}
	for grown := true; grown; {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			log.Fatal(err)
		}
		grown = false
		for _, task := range tasks {
			if !attached[task.Name()] {
				attach(task.Name())
				attached[task.Name()], grown = true, true
			}
		}
	}
	say("READY=1") // in the place of that process
	rest()
}

func attach(task string) {
	tid, err := strconv.Atoi(task)
	if err == nil {
		err = unix.PtraceAttach(tid)
	}
	if err == nil {
		_, err = unix.Wait4(tid, nil, unix.WALL, nil)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// leaderless ends the thread that leads the process.
func leaderless() {
	ignore()
	go func() {
		leader := fmt.Sprintf("/proc/%d/stat", os.Getpid())
		for {
			text, err := os.ReadFile(leader)
			if err != nil {
				log.Fatal(err)
			}
			if strings.Contains(string(text), ") Z ") {
				break
			}
			time.Sleep(time.Millisecond)
		}
		inPlace()
		rest()
	}()
	_, _, _ = syscall.Syscall(unix.SYS_EXIT, 0, 0, 0) // of this thread: exit(2)
}

// threads has many that wait in the kernel.
func threads() {
	got := make(chan os.Signal, 1)
	signal.Notify(got) // and nobody reads it
	blocked := make(chan struct{})
	for range 20 {
		go func() {
			runtime.LockOSThread()
			var all unix.Sigset_t
			for i := range all.Val {
				all.Val[i] = ^uint64(0)
			}
			_ = unix.PthreadSigmask(unix.SIG_BLOCK, &all, nil)
			blocked <- struct{}{}
			_, _, _ = syscall.Syscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}()
		<-blocked
	}
	inPlace()
	rest()
}

func zombies() {
	ignore()
	for range 10 {
		if err := exec.Command("/bin/true").Start(); err != nil {
			log.Fatal(err)
		}
	}
	inPlace()
	rest()
}

// misnamed is a zombie, a child of PID 1, or whatever is read after the first
// parenthesis of its proc_pid_stat(5).
func misnamed() {
	ignore()
	if err := os.WriteFile("/proc/self/comm", []byte(") Z 1 1 (\n"), 0); err != nil {
		log.Fatal(err)
	}
	inPlace()
	rest()
}

// stopsSvcrun stops the process that is to stop it, once the manager has heard
// that all is in place.
func stopsSvcrun() {
	inPlace()
	barrier()
	_ = unix.Kill(os.Getppid(), unix.SIGSTOP)
	onTerm(func() { os.Exit(0) })
}

// becomesRoot leaves nothing of the user that started it.
func becomesRoot() {
	if err := unix.Setresuid(0, 0, 0); err != nil {
		log.Fatal(err)
	}
	deaf()
}
