package manager

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/manager/timeline"
)

// once is a service that is not restarted.
const once = "restart: {when: no}\n"

// shell is a policy whose service is a shell script.
func shell(name, script, more string) string {
	return fmt.Sprintf("name: %s\nexec: [/bin/sh, -c, %s]\n%s", name, strconv.Quote(script), more)
}

func TestAServiceThatCrashesIsRestartedUntilItIsGivenUp(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("crash", "echo out; echo last words >&2; exit 3", "restart: {base: 50ms, cap: 50ms, give_up: {starts: 3, within: 10min}}\n"))
	m.is(timeline.Finished)
	m.ends(3)
	const run = "starting ready ended=exit-code restarting "
	if got, want := m.story("crash"), run+run+run+"refused=start-limit given-up"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, e := range m.events {
		if e.Event != string(timeline.Ended) {
			continue
		}
		if tail := strings.Join(e.Tail, "|"); tail != "out|last words" && tail != "last words|out" {
			t.Errorf("run %d ended with the lines %q", e.Run, tail)
		}
		if e.Exit.Code == nil || *e.Exit.Code != 3 || e.Result != "exit-code" {
			t.Errorf("run %d ended with %+v, result %s", e.Run, e.Exit, e.Result)
		}
	}
}

func TestSvcrunsLastLineIsTheCauseAndNoLineOfTheServices(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("liar", "echo 'svcrun: end cause=oom' >&2; exit 1", once))
	m.prints("svcrun: end cause=oom")
	if e := m.is(timeline.Ended); e.Cause != "exit-code" {
		t.Errorf("cause %s; want exit-code", e.Cause)
	}
	m.ends(1)
	for _, e := range m.events {
		if e.Event == string(timeline.Output) && strings.HasPrefix(e.Text, "svcrun: end cause=exit-code") {
			t.Errorf("told as a line of the service: %s", e.Text)
		}
	}
}

func TestAServiceThatHangsIsDrainedAndRestarted(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("hang", "touch $DIR/alive; echo serving; exec sleep 100", `
live:
  checks:
    - {file: $DIR/alive, interval: 500ms, timeout: 500ms, failures: 2}
restart: {base: 50ms, cap: 50ms}
drain: {steps: [TERM@5s]}
`))
	m.prints("serving")
	m.nth(1, timeline.Ready)
	if err := os.Remove(m.dir + "/alive"); err != nil {
		t.Fatal(err)
	}
	if e := m.is(timeline.Ended); e.Cause != "unhealthy" || e.Exit.Code == nil || *e.Exit.Code != 69 {
		t.Errorf("ended as %s with %+v", e.Cause, e.Exit)
	}
	m.prints("serving")
	m.nth(2, timeline.Ready)
	m.signal(syscall.SIGTERM)
	m.ends(0)
}

func TestSIGTERMDrainsAndAStopThatEndsWellIsExitCodeZero(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("drain", "trap 'echo draining; exit 0' TERM; echo up; while :; do sleep 0.02; done", ""))
	m.prints("up")
	m.signal(syscall.SIGTERM)
	m.prints("draining")
	if e := m.is(timeline.Ended); e.Cause != "stop-requested" || e.Restart {
		t.Errorf("ended as %s, restart %v", e.Cause, e.Restart)
	}
	m.ends(0)
}

func TestAServiceThatIgnoresSIGTERMIsKilledWithinItsBound(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("stubborn", "trap '' TERM; echo up; while :; do sleep 0.02; done", "drain: {steps: [TERM@200ms], kill_wait: 500ms}\n"))
	m.prints("up")
	began := time.Now()
	m.signal(syscall.SIGTERM)
	if e := m.is(timeline.Ended); e.Exit.Signal != "SIGKILL" {
		t.Errorf("ended by %+v; want SIGKILL, as svcrun tells it", e.Exit)
	}
	m.is(timeline.Finished)
	// TERM 200 ms, twice 500 ms for SIGKILL, and 5 s that the unit has to spare: a
	// machine that has no time for svcrun makes the manager take all its steps.
	const stopTimeout, steps = 6200 * time.Millisecond, 4
	if took := time.Since(began); took > steps*stopTimeout {
		t.Errorf("the stop took %v", took)
	}
}

