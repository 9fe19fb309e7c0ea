package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/records"
	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// times is how often something is done on one of the three machines, for so often
// on all of them.
func times(ordinary, full int) int {
	if os.Getenv("SVCKIT_FULL") != "" {
		ordinary = full
	}
	return (ordinary + len(lab.Suites()) - 1) / len(lab.Suites())
}

// kept is how many records the units of the cycles keep.
const kept = 2

// busyUnit is a unit that uses what svcrun has: sockets, directories, checks, a
// hook, and a service that leaves others behind, which takes its stop killWait.
func busyUnit(killWait time.Duration) string {
	return "[Unit]\nStartLimitIntervalSec=0\n" + service("RuntimeDirectory=svckit/%N", "StateDirectory=svckit/%N", "TimeoutStopSec=20", "Environment=MARK=%n",
		"ExecStart=/usr/bin/svcrun --runtime-dir=%t/svckit/%N --state-dir=%S/svckit/%N"+fmt.Sprintf(" --history=%d --kill-wait=%v", kept, killWait)+
			` --ready=notify --ready=exec:/bin/true --live=exec:/bin/true,interval=200ms,timeout=200ms,failures=100 --pre-stop=/bin/true`+
			` --stop=TERM@5s -- /usr/bin/stubborn leaves plain,heeding daemon,deaf`)
}

// inventory lists what may be left behind: processes, descriptors of PID 1,
// control groups, abstract sockets, and files where such things are kept. What
// the journal makes of its own accord, and what the visit itself is, is not in it.
const inventory = `
for p in /proc/[0-9]*; do read -r name <$p/comm && echo "process $name"; done 2>/dev/null | grep -vw -e inventory -e sort -e grep -e 'systemctl'
echo "descriptors of PID 1: $(ls /proc/1/fd | wc -l)"
find /sys/fs/cgroup/system.slice -type d | sed 's/^/group /'
grep -o '@svckit.*' /proc/net/unix
find /run /tmp /var/tmp /dev/shm /var/lib/svckit -not -path '/run/log/*' -not -path '/run/systemd/journal/*' -not -path '*/runs/*' 2>/dev/null | sed 's/^/file /'
`

func TestStartsAndStopsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	// Alone: what others do is not to be seen.
	labtest.EachAlone(t, []string{"svcrun"}, func(t *testing.T, m *labtest.Machine) {
		installStubborn(t, m)
		m.Write("/usr/bin/inventory", "#!/bin/sh\n"+inventory, 0o755)
		const parallel = 10
		b, units := newBatch(t, m), map[string]string{}
		for i := range parallel {
			units[fmt.Sprint(i)] = busyUnit(100 * time.Millisecond)
		}
		b.install(units)
		cycle := func() {
			m.Run(append([]string{"systemctl", "start"}, b.units...)...)
			m.Run(append([]string{"systemctl", "stop"}, b.units...)...)
		}
		cycle() // what is made once stays for good
		before := settled(t, m, "")
		for range (times(60, 1000) + parallel - 1) / parallel {
			cycle()
		}
		if after := settled(t, m, before); after != before {
			t.Errorf("left is more, or less:\nbefore %s\nafter %s", before, after)
		}
		for _, unit := range b.units {
			runs, warnings := recordsOf(m, unit)
			if len(warnings) > 0 || len(runs) != kept || runs[kept-1].End == nil || runs[kept-1].End.Cause != history.StopRequested {
				t.Errorf("%s has the records %+v, %v", unit, runs, warnings)
			}
		}
	})
}

