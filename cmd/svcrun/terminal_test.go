package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudoterminal at which svcrun runs, as a session of its own or
// as a job of a shell's.
type terminal struct {
	t      *testing.T
	keys   *os.File // what is written there is typed
	screen *journal
	cmd    *exec.Cmd
	ended  chan struct{}
}

// atTerminal runs a program whose controlling terminal is a new one, with all
// three streams, or, where stdin is given, all but that.
func atTerminal(t *testing.T, stdin *os.File, program string, args ...string) *terminal {
	t.Helper()
	master, slave := openTerminal(t)
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, keys: master, screen: newJournal(t.TempDir() + "/screen"), ended: make(chan struct{})}
	term.cmd = exec.Command(path, args...)
	term.cmd.Args[0] = program
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = slave, slave, slave
	if stdin != nil {
		term.cmd.Stdin = stdin
	}
	term.cmd.Dir = t.TempDir() // where nohup writes
	term.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PS1=", "ENV=")
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	go term.show()
	go func() {
		defer close(term.ended)
		_ = term.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		<-term.ended
		_ = master.Close()
	})
	return term
}

// openTerminal makes a pseudoterminal (pts(4)).
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	// Not blocking, so that Close does not wait for whoever reads.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("SKIP: no pseudoterminals here: %v", err)
	}
	master = os.NewFile(uintptr(fd), "terminal")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// show copies what appears to the screen.
func (term *terminal) show() {
	text := make([]byte, 4096)
	for {
		n, err := term.keys.Read(text)
		if n > 0 {
			_, _ = term.screen.Write(text[:n])
		}
		if err != nil {
			return
		}
	}
}

// reads waits until the screen shows a match.
func (term *terminal) reads(pattern string) {
	term.t.Helper()
	if !term.screen.until(regexp.MustCompile(pattern)) {
		term.t.Fatalf("%q does not appear:\n%s", pattern, term.screen)
	}
}

// types types.
func (term *terminal) types(keys string) {
	term.t.Helper()
	if _, err := term.keys.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// The keys that send signals.
const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
	quit  = "\x1c"
)

// ends waits for the end and checks how it was.
func (term *terminal) ends(want string) {
	term.t.Helper()
	select {
	case <-term.ended:
	case <-time.After(patience):
		term.t.Fatalf("it has not ended:\n%s", term.screen)
	}
	if got := term.cmd.ProcessState.String(); got != want {
		term.t.Errorf("it ended with %q, want %q:\n%s", got, want, term.screen)
	}
}

// A person's service: it says what reaches it.
const tells = `
	trap 'echo "the service got INT"' INT
	trap 'echo "the service got HUP"' HUP
	trap 'echo "the service got TERM"; exit 0' TERM
	echo up
	while :; do sleep 0.05; done`

func TestCtrlCDrains(t *testing.T) {
	for name, stdin := range map[string]*os.File{"all streams": nil, "no input": devNull(t)} {
		t.Run(name, func(t *testing.T) {
			term := atTerminal(t, stdin, "svcrun", "--", "/bin/sh", "-c", tells)
			term.reads("up")
			term.types(ctrlC)
			term.ends("exit status 0")
			term.reads("the service got TERM")
			term.reads("svcrun: end cause=stop-requested")
			if text := term.screen.String(); strings.Contains(text, "the service got INT") {
				t.Errorf("the terminal's INT reached the service:\n%s", text)
			}
		})
	}
}

func TestASecondCtrlCGoesOnToTheNextStep(t *testing.T) {
	term := atTerminal(t, nil, "svcrun", "--stop=TERM@30s", "--stop=USR1@30s", "--kill-wait=1s", "--", "/bin/sh", "-c",
		`trap 'echo step one' TERM; trap 'echo step two; exit 0' USR1; echo up; while :; do sleep 0.05; done`)
	term.reads("up")
	term.types(ctrlC + ctrlC) // one stop, however often a nervous person presses
	term.reads("step one")
	time.Sleep(1100 * time.Millisecond) //nolint:forbidigo // time itself is what is waited for
	if text := term.screen.String(); strings.Contains(text, "step two") {
		t.Errorf("it escalated at once:\n%s", text)
	}
	term.types(ctrlC)
	term.reads("step two")
	term.ends("exit status 0")
}

func TestCtrlBackslashIsTheServices(t *testing.T) {
	term := atTerminal(t, nil, "svcrun", "--", "/bin/sh", "-c", `trap 'echo "the service got QUIT"' QUIT; echo up; while :; do sleep 0.05; done`)
	term.reads("up")
	term.types(quit)
	term.reads("the service got QUIT")
	term.types(ctrlC)
	term.ends("exit status 0")
}