func TestThreeTimesCtrlCKills(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("patient", "trap '' TERM INT; echo up; while :; do sleep 0.02; done", "drain: {steps: [TERM@5min]}\n"))
	m.prints("up")
	m.signal(syscall.SIGINT)
	m.until("SIGTERM", func(e event) bool { return e.Signal == "SIGTERM" })
	<-time.After(2 * oneStop)
	m.signal(syscall.SIGINT)
	m.until("SIGTERM again", func(e event) bool { return e.Signal == "SIGTERM" })
	<-time.After(2 * oneStop)
	m.signal(syscall.SIGINT)
	m.until("SIGKILL", func(e event) bool { return e.Signal == "SIGKILL" })
	m.is(timeline.Finished)
}

func TestWhatSvcrunLeavesBehindWhenItIsKilledDiesBeforeTheNextRun(t *testing.T) {
	t.Parallel()
	// The process has left its session and has no environment: of a lone unit it is all the same.
	m := manage(t, shell("left", "setsid env -i sleep 1001 & echo $! >$DIR/left; echo up; exec sleep 100", "restart: {base: 50ms, cap: 50ms}\n"))
	m.prints("up")
	pid := m.nth(1, timeline.Ready).PID
	left := readNumber(t, m.dir+"/left")
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if e := m.is(timeline.Ended); e.Exit.Signal != "SIGKILL" || !e.Restart {
		t.Errorf("ended by %+v, restart %v", e.Exit, e.Restart)
	}
	if alive(left) {
		t.Errorf("process %d is alive after the run", left)
	}
	m.prints("up")
	m.signal(syscall.SIGTERM)
	m.ends(0)
}

func TestOfSeveralServicesEachLosesWhatIsItsOwn(t *testing.T) {
	t.Parallel()
	leave := "setsid sleep 1001 & echo $! >$DIR/%s; (env -i setsid -f sleep 1001 2>&1); trap 'exit 0' TERM; echo %s; while :; do sleep 0.02; done"
	more := "restart: {base: 50ms, cap: 50ms}\n"
	m := manage(t, shell("one", fmt.Sprintf(leave, "one", "one up"), more)+"---\n"+shell("two", fmt.Sprintf(leave, "two", "two up"), more))
	var pids []int
	for range 2 {
		pids = append(pids, m.is(timeline.Ready).PID)
	}
	one, two := readNumber(t, m.dir+"/one"), readNumber(t, m.dir+"/two")
	first := pids[0]
	if m.nth(1, timeline.Ready).Unit != "one.service" {
		first = pids[1]
	}
	if err := unix.Kill(first, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.is(timeline.Ended, "one")
	if alive(one) || !alive(two) {
		t.Errorf("after the end of one its process is alive: %v, the other's: %v", alive(one), alive(two))
	}
	m.is(timeline.Ready, "one")
	m.signal(syscall.SIGTERM)
	m.ends(0)
	if alive(two) {
		t.Error("something outlives the manager")
	}
}

func TestNobodyOutlivesAManagerThatIsKilled(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("orphan", "trap 'echo drained >$DIR/drained; exit 0' TERM; echo $$ >$DIR/pid; echo up; while :; do sleep 0.02; done", ""))
	m.prints("up")
	pid, svcrun := readNumber(t, m.dir+"/pid"), m.nth(1, timeline.Ready).PID
	m.signal(syscall.SIGKILL)
	for _, p := range []int{pid, svcrun} {
		awaitEnd(t, p)
	}
	if _, err := os.Stat(m.dir + "/drained"); err != nil {
		t.Errorf("svcrun was not asked to drain: %v", err)
	}
}

