package manager

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/proc/proctest"
	"github.com/svckit/svckit/unitgen"
)

// A manager reaps every child of its process, and takes its signals, so each of
// these tests runs one in a process of its own, which is this test binary again:
// with the race detector, and with directories of the test's.

const (
	policyEnv = "SVCKIT_MANAGER_POLICY" // the file with the policy that this process runs
	dirEnv    = "SVCKIT_MANAGER_DIR"    // where the manager of this process has its directories
	asMeEnv   = "SVCKIT_MANAGER_AS_ME"
	serveEnv  = "SVCKIT_MANAGER_SERVE" // this process is a service that answers on descriptor 3

	// patience bounds whatever should come at once, on a loaded machine too.
	patience = 2 * time.Minute
)

func init() { PrepareShim(os.Args) }

func TestMain(m *testing.M) {
	switch {
	case IsShim(os.Args):
		os.Exit(Shim(os.Args))
	case os.Getenv(serveEnv) != "":
		os.Exit(serve())
	case os.Getenv(policyEnv) != "":
		code, err := runPolicy(os.Getenv(policyEnv), os.Getenv(dirEnv))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		os.Exit(code)
	}
	proctest.DefaultSignals()
	code := m.Run()
	_ = os.RemoveAll(built.dir)
	os.Exit(code)
}

// runPolicy is svcgen run, but for its flags.
func runPolicy(path, dir string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	policies, err := unitgen.Read(path, text)
	if err != nil {
		return 0, err
	}
	target, err := unitgen.LookupTarget("v262")
	if err != nil {
		return 0, err
	}
	var files []unitgen.File
	for _, p := range policies {
		result, err := unitgen.Generate(p, target, unitgen.Options{Source: "a test", Svcrun: os.Getenv("SVCKIT_MANAGER_SVCRUN")})
		if err != nil {
			return 0, err
		}
		files = append(files, result.Files...)
	}
	host := &Host{
		Root: os.Geteuid() == 0, UID: os.Geteuid(), UserName: "me", HomeDir: dir, Dir: dir,
		Runtime: dir + "/run", State: dir + "/state", Cache: dir + "/cache", Logs: dir + "/logs", Config: dir + "/config",
	}
	services, err := plan.Read(files, target, host.System())
	if err != nil {
		return 0, err
	}
	return Run(Options{
		Services: services, Host: host, Env: []string{"GIVEN=1"}, AsMe: os.Getenv(asMeEnv) != "",
		Out: os.Stdout, Style: timeline.Style{JSON: true},
	})
}

// built is svcrun, built once if make has not done it.
var built struct {
	once sync.Once
	dir  string
	path string
	err  error
}

func svcrun(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if dir := os.Getenv("SVCKIT_BIN"); dir != "" {
			built.path = filepath.Join(dir, "svcrun")
			return
		}
		//nolint:usetesting // it is for all tests, and other users look into it
		if built.dir, built.err = os.MkdirTemp("", "svckit-manager-"); built.err != nil {
			return
		}
		_ = os.Chmod(built.dir, 0o755)
		built.path = filepath.Join(built.dir, "svcrun")
		cmd := exec.Command("go", "build", "-ldflags=-E=svckit_rt0", "-o", built.path, "github.com/svckit/svckit/cmd/svcrun")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// event is what a time line tells, as far as these tests look at it.
type event struct {
	Event, Unit, Text, Stream, Cause, Result, Signal string
	Run, Restarts, PID                               int
	Restart                                          bool
	Tail                                             []string
	Exit                                             struct {
		Code   *int
		Signal string
	}
}

// text is what a process writes to its standard error.
type text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *text) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *text) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// managed is a manager that runs.
type managed struct {
	t    *testing.T
	dir  string
	cmd  *exec.Cmd
	errs text

	mu      sync.Mutex
	changed *sync.Cond
	events  []event
	over    bool
	code    int
	taken   int // events that until has looked at
}

