package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// The plan of every stubborn service, where its own does not say otherwise; and
// how late a deadline may be met on a machine that runs a hundred of them. That is
// less than killWait: one that is waited for once too often is seen.
const (
	hookTimeout = 400 * time.Millisecond
	softStep    = 300 * time.Millisecond // of each step
	killWait    = 3 * time.Second
	lateness    = 2500 * time.Millisecond
	margin      = 5 * time.Second // of TimeoutStopSec= over the derived bound
)

// stubborn is one way of a service not to end as it is asked to, and how its stop
// goes.
type stubborn struct {
	name    string
	does    string        // what testdata/stubborn is told to do
	before  string        // of the command
	program string        // in the place of /usr/bin/stubborn
	hook    string        // the same of the hook; "" for none
	delay   time.Duration // --drain-delay
	steps   []string      // the signals of the soft phase; nil for TERM
	flags   string        // more of svcrun's
	lines   string        // more of the unit's

	phases []phase       // of the stop
	says   []mark        // by the way
	bySelf bool          // the service began it: the manager hears of it later
	killed bool          // the main process needed SIGKILL: the unit has failed
	ends   time.Duration // when all is over, where that is not svcrun's end
	left   bool          // svcrun leaves processes, which the manager kills
	spared int           // processes that the manager leaves as well, with KillMode=process
}

// phase is a part of a stop, as svcrun records it, and the time that it takes.
type phase struct {
	name string
	took time.Duration
}

// mark is a line in the journal, and when it is due after the beginning of the
// stop.
type mark struct {
	text string
	at   time.Duration
}

const unkillable = "would not die; left to the manager"

// The phases of most stops.
var (
	heeded   = phase{"stop", 0}
	unheeded = phase{"stop", softStep}
	outlived = phase{"ending", killWait} // others outlive the main process
	killing  = phase{"killing", 0}
	inVain   = phase{"killing", killWait}
)

// deafMain is the stop of a main process that heeds nothing.
func deafMain(name, does string) stubborn {
	return stubborn{name: name, does: does, killed: true, phases: []phase{unheeded, killing}}
}

// leavesDeaf is the stop of a main process that ends as it is asked to, and
// leaves others that do not.
func leavesDeaf(name, does string) stubborn {
	return stubborn{name: name, does: does, phases: []phase{heeded, outlived, killing}}
}

// with changes a copy.
func (s stubborn) with(change func(*stubborn)) stubborn {
	change(&s)
	return s
}

// stubborns are all of them.
func stubborns() []stubborn {
	return slices.Concat(deafMains(), leavers(), otherUsers(), hooksAndDelays(), bySelf(), scopes(), controlProcesses())
}

func deafMains() []stubborn {
	return []stubborn{
		deafMain("ignores-term", "deaf"),
		deafMain("ignores-all", "deaf-to-all"),
		deafMain("forks-on-term", "forks"),
		deafMain("stopped-and-deaf", "stopped-deaf"),
		deafMain("uninterruptible", "vforked"),
		deafMain("traced", "traced"),
		deafMain("leader-thread-gone", "leaderless"),
		deafMain("threads-blocked", "threads"),
		deafMain("keeps-zombies", "zombies"),
		deafMain("becomes-another-program", "execs"),
		deafMain("deep-tree", "deep-12"),
		{name: "heeds-the-second-step", does: "execs", steps: []string{"TERM", "INT"}, phases: []phase{unheeded, heeded}},
		{name: "stopped", does: "stopped", phases: []phase{heeded}},
	}
}

func leavers() []stubborn {
	return []stubborn{
		leavesDeaf("leaves-child", "leaves plain,deaf"),
		leavesDeaf("leaves-group", "leaves group,deaf"),
		leavesDeaf("leaves-session", "leaves session,deaf"),
		leavesDeaf("leaves-daemon", "leaves daemon,deaf"),
		leavesDeaf("leaves-many", "leaves plain,deaf group,deaf session,deaf daemon,deaf-to-all plain,deaf"),
		leavesDeaf("leaves-stopped-deaf", "leaves stopped,deaf"),
		leavesDeaf("leaves-uninterruptible", "leaves session,vforked"),
		leavesDeaf("leaves-leader-thread-gone", "leaves session,leaderless"),
		leavesDeaf("chain-of-forks", "chain"),
		leavesDeaf("chain-of-quick-forks", "").with(func(s *stubborn) { s.program = "/usr/bin/perl /usr/bin/quick-chain" }),
		leavesDeaf("leaves-zombie-keeper", "leaves session,zombies"),
		leavesDeaf("leaves-misnamed", "leaves session,misnamed"),
		leavesDeaf("leaves-container", "leaves pidns,deaf"),
		leavesDeaf("leaves-deep-tree", "leaves session,deep-12"),
		leavesDeaf("forks-on-term-and-ends", "forks-and-ends"),
		leavesDeaf("check-leaves-daemon", "heeding").with(func(s *stubborn) {
			// It holds the pipe that the check's output goes to, too.
			s.flags = `"--live=exec:/usr/bin/stubborn now daemon\\,deaf,interval=10min"`
		}),
		{name: "leaves-heeding-session", does: "leaves session,heeding", phases: []phase{heeded, {"ending", 0}}},
		{name: "leaves-stopped", does: "leaves stopped,heeding", phases: []phase{heeded, {"ending", 0}}},
	}
}