func TestServicesStartAfterThoseTheyComeAfterAndStopBeforeThem(t *testing.T) {
	t.Parallel()
	serve := "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done"
	m := manage(t, shell("web", serve, "after: [db.service]\nrequires: [db.service]\n")+"---\n"+shell("db", "sleep 0.2; touch $DIR/db; "+serve, "ready: {checks: [\"file:$DIR/db\"]}\n"))
	m.is(timeline.Ready, "db")
	m.is(timeline.Starting, "web")
	m.is(timeline.Ready, "web")
	m.signal(syscall.SIGTERM)
	m.is(timeline.Ended, "web")
	m.is(timeline.Ended, "db")
	m.ends(0)
}

func TestAConnectionBetweenTwoRunsWaitsForTheNext(t *testing.T) {
	t.Parallel()
	m := manage(t, `
name: door
exec: [$SELF]
env: {SVCKIT_MANAGER_SERVE: "1"}
sockets: [{listen: $DIR/door, name: front, mode: "0600"}]
restart: {when: always, base: 300ms, cap: 300ms}
`)
	m.is(timeline.Starting)
	info, err := os.Stat(m.dir + "/door")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v; want mode 0600", info, err)
	}
	for range 2 { // the service answers once, and ends
		if got, want := ask(t, m.dir+"/door"), "front 1 true"; got != want {
			t.Errorf("answer %q; want %q", got, want)
		}
		m.is(timeline.Restarting)
	}
	m.signal(syscall.SIGTERM)
	m.is(timeline.Finished)
	m.ends(0)
	if _, err := os.Stat(m.dir + "/door"); err == nil {
		t.Error("the socket is there after the end")
	}
}

// serve is a service that takes a descriptor from its manager: it answers one
// connection with what it was told.
func serve() int {
	listener, err := net.FileListener(os.NewFile(3, "door"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	conn, err := listener.Accept()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	own := os.Getenv("LISTEN_PID") == strconv.Itoa(os.Getpid())
	fmt.Fprintf(conn, "%s %s %v", os.Getenv("LISTEN_FDNAMES"), os.Getenv("LISTEN_FDS"), own)
	return 0
}

// ask connects, and reads the answer.
func ask(t *testing.T, path string) string {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAServiceFindsWhatSystemdWouldGiveIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/secret", []byte("hush"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/vars", []byte("# a comment\nFROM_FILE='a  b'\nOVER=file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := manage(t, shell("env", "env >$DIR/env; ulimit -n >$DIR/nofile; cat $CREDENTIALS_DIRECTORY/token >$DIR/token; pwd >$DIR/pwd; test -e /proc/$$/fd/3 -o -e /proc/$$/fd/4 && echo some >$DIR/fds || echo none >$DIR/fds; umask >$DIR/umask;"+
		"grep SigIgn /proc/self/status >$DIR/ignored; test -t 0 || echo no terminal; cat; exit 7", `
working_dir: $DIR
env: {OVER: unit, PLAIN: "with blank"}
env_files: [`+dir+`/vars, -/nowhere/at/all]
credentials: {token: `+dir+`/secret}
dirs: {state: [app], runtime: [app], cache: [app/c]}
resources: {nofile: 123}
`+once), func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "CALLERS=secret")
		cmd.ExtraFiles = []*os.File{os.Stdin, os.Stdin}
	})
	m.ends(7)
	env := variables(t, m.dir+"/env")
	for name, want := range map[string]string{
		"PATH": servicePath(), "LANG": "C.UTF-8", "OVER": "file", "PLAIN": "with blank", "FROM_FILE": "a  b", "GIVEN": "1",
		"STATE_DIRECTORY": m.dir + "/state/app", "RUNTIME_DIRECTORY": m.dir + "/run/app", "CACHE_DIRECTORY": m.dir + "/cache/app/c",
	} {
		if env[name] != want {
			t.Errorf("%s=%s; want %s", name, env[name], want)
		}
	}
	if len(env["INVOCATION_ID"]) != 32 || env["SYSTEMD_EXEC_PID"] == "0" {
		t.Errorf("INVOCATION_ID=%s SYSTEMD_EXEC_PID=%s", env["INVOCATION_ID"], env["SYSTEMD_EXEC_PID"])
	}
	for _, name := range []string{"CALLERS", policyEnv, "JOURNAL_STREAM"} {
		if _, ok := env[name]; ok {
			t.Errorf("%s is there", name)
		}
	}
	for file, want := range map[string]string{
		"nofile": "123", "token": "hush", "pwd": m.dir, "fds": "none", "umask": "0022", "ignored": "SigIgn:\t0000000000001000",
	} {
		text, err := os.ReadFile(filepath.Join(m.dir, file))
		if got := strings.TrimSpace(string(text)); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", file, got, err, want)
		}
	}
	for _, gone := range []string{"run/app", "credentials/env.service", "run/svckit"} {
		if _, err := os.Stat(filepath.Join(m.dir, gone)); err == nil {
			t.Errorf("%s is there after the end", gone)
		}
	}
	if _, err := os.Stat(m.dir + "/state/app"); err != nil {
		t.Errorf("the state directory is gone: %v", err)
	}
}