// manage starts a manager for a policy, in which $DIR is a directory of the test.
func manage(t *testing.T, policy string, prepare ...func(*exec.Cmd)) *managed {
	t.Helper()
	m := &managed{t: t, dir: shortDir(t)}
	m.changed = sync.NewCond(&m.mu)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	policy = strings.NewReplacer("$DIR", m.dir, "$SELF", self).Replace(policy)
	path := filepath.Join(m.dir, "policy.yaml")
	if err := os.WriteFile(path, []byte(policy), 0o644); err != nil {
		t.Fatal(err)
	}
	m.cmd = exec.Command(self)
	m.cmd.Env = append(os.Environ(), policyEnv+"="+path, dirEnv+"="+m.dir, "SVCKIT_MANAGER_SVCRUN="+svcrun(t), "GORACE=atexit_sleep_ms=0")
	m.cmd.Stderr = &m.errs
	m.cmd.WaitDelay = time.Second
	for _, p := range prepare {
		p(m.cmd)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go m.read(bufio.NewScanner(out))
	t.Cleanup(m.finish)
	return m
}

// shortDir is a directory whose name leaves room for a socket in it, and in
// which every user may look.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "svm-") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(dir, 0o755)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// read takes what the manager tells, to its end.
func (m *managed) read(lines *bufio.Scanner) {
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			m.t.Errorf("%v in %q", err, lines.Text())
		}
		m.mu.Lock()
		m.events = append(m.events, e)
		m.changed.Broadcast()
		m.mu.Unlock()
	}
	_ = m.cmd.Wait()
	m.mu.Lock()
	m.over, m.code = true, m.cmd.ProcessState.ExitCode()
	m.changed.Broadcast()
	m.mu.Unlock()
}

// finish ends a manager that a failed test has left, and with it its services.
func (m *managed) finish() {
	m.mu.Lock()
	over := m.over
	m.mu.Unlock()
	if over {
		return
	}
	for range 3 {
		_ = m.cmd.Process.Signal(syscall.SIGTERM)
		<-time.After(2 * oneStop)
	}
	defer time.AfterFunc(10*time.Second, func() { _ = m.cmd.Process.Kill() }).Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.over {
		m.changed.Wait()
	}
}

// until waits for the next event of which holds is true, and returns it.
func (m *managed) until(what string, holds func(event) bool) event {
	m.t.Helper()
	return m.find(what, &m.taken, holds)
}

// nth waits for the nth event of that name, whatever until has looked at.
func (m *managed) nth(n int, name timeline.Name) event {
	m.t.Helper()
	from := 0
	return m.find(fmt.Sprint(name, " ", n), &from, func(e event) bool {
		if e.Event == string(name) {
			n--
		}
		return n == 0
	})
}

// find looks at events in their order.
func (m *managed) find(what string, from *int, holds func(event) bool) event {
	m.t.Helper()
	timeout := time.AfterFunc(patience, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.changed.Broadcast()
	})
	defer timeout.Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for began := time.Now(); ; m.changed.Wait() {
		for *from < len(m.events) {
			e := m.events[*from]
			*from++
			if holds(e) {
				return e
			}
		}
		if m.over || time.Since(began) > patience {
			m.t.Fatalf("%s did not come (over: %v, code %d)\n%s\n%s", what, m.over, m.code, m.log(), m.errs.String())
		}
	}
}

// is waits for an event of that name, and of that unit where it is said.
func (m *managed) is(name timeline.Name, unit ...string) event {
	m.t.Helper()
	return m.until(string(name), func(e event) bool {
		return e.Event == string(name) && (len(unit) == 0 || e.Unit == unit[0]+".service")
	})
}

// prints waits for a line of a service.
func (m *managed) prints(line string) event {
	m.t.Helper()
	return m.until("the line "+line, func(e event) bool { return e.Event == string(timeline.Output) && e.Text == line })
}

func (m *managed) signal(s syscall.Signal) {
	m.t.Helper()
	if err := m.cmd.Process.Signal(s); err != nil {
		m.t.Fatal(err)
	}
}

// ends waits for the manager's end.
func (m *managed) ends(code int) {
	m.t.Helper()
	defer time.AfterFunc(patience, func() { _ = m.cmd.Process.Kill() }).Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.over {
		m.changed.Wait()
	}
	if m.code != code {
		m.t.Errorf("exit code %d; want %d\n%s\n%s", m.code, code, m.log(), m.errs.String())
	}
}

// log is all that was told, for a failed test; the caller holds the lock.
func (m *managed) log() string {
	var out strings.Builder
	for _, e := range m.events {
		fmt.Fprintf(&out, "%s %s run %d: %s %s %s %s\n", e.Unit, e.Event, e.Run, e.Text, e.Cause, e.Signal, e.Exit.Signal)
	}
	return out.String()
}

// story is what was told of a unit, but for lines and statuses.
func (m *managed) story(unit string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var words []string
	for _, e := range m.events {
		if e.Unit != unit+".service" || e.Event == string(timeline.Output) || e.Event == string(timeline.Status) {
			continue
		}
		word := e.Event
		if e.Cause != "" {
			word += "=" + e.Cause
		}
		if e.Signal != "" {
			word += "=" + e.Signal
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// serviceOf is a service with nothing but a name.
func serviceOf(name string) plan.Service { return plan.Service{Name: name} }
