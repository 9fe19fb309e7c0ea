package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/proc"
)

// container is svcrun as process 1 of namespaces of its own, as in a container.
// Whatever lives in there holds a pipe open.
type container struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  *journal // both outputs
	gone *os.File // ends when nothing of it is left
}

// contain runs svcrun in new namespaces, after what a shell does there first.
func contain(t *testing.T, before string, args ...string) *container {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIP: only root may make namespaces")
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &container{t: t, log: newJournal(filepath.Join(t.TempDir(), "log")), gone: read}
	c.cmd = exec.Command("/bin/sh", append([]string{"-ec", "mount --make-rprivate /; " + before + `; exec "$@"`, "sh", "svcrun"}, args...)...)
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = c.log, c.log, []*os.File{write}
	c.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Setsid: true}
	if err := c.cmd.Start(); err != nil {
		t.Skipf("SKIP: no namespaces here: %v", err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		_ = read.Close()
	})
	return c
}

// mountProc is what a container's runtime does.
const mountProc = "mount -t proc proc /proc"

// logs waits until a match was printed.
func (c *container) logs(pattern string) {
	c.t.Helper()
	if !c.log.until(regexp.MustCompile(pattern)) {
		c.t.Fatalf("%q was not printed:\n%s", pattern, c.log)
	}
}

func (c *container) signal(s unix.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the end of all that is in there, and checks the exit code.
func (c *container) ends(code int) {
	c.t.Helper()
	_ = c.gone.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c.gone); err != nil {
		c.t.Fatalf("something in there is alive: %v\n%s", err, c.log)
	}
	_ = c.cmd.Wait()
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("it ended with %s, want exit code %d\n%s", c.cmd.ProcessState, code, c.log)
	}
}

func TestProcess1EndsWithAShellsCode(t *testing.T) {
	for script, code := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -USR1 $$": 128 + 10, "kill -KILL $$": 128 + 9, "kill -SEGV $$": 128 + 11} {
		contain(t, mountProc, "--", "/bin/sh", "-c", "ulimit -c 0; "+script).ends(code)
	}
}

func TestProcess1DrainsAtTERMAndAtINT(t *testing.T) {
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		c := contain(t, mountProc, "--", "/bin/sh", "-c", `trap "echo drained; exit 0" TERM; echo up; while :; do sleep 0.02; done`)
		c.logs("up")
		c.signal(s)
		c.logs("drained")
		c.ends(0)
	}
}

func TestProcess1GoesOnToTheNextStepAtALaterSignal(t *testing.T) {
	c := contain(t, mountProc, "--stop=TERM@30s", "--stop=USR1@30s", "--", "/bin/sh", "-c",
		`trap "echo one" TERM; trap "echo two; exit 0" USR1; echo up; while :; do sleep 0.02; done`)
	c.logs("up")
	c.signal(unix.SIGINT)
	c.logs("one")
	time.Sleep(1100 * time.Millisecond) //nolint:forbidigo // time itself is what is waited for
	c.signal(unix.SIGINT)
	c.logs("two")
	c.ends(0)
}

func TestProcess1ReapsOrphans(t *testing.T) {
	c := contain(t, mountProc, "--", "/bin/sh", "-c", `
		for i in 1 2 3 4 5; do (setsid sleep 0.01 &); done
		while grep -qs "^PPid:.1$" $(grep -ls "^Name:.sleep" /proc/[0-9]*/status); do sleep 0.02; done
		echo none is left; exit 3`)
	c.logs("none is left")
	c.ends(3)
}

func TestProcess1EndsAllInTime(t *testing.T) {
	c := contain(t, mountProc, "--stop=TERM@200ms", "--kill-wait=200ms", "--", "/bin/sh", "-c",
		`trap "" TERM; (setsid sh -c 'trap "" TERM; while :; do sleep 1; done' &); sleep 600 & echo up; while :; do sleep 1; done`)
	c.logs("up")
	began := time.Now()
	c.signal(unix.SIGTERM)
	c.ends(128 + 9)
	const bound, margin = 600 * time.Millisecond, 20 * time.Second // where other things run too
	if took := time.Since(began); took > bound+margin {
		t.Errorf("it took %v; %v is promised", took, bound)
	}
}