func TestRootRunsAServiceAsItsUserWithItsGroups(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can become another user")
	}
	m := manage(t, shell("other", "id -un; id -Gn; echo $USER $LOGNAME $HOME; exit 0", "user: nobody\n"+once))
	m.prints("nobody")
	m.prints("nogroup")
	m.prints("nobody nobody /nonexistent")
	m.ends(0)
}

func TestWhoIsNotRootIsToldWhatAUserNeeds(t *testing.T) {
	t.Parallel()
	h := &Host{UID: 1000, UserName: "me"}
	for _, p := range []struct{ user, group, want string }{
		{"gateway", "", "x.service: user gateway can be taken on by root alone"},
		{"", "gateway", "x.service: group gateway can be taken on by root alone"},
		{"me", "", ""}, {"1000", "", ""}, {"", "", ""},
	} {
		s := serviceOf("x.service")
		s.Surroundings.User, s.Surroundings.Group = p.user, p.group
		_, err := h.identify(&s, false)
		if got := errorText(err); got != p.want {
			t.Errorf("user %q, group %q: %q; want %q", p.user, p.group, got, p.want)
		}
		if _, err := h.identify(&s, true); err != nil {
			t.Errorf("as the caller: %v", err)
		}
	}
}

func TestAManagerEndsWithTheCodeOfItsService(t *testing.T) {
	t.Parallel()
	codes := []int{0, 1, 2, 69, 70, 77, 126, 127, 128, 203, 254, 255}
	if os.Getenv("SVCKIT_FULL") != "" {
		codes = nil
		for code := range 256 {
			codes = append(codes, code)
		}
	} else {
		codes = append(codes, rand.IntN(256), rand.IntN(256))
	}
	for _, code := range codes {
		m := manage(t, shell("code", "exit "+strconv.Itoa(code), once+"early_exit: success\n"))
		m.ends(code)
	}
	m := manage(t, shell("killed", "kill -SEGV $$", once))
	m.ends(128 + 11)
}