// settled takes the inventory once it is as it is expected to be, or no longer
// changes.
func settled(t *testing.T, m *labtest.Machine, expected string) string {
	t.Helper()
	last, same := "", 0
	for same < 5 {
		now := m.Run("sh", "-c", "/usr/bin/inventory | sort")
		if now == expected {
			return now
		}
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
	return last
}

// recordsOf reads what is recorded of a unit's runs.
func recordsOf(m *labtest.Machine, unit string) ([]history.Record, []error) {
	return records.Read(fmt.Sprintf("/proc/%d/root/var/lib/svckit/%s", m.Pid(), strings.TrimSuffix(unit, ".service")))
}

func TestAKilledSvcrunLeavesNobodyAndTheNextStartClosesItsRecord(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d: the moments", seed)
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		installStubborn(t, m)
		const parallel = 7
		b, units := newBatch(t, m), map[string]string{}
		for i := range parallel {
			units[fmt.Sprint(i)] = busyUnit(700 * time.Millisecond)
		}
		b.install(units)
		b.keep()
		random := rand.New(rand.NewPCG(seed, uint64(m.Version())))
		kills, byNextStart := (times(20, 200)+parallel-1)/parallel*parallel, 0
		for range kills / parallel {
			b.killAll(random)
			byNextStart += b.startAgain()
		}
		t.Logf("%d runs of %d were closed by the next start", byNextStart, kills)
		if byNextStart == 0 {
			t.Error("the next start has closed none")
		}
	})
}

// killAll starts all units, kills each svcrun at a moment of its own, and holds
// that nobody is left.
func (b *batch) killAll(random *rand.Rand) {
	b.t.Helper()
	script := ""
	for i, unit := range b.units {
		script += killedAtAMoment(unit, i%2 == 1, random)
	}
	b.m.Run("sh", "-c", script+"wait")
	b.until("failed", "dead")
	for unit, left := range b.processes() {
		b.t.Errorf("%d processes of %s are left", left, unit)
	}
	if got := b.m.Run("sh", "-c", `grep -lz "^MARK=$0" /proc/[0-9]*/environ; true`, b.prefix); got != "" {
		b.t.Errorf("processes are left: %s", got)
	}
}

// startAgain holds that the next start of each unit works, closes the record of
// the run before, and is followed by a clean stop. It returns how many records it
// was that closed.
func (b *batch) startAgain() (closedByNextStart int) {
	b.t.Helper()
	b.start()
	for unit, state := range b.until("running", "failed", "dead") {
		if state != "running" {
			b.t.Fatalf("%s does not start again, it is %s:\n%s", unit, state, strings.Join(b.m.Journal(unit, 20), "\n"))
		}
		closedByNextStart += closed(b.t, b.m, unit)
	}
	b.m.Try(append([]string{"systemctl", "stop"}, b.units...)...)
	for unit, p := range b.show(b.units, "Result") {
		if p["Result"] != "success" {
			b.t.Errorf("%s: Result=%s after the next stop", unit, p["Result"])
		}
	}
	return closedByNextStart
}

// killedAtAMoment is the shell command that starts a unit and kills its svcrun at
// some moment, of its start or soon after it; or of its stop.
func killedAtAMoment(unit string, stopping bool, random *rand.Rand) string {
	start, tries := "systemctl start --no-block "+unit, 50 // until there is one
	if stopping {
		start, tries = fmt.Sprintf("systemctl start %s; systemctl stop --no-block %s", unit, unit), 1
	}
	return fmt.Sprintf(`( %s; sleep 0.%03d; for i in $(seq %d); do systemctl kill --kill-who=main --signal=KILL %s 2>/dev/null && break; done ) &
`, start, random.IntN(150), tries, unit)
}

// closed waits until all records of a unit but that of its present run are closed,
// and counts those that were closed in the place of a svcrun that had been killed.
func closed(t *testing.T, m *labtest.Machine, unit string) (byNextStart int) {
	t.Helper()
	var runs []history.Record
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) { //nolint:forbidigo // nobody waits for the disk, and nobody tells when it is done
		byNextStart, open := 0, 0
		runs, _ = recordsOf(m, unit)
		for _, r := range runs {
			switch {
			case r.End == nil:
				open++
			case r.End.ClosedBy == history.NextStart:
				byNextStart++
			}
		}
		if open == 1 && runs[len(runs)-1].End == nil {
			return byNextStart
		}
	}
	t.Errorf("%s: the records are %+v", unit, runs)
	return 0
}