// A container may have nothing but the program, read-only.
func TestProcess1NeedsNoPlaceToWrite(t *testing.T) {
	c := contain(t, mountProc+`
		for at in / /tmp /run /dev/shm; do ! mountpoint -q $at || mount -o remount,bind,ro $at; done
		! touch /tmp/x 2>/dev/null`,
		"--runtime-dir=/run/svcrun", "--state-dir=/var/lib/svcrun", "--ready=notify", "--start-timeout=60s",
		"--live=exec:/bin/true,interval=100ms,timeout=100ms,on-unhealthy=report", "--", "/bin/sh", "-c",
		`trap "echo drained; exit 0" TERM; child "say=READY=1" && echo said to $NOTIFY_SOCKET; while :; do sleep 0.02; done`)
	c.logs("said to @")
	c.signal(unix.SIGTERM)
	c.logs("drained")
	c.ends(0)
}

// Without /proc svcrun sees no process that has left the service's group; the
// service itself it starts, hears, and stops in time.
func TestProcess1NeedsNoProc(t *testing.T) {
	c := contain(t, "mount -t tmpfs none /proc", "--stop=TERM@200ms", "--kill-wait=200ms", "--ready=notify", "--", "/bin/sh", "-c",
		`trap "" TERM; child "say=READY=1"; sleep 600 & echo up; while :; do sleep 1; done`)
	c.logs("up")
	c.signal(unix.SIGTERM)
	c.ends(128 + 9)
	c = contain(t, "mount -t tmpfs none /proc", "--", "/bin/sh", "-c", "exit 5")
	c.ends(5)
}