// quickChain forks at TERM, and each of the chain forks once more and ends at
// once: whoever looks through the process table sees the one that has just ended,
// and not yet the next.
const quickChain = `use POSIX;
$SIG{TERM} = sub {
	$SIG{TERM} = 'IGNORE';
	for (1..3000) { fork and POSIX::_exit(0); setsid; select undef, undef, undef, 0.0005 }
	POSIX::_exit(0);
};
system "systemd-notify", "--ready";
sleep 60;
`

// otherUsers are processes that svcrun may signal, or may not.
func otherUsers() []stubborn {
	const drop = "/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups "
	return []stubborn{
		deafMain("other-user", "deaf").with(func(s *stubborn) { s.before = drop }),
		{
			name: "other-user-without-cap-kill", does: "deaf", before: drop, lines: "CapabilityBoundingSet=~CAP_KILL",
			killed: true, left: true, phases: []phase{unheeded, inVain}, says: []mark{{unkillable, softStep + killWait}},
		},
		{
			name: "became-root-under-a-user", does: "becomes-root", program: "/usr/bin/stubborn-root", lines: "User=nobody",
			killed: true, left: true, phases: []phase{unheeded, inVain}, says: []mark{{unkillable, softStep + killWait}},
		},
		{
			name: "leaves-root-under-a-user", does: "leaves session,becomes-root", program: "/usr/bin/stubborn-root", lines: "User=nobody", left: true,
			phases: []phase{heeded, outlived, inVain}, says: []mark{{unkillable, 2 * killWait}},
		},
	}
}

func hooksAndDelays() []stubborn {
	return []stubborn{
		{name: "hook-hangs", does: "heeding", hook: "deaf", phases: []phase{{"pre-stop", hookTimeout}, heeded}},
		leavesDeaf("hook-leaves-daemon", "heeding").with(func(s *stubborn) {
			s.hook, s.phases = "now daemon,deaf", append([]phase{{"pre-stop", 0}}, s.phases...)
		}),
		{
			name: "delay", does: "tells-term", delay: time.Second,
			phases: []phase{{"drain-delay", time.Second}, heeded}, says: []mark{{"the service got TERM", time.Second}},
		},
		{
			name: "hook-delay-steps-and-more", does: "deaf", hook: "deaf", delay: time.Second, steps: []string{"INT", "TERM"}, killed: true,
			phases: []phase{{"pre-stop", hookTimeout}, {"drain-delay", time.Second}, unheeded, unheeded, killing},
		},
	}
}

// bySelf are services that begin to stop by themselves.
func bySelf() []stubborn {
	return []stubborn{
		deafMain("says-stopping-and-hangs", "stopping").with(func(s *stubborn) { s.bySelf = true }),
		{name: "says-stopping-and-ends", does: "stopping-ends", bySelf: true, phases: []phase{heeded}},
		{name: "has-stopped-svcrun", does: "stops-svcrun", phases: []phase{heeded}},
	}
}

// scopes are the kill scopes, with a manager that kills nobody.
func scopes() []stubborn {
	const lines = "KillMode=process"
	return []stubborn{
		leavesDeaf("scope-tree", "leaves plain,deaf session,deaf").with(func(s *stubborn) { s.lines = lines }),
		leavesDeaf("scope-group", "leaves plain,deaf session,deaf").with(func(s *stubborn) {
			s.lines, s.flags, s.spared = lines, "--kill-scope=group", 1
		}),
		{name: "scope-main", does: "leaves plain,deaf session,deaf", lines: lines, flags: "--kill-scope=main", spared: 2, phases: []phase{heeded}},
		deafMain("scope-group-deaf-main", "deaf").with(func(s *stubborn) { s.flags = "--kill-scope=group" }),
		deafMain("scope-main-deaf-main", "deaf").with(func(s *stubborn) { s.flags = "--kill-scope=main" }),
		{
			name: "scope-group-traced", does: "traced", flags: "--kill-scope=group", killed: true, left: true,
			phases: []phase{unheeded, inVain}, says: []mark{{unkillable, softStep + killWait}},
		},
	}
}