// Ctrl-Z gives the shell its prompt back. The service, which is a job of its own,
// goes on to serve, and svcrun takes care of it again with fg or bg.
func TestCtrlZStopsSvcrunAlone(t *testing.T) {
	term := atTerminal(t, nil, "/bin/sh", "-mc", `
		svcrun -- /bin/sh -c 'trap "echo got TERM; exit 0" TERM; trap "echo continued" CONT; echo up; while sleep 0.05; do [ ! -e "$0" ] || echo serving; done' "$1/serve"
		echo prompt; : >"$1/serve"; read line; rm "$1/serve"; fg; exit $?`, "sh", t.TempDir())
	term.reads("up")
	term.types(ctrlZ)
	term.reads("prompt")
	term.reads("serving")
	term.types("\n")
	term.reads("(?m)^continued") // fg gives svcrun the terminal first
	term.types(ctrlC)
	term.reads("got TERM")
	term.ends("exit status 0")
}

// A process outside of the terminal's foreground is stopped when it reads from it.
func TestServiceThatReadsTheTerminalIsToldOf(t *testing.T) {
	term := atTerminal(t, nil, "svcrun", "--", "/bin/sh", "-c", `echo up; read line; echo "read $line"`)
	term.reads("up")
	term.reads("svcrun: the service has been stopped, as it reads from the terminal: .*</dev/null")
	term.types(ctrlC)
	term.ends("exit status 0")
	if n := strings.Count(term.screen.String(), "has been stopped"); n != 1 {
		t.Errorf("it was told %d times", n)
	}
}

func TestServiceThatSetsTheTerminalIsToldOf(t *testing.T) {
	term := atTerminal(t, nil, "svcrun", "--", "/bin/sh", "-c", `echo up; exec stty -echo`)
	term.reads("up")
	term.reads("svcrun: the service has been stopped, as it changes the terminal's settings: ")
	term.types(ctrlC)
	term.ends("exit status 0")
}

// Nobody is left to stop a service whose terminal has gone.
func TestHangUpDrains(t *testing.T) {
	dir := t.TempDir()
	service := `trap 'echo TERM >"$1/got"; exit 0' TERM; trap 'echo HUP >"$1/got"' HUP; echo $$ >"$1/pid"; echo up; while :; do sleep 0.05; done`
	for name, argv := range map[string][]string{
		"leader of the session": {"svcrun", "--", "/bin/sh", "-c", service, "sh", dir},
		"job of a shell":        {"/bin/bash", "-mc", `svcrun -- /bin/sh -c "$1" sh "$2"; exit`, "bash", service, dir},
	} {
		t.Run(name, func(t *testing.T) {
			term := atTerminal(t, nil, argv[0], argv[1:]...)
			term.reads("up")
			hangUp(t, term)
			if got := eventually(t, dir+"/got"); got != "TERM" {
				t.Errorf("the service got %s", got)
			}
			_ = os.Remove(dir + "/got")
		})
	}
}

// kill -HUP is a reload at a terminal too.
func TestHUPIsAReloadWhileTheTerminalIsThere(t *testing.T) {
	term := atTerminal(t, nil, "svcrun", "--", "/bin/sh", "-c", tells)
	term.reads("up")
	if err := term.cmd.Process.Signal(unix.SIGHUP); err != nil {
		t.Fatal(err)
	}
	term.reads("the service got HUP")
	term.types(ctrlC)
	term.ends("exit status 0")
}

func TestHangUpIsNothingUnderNohup(t *testing.T) {
	dir := t.TempDir()
	term := atTerminal(t, nil, "nohup", "svcrun", "--", "/bin/sh", "-c",
		`trap 'echo TERM >"$1/got"; exit 0' TERM; echo up >"$1/up"; while sleep 0.05; do [ -t 0 ] || echo on >"$1/on"; done`, "sh", dir)
	eventually(t, dir+"/up")
	hangUp(t, term)
	_ = os.Remove(dir + "/on")
	if got := eventually(t, dir+"/on"); got != "on" {
		t.Errorf("the service did not go on: %s", got)
	}
	if err := term.cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := eventually(t, dir+"/got"); got != "TERM" {
		t.Errorf("the service got %s", got)
	}
}

// hangUp closes the terminal.
func hangUp(t *testing.T, term *terminal) {
	t.Helper()
	if err := term.keys.Close(); err != nil {
		t.Fatal(err)
	}
}

// eventually is what a file holds, once it holds something.
func eventually(t *testing.T, path string) string {
	t.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return strings.TrimSpace(string(text))
		}
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // a shell makes the file
	}
	t.Fatalf("%s does not come", path)
	return ""
}

func devNull(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