func TestClosedStreamsAreNobodys(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	script := `ls -l /proc/self/fd >"$1"; trap "exit 0" TERM; echo up >"$1.up"; while :; do sleep 0.02; done`
	cmd := exec.Command("/bin/sh", "-c", `exec "$@" <&- >&- 2>&-`, "sh",
		"svcrun", "--live=exec:/bin/echo hello,interval=10ms,timeout=10ms,on-unhealthy=report", "--", "/bin/sh", "-c", script, "sh", out)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	eventually(t, out+".up")
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	inherited := proc.InheritedDescriptors() // whoever runs this test may have left some open
	for line := range strings.Lines(string(text)) {
		_, link, _ := strings.Cut(line, ":")
		number, what, ok := strings.Cut(link[strings.IndexByte(link, ' ')+1:], " -> ")
		fd, err := strconv.Atoi(number)
		switch what = strings.TrimSpace(what); {
		case !ok: // the head of the list
		case err == nil && slices.Contains(inherited, fd):
		case what == os.DevNull, what == out: // nothing, and where ls writes
		case strings.HasPrefix(what, "/proc/"): // the directory that it lists
		default:
			t.Errorf("the service was given %s:\n%s", what, text)
		}
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A service may use up all processes that its user or its unit may have. The Go
// runtime ends a program that gets no thread when it wants one.
func TestNoProcessLeftEndsNobody(t *testing.T) {
	every := ",interval=10ms,timeout=10ms,failures=5,on-unhealthy=report"
	// A check counts from when the service is ready: what a busy host has failed before is no matter.
	cmd, log := withoutProcesses(t, `trap "exit 0" TERM`, "--ready=fd:3", "--live=exec:/bin/true"+every, "--live=exec:/bin/false"+every,
		"--live=file:/etc/passwd"+every, "--live=tcp:127.0.0.1:1"+every, "--live=listen:1"+every)
	if !log.until(regexp.MustCompile("true failed 5 times, last: cannot run true: resource temporarily unavailable")) {
		t.Fatalf("it has not said what it lacks:\n%s", log)
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

func TestNoProcessLeftIsNoOtherEnd(t *testing.T) {
	cmd, log := withoutProcesses(t, `trap "" TERM`, "--stop=TERM@50ms", "--kill-wait=20s")
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.String(); got != "signal: killed" {
		t.Errorf("it ended with %q\n%s", got, log)
	}
}

// withoutProcesses runs svcrun with a service that takes from svcrun's user the
// right to more processes, and is up.
func withoutProcesses(t *testing.T, trap string, flags ...string) (*exec.Cmd, *journal) {
	t.Helper()
	log := newJournal(filepath.Join(t.TempDir(), "log"))
	service := trap + `; prlimit --pid $PPID --nproc=0:0 && echo up && { echo >&3; } 2>/dev/null; while :; do sleep 0.02; done`
	cmd := exec.Command(forAnybody(t), append(flags, "--", "/bin/sh", "-c", service)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if os.Geteuid() == 0 { // for whom the limit is none
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 61234, Gid: 61234}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if !log.until(regexp.MustCompile("(?m)^up$")) {
		t.Fatalf("the service does not come up:\n%s", log)
	}
	return cmd, log
}

// forAnybody is a copy of svcrun that users other than this one can execute.
func forAnybody(t *testing.T) (path string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, private := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(private, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path = filepath.Join(dir, "svcrun")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// supervisor is another program that svcrun runs under.
type supervisor struct {
	name              string
	programs          []string
	run               string // supervises the directory DIR
	there             string // the file that tells that it does
	down, up, exit    string // commands that return when it is so
	finish            string // what its finish script gets for exit code 7
	ready, fdForReady string
}

var supervisors = []supervisor{
	{
		name: "s6", programs: []string{"s6-supervise", "s6-svc", "s6-svwait"}, run: "s6-supervise DIR", there: "supervise/status",
		down: "s6-svc -wD -T 60000 -d DIR", up: "s6-svc -wU -T 60000 -u DIR", exit: "s6-svc -x -d DIR", finish: "7 0",
		ready: "s6-svwait -U -t 60000 DIR", fdForReady: "3",
	},
	{
		name: "runit", programs: []string{"runsv", "sv"}, run: "runsv DIR", there: "supervise/ok",
		down: "sv -w 60 stop DIR", up: "sv -w 60 start DIR", exit: "sv -w 60 exit DIR", finish: "7 0", ready: "true",
	},
}

func TestUnderAnotherSupervisor(t *testing.T) {
	for _, s := range supervisors {
		t.Run(s.name, func(t *testing.T) {
			for _, p := range s.programs {
				if _, err := exec.LookPath(p); err != nil {
					t.Skipf("SKIP: no %s here; apt-get install %s", p, s.name)
				}
			}
			s.test(t)
		})
	}
}

// test has a service started, stopped, started again, and ended with a code.
func (s supervisor) test(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("run", `#!/bin/sh
exec 2>&1
exec svcrun --stop=TERM@5s -- /bin/sh -c '
	trap "echo drained >>log; exit 0" TERM; trap "exit 7" USR1
	echo $$ >pid.new; mv pid.new pid; [ -z "$0" ] || echo >&$0; while :; do sleep 0.02; done' "`+s.fdForReady+"\"\n")
	write("finish", "#!/bin/sh\necho \"finish $1 $2\" >>log\n")
	write("notification-fd", "3\n")
	s.supervise(t, dir)
	s.command(t, s.ready, dir)
	first := eventually(t, dir+"/pid")
	s.command(t, s.down, dir)
	if got := eventually(t, dir+"/log"); got != "drained\nfinish 0 0" {
		t.Errorf("after the stop: %q", got)
	}
	_ = os.Remove(dir + "/pid")
	_ = os.Remove(dir + "/log")
	s.command(t, s.up, dir)
	second := eventually(t, dir+"/pid")
	if first == second {
		t.Errorf("both runs have pid %s", first)
	}
	s.command(t, "kill -USR1 "+second, dir)
	if got := eventually(t, dir+"/log"); got != "finish "+s.finish {
		t.Errorf("after exit 7: %q, want %q", got, "finish "+s.finish)
	}
}

// supervise runs the supervisor to the end of the test.
func (s supervisor) supervise(t *testing.T, dir string) {
	t.Helper()
	var said bytes.Buffer
	argv := strings.Fields(strings.ReplaceAll(s.run, "DIR", dir))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "GORACE=atexit_sleep_ms=0"), &said, &said
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.command(t, s.exit, dir)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", s.name, err, &said)
		}
		if t.Failed() {
			t.Logf("%s", &said)
		}
	})
	eventuallyThere(t, filepath.Join(dir, s.there))
}

// command runs a command of the supervisor's.
func (s supervisor) command(t *testing.T, command, dir string) {
	t.Helper()
	argv := strings.Fields(strings.ReplaceAll(command, "DIR", dir))
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}

// eventuallyThere waits for a file that cannot just be read.
func eventuallyThere(t *testing.T, path string) {
	t.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // another program makes the file
	}
	t.Fatalf("%s does not come", path)
}