// controlProcesses are others in the unit's control group, that are none of
// svcrun's.
func controlProcesses() []stubborn {
	return []stubborn{
		leavesDeaf("exec-stop-takes-its-time", "leaves session,deaf").with(func(s *stubborn) {
			s.lines = `ExecStop=/bin/sh -c "kill $MAINPID; sleep 4; echo ExecStop is through"`
			s.says, s.ends = []mark{{"ExecStop is through", 4 * time.Second}}, 4*time.Second
		}),
		{name: "exec-start-post-leaves-daemon", does: "heeding", lines: `ExecStartPost=/usr/bin/stubborn now daemon,deaf`, left: true, phases: []phase{heeded}},
	}
}

// bound is what is derived from the plan: the hook's timeout, the delay, the
// steps, and the kill wait for those who outlive the main process and for those
// who got SIGKILL.
func (s stubborn) bound() time.Duration {
	bound := s.delay + time.Duration(len(s.signals()))*softStep + 2*killWait
	if s.hook != "" {
		bound += hookTimeout
	}
	return bound
}

func (s stubborn) signals() []string {
	if s.steps == nil {
		return []string{"TERM"}
	}
	return s.steps
}

// unit is the unit, as svcgen derives it.
func (s stubborn) unit() string {
	command := "/usr/bin/svcrun --state-dir=%S/svckit/%N --ready=notify --start-timeout=15s --kill-wait=" + killWait.String()
	for _, signal := range s.signals() {
		command += fmt.Sprintf(" --stop=%s@%v", signal, softStep)
	}
	if s.hook != "" {
		command += fmt.Sprintf(` "--pre-stop=/usr/bin/stubborn %s" --pre-stop-timeout=%v`, s.hook, hookTimeout)
	}
	if s.delay > 0 {
		command += fmt.Sprintf(" --drain-delay=%v", s.delay)
	}
	return service("StateDirectory=svckit/%N", fmt.Sprintf("TimeoutStopSec=%dms", (s.bound()+margin).Milliseconds()), s.lines,
		"ExecStart="+command+" "+s.flags+" -- "+s.before+cmp.Or(s.program, "/usr/bin/stubborn")+" "+s.does)
}

// stubbornProgram builds testdata/stubborn, once.
var stubbornProgram = sync.OnceValues(func() (string, error) { return labtest.Build("./testdata/stubborn") })

func installStubborn(t *testing.T, m *labtest.Machine) {
	t.Helper()
	path, err := stubbornProgram()
	if err != nil {
		t.Fatal(err)
	}
	machines.Install(m, path, "/usr/bin/stubborn")
	machines.Install(m, path, "/usr/bin/stubborn-root")
	m.Run("chmod", "u+s", "/usr/bin/stubborn-root")
	m.Write("/usr/bin/quick-chain", quickChain, 0o644)
}

func TestStubbornServiceIsGoneWithinTheDerivedBound(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		installStubborn(t, m)
		b, units := newBatch(t, m), map[string]string{}
		for _, s := range stubborns() {
			units[s.name] = s.unit()
		}
		b.install(units)
		b.keep()
		b.start()
		m.Try(append([]string{"systemctl", "stop"}, b.units...)...)
		b.until("dead", "failed")
		shown := b.show(b.units, "Result", "ExecMainStatus", "ActiveExitTimestampMonotonic", "InactiveEnterTimestampMonotonic")
		said, left := b.said(), b.processes()
		for _, s := range stubborns() {
			t.Run(s.name, func(t *testing.T) {
				unit := b.unit(s.name)
				s.check(t, shown[unit], b.record(unit), said[unit], left[unit])
				if t.Failed() {
					t.Log(strings.Join(m.Journal(unit, 20), "\n"))
				}
			})
		}
	})
}

// due is when the end of the stop is due, after its beginning.
func (s stubborn) due() time.Duration {
	var due time.Duration
	for _, phase := range s.phases {
		due += phase.took
	}
	return max(due, s.ends)
}