func TestAsProcessOneItReapsAndStopsAndEndsWithTheStatus(t *testing.T) {
	t.Parallel()
	args := []string{"--pid", "--fork", "--mount-proc", "--kill-child"}
	if os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	if out, err := exec.Command("unshare", append(args, "true")...).CombinedOutput(); err != nil {
		t.Skipf("skipped: there are no pid namespaces here: %v %s", err, out)
	}
	m := manage(t, shell("init", "trap 'echo got it' USR1; trap 'exit 5' TERM; (setsid sleep 0.05 &) ; (setsid sleep 1001 &); "+
		"echo up; while :; do sleep 0.02; done", once+"success: [5]\n"), func(cmd *exec.Cmd) {
		cmd.Path, _ = exec.LookPath("unshare")
		cmd.Args = append(append([]string{"unshare"}, args...), cmd.Args...)
	})
	m.prints("up")
	one := onlyChild(t, m.cmd.Process.Pid)
	if err := unix.Kill(one, unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	m.prints("got it")
	awaitNoZombie(t, one)
	if err := unix.Kill(one, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.is(timeline.Ended)
	m.ends(0)
}

// onlyChild waits for the one child of a process.
func onlyChild(t *testing.T, pid int) int {
	t.Helper()
	var child int
	waitFor(t, "a child", func() bool {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		_, err := fmt.Sscan(string(text), &child)
		return err == nil
	})
	return child
}

// awaitNoZombie waits until no child of a process is one.
func awaitNoZombie(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, "an end of all zombies", func() bool {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for _, child := range strings.Fields(string(text)) {
			stat, _ := os.ReadFile("/proc/" + child + "/stat")
			if bytes.Contains(stat, []byte(") Z ")) {
				return false
			}
		}
		return true
	})
}

func TestATimeLineThatNobodyReadsAnyMoreDrainsTheServices(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m := manage(t, shell("alone", "trap 'echo drained >$DIR/drained; exit 0' TERM; touch $DIR/up; while :; do echo line; sleep 0.02; done", ""),
		func(cmd *exec.Cmd) { cmd.ExtraFiles = []*os.File{write} }, ontoDescriptor3)
	_ = write.Close()
	waitFor(t, "the service", func() bool { return exists(m.dir + "/up") })
	_ = read.Close()
	m.ends(0)
	if !exists(m.dir + "/drained") {
		t.Error("the service was not drained")
	}
}

func TestAServiceWaitsForATimeLineThatIsReadSlowly(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m := manage(t, shell("loud", "i=0; while :; do i=$((i+1)); echo $i >$DIR/count; printf '%04000d\\n' $i; done", "drain: {steps: [TERM@5s]}\n"),
		func(cmd *exec.Cmd) { cmd.ExtraFiles = []*os.File{write} }, ontoDescriptor3)
	_ = write.Close()
	waitFor(t, "a service that waits", func() bool {
		before := countOf(m.dir + "/count")
		<-time.After(300 * time.Millisecond) // it would write a hundred lines
		return before > 0 && countOf(m.dir+"/count") == before
	})
	// Two pipes of 64 KiB, and what waits to be written.
	if lines := countOf(m.dir + "/count"); lines > 2*64/4+4*maxLines {
		t.Errorf("%d lines of 4000 bytes were taken that nobody has read", lines)
	}
	m.signal(syscall.SIGTERM) // which a terminal that is stuck does not keep from being done
	waitFor(t, "the end", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.over })
	_ = read.Close()
}

// ontoDescriptor3 has a manager write to its descriptor 3.
func ontoDescriptor3(cmd *exec.Cmd) {
	cmd.Args = append([]string{"sh", "-c", `exec "$0" >&3 3>&-`}, cmd.Path)
	cmd.Path = "/bin/sh"
}

func TestASecondManagerOfAServiceIsRefused(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("twice", "echo up; exec sleep 100", ""))
	m.prints("up")
	m.nth(1, timeline.Ready)
	other := manage(t, shell("twice", "echo up", ""), func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, dirEnv+"="+m.dir) })
	other.ends(99)
	if text := other.errs.String(); !strings.Contains(text, "it is running already") {
		t.Errorf("it says %q", text)
	}
	m.signal(syscall.SIGTERM)
	m.ends(0)
}

func TestALineIsCutAtItsBoundAndOneWithoutAnEndIsTold(t *testing.T) {
	t.Parallel()
	m := manage(t, shell("lines", "head -c 49152 /dev/zero | tr '\\0' x; printf 'more\\nrest'; exit 0", once))
	m.prints(strings.Repeat("x", maxLine))
	m.prints("more")
	m.prints("rest")
	m.ends(0)
}

// waitFor waits until something holds that no event tells of.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for bound := time.After(patience); !holds(); {
		select {
		case <-tick.C:
		case <-bound:
			t.Fatalf("%s did not come", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func countOf(path string) int {
	text, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

// readNumber waits for a file with a number.
func readNumber(t *testing.T, path string) int {
	t.Helper()
	waitFor(t, path, func() bool { return countOf(path) > 0 })
	return countOf(path)
}

// alive says whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, fmt.Sprintf("the end of process %d", pid), func() bool { return !alive(pid) })
}

// variables reads what env(1) has printed.
func variables(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		found[name] = value
	}
	return found
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