// check holds a stop against what is promised of it.
func (s stubborn) check(t *testing.T, shown lab.Properties, record history.Record, said []entry, left int) {
	t.Helper()
	begun, over := micros(t, shown["ActiveExitTimestampMonotonic"]), micros(t, shown["InactiveEnterTimestampMonotonic"])
	t.Logf("over after %v; due at %v, bound %v", over-begun, s.due(), s.bound())
	if s.due() > s.bound() {
		t.Errorf("more is expected than derived")
	}
	want := map[bool][2]string{false: {"success", "0"}, true: {"signal", "9"}}[s.killed]
	if got := [2]string{shown["Result"], shown["ExecMainStatus"]}; got != want {
		t.Errorf("Result= and ExecMainStatus= are %v; want %v", got, want)
	}
	early := 250 * time.Millisecond // the stop has begun before the manager notes that
	if s.bySelf {
		early = time.Hour
	}
	checkTime(t, "the end", over-begun, s.due(), early)
	for _, mark := range s.says {
		i := slices.IndexFunc(said, func(e entry) bool { return strings.Contains(e.text, mark.text) })
		if i < 0 {
			t.Errorf("nobody says %q", mark.text)
			continue
		}
		checkTime(t, mark.text, said[i].at-begun, mark.at, early)
	}
	s.checkPhases(t, record)
	byManager := slices.ContainsFunc(said, func(e entry) bool { return strings.Contains(e.text, "Killing process") })
	if left != s.spared || byManager != s.left {
		t.Errorf("%d processes are left, the manager had some to kill: %v; want %d, %v", left, byManager, s.spared, s.left)
	}
}

// checkPhases holds that the stop had the phases that are due, each in its time.
func (s stubborn) checkPhases(t *testing.T, record history.Record) {
	t.Helper()
	stop := slices.DeleteFunc(record.Phases, func(p history.Phase) bool { return p.Name == "starting" || p.Name == "ready" })
	var got, want []string
	for _, p := range stop {
		got = append(got, p.Name)
	}
	for _, p := range s.phases {
		want = append(want, p.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the phases are %v; want %v", got, want)
		return
	}
	for i, p := range s.phases {
		checkTime(t, p.name, time.Duration(stop[i].TookUsec)*time.Microsecond, p.took, time.Millisecond)
	}
}

// checkTime holds that what is due at some time is not early, and not late.
func checkTime(t *testing.T, what string, got, due, early time.Duration) {
	t.Helper()
	if got < due-early || got > due+lateness {
		t.Errorf("%s was at %v, or took that long; due at %v", what, got, due)
	}
}

// record is what svcrun has written down of a unit's only run.
func (b *batch) record(unit string) history.Record {
	b.t.Helper()
	text := b.m.Read("/var/lib/svckit/" + strings.TrimSuffix(unit, ".service") + "/runs/00000001.json")
	record, err := history.DecodeRecord([]byte(text))
	if err != nil {
		b.t.Errorf("%s: %v", unit, err)
	}
	return record
}

func micros(t *testing.T, text string) time.Duration {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n) * time.Microsecond
}

// keep has the manager remember the units after their end: one that nothing
// refers to is forgotten with all that is known of it (systemd.unit(5),
// CollectMode=).
func (b *batch) keep() {
	b.t.Helper()
	keeper := b.m.UnitName()
	b.m.InstallUnit(keeper, "[Unit]\nAfter="+strings.Join(b.units, "\nAfter=")+"\n[Service]\nExecStart=/bin/sleep infinity\n")
	b.m.Run("systemctl", "start", keeper)
}

// entry is a line of the journal.
type entry struct {
	at   time.Duration // on the monotonic clock
	text string
}

// said is what the journal has of each unit.
func (b *batch) said() map[string][]entry {
	b.t.Helper()
	b.m.Run("journalctl", "--sync")
	said := map[string][]entry{}
	for line := range strings.Lines(b.m.Run("journalctl", "--quiet", "--output=json", "--unit="+b.prefix+"*")) {
		var fields struct {
			At      string `json:"__MONOTONIC_TIMESTAMP"`
			Text    string `json:"MESSAGE"`
			Unit    string `json:"_SYSTEMD_UNIT"`
			Manager string `json:"UNIT"`
		}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			b.t.Fatalf("%v in %s", err, line)
		}
		for _, unit := range []string{fields.Unit, fields.Manager} {
			said[unit] = append(said[unit], entry{micros(b.t, fields.At), fields.Text})
		}
	}
	return said
}

// processes counts those in each unit's control group, and ends them.
func (b *batch) processes() map[string]int {
	b.t.Helper()
	found := map[string]int{}
	out := b.m.Run("sh", "-c", `cd /sys/fs/cgroup/system.slice && for f in $(find . -path "./$0*" -name cgroup.procs); do for pid in $(cat $f); do echo $f $pid; kill -9 $pid; done; done; true`, b.prefix)
	for line := range strings.Lines(out) {
		unit, _, _ := strings.Cut(strings.TrimPrefix(line, "./"), "/")
		found[unit]++
	}
	return found
}
