package limits

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// stopFlags are those of every service here; its stop is over within stopBound,
// as svcgen derives TimeoutStopSec= from them: the steps, twice the kill wait,
// and a margin.
const (
	stopFlags = " --stop=TERM@2s --kill-wait=2s "
	soft      = 2 * time.Second
	svcrunEnd = 2*time.Second + 2*2*time.Second
	stopBound = svcrunEnd + 5*time.Second
)

// stopTimeout is TimeoutStopSec=, wide enough that the manager's own timeout is
// not what ends a stop on a slow machine.
const stopTimeout = "TimeoutStopSec=90"

func testLimitsAreThere(t *testing.T, m *machine) {
	controllers := strings.Fields(m.run(t, "cat", "/sys/fs/cgroup/system.slice/cgroup.controllers"))
	for _, want := range []string{"memory", "pids"} {
		if !slices.Contains(controllers, want) {
			t.Errorf("no %s controller in %v", want, controllers)
		}
	}
	if state := m.exec(t, "systemctl", "is-system-running", "--wait"); strings.TrimSpace(state.Stdout) != "running" {
		t.Logf("the machine is %s%s", state.Stdout, m.exec(t, "systemctl", "--failed", "--no-legend").Stdout)
	}
}

// testForkBomb: svcrun ends in time with what it was able to kill, and says what
// it was not; the manager ends that. Nothing is left.
func testForkBomb(kind string) func(*testing.T, *machine) {
	return func(t *testing.T, m *machine) {
		unit := m.service(t, "Type=notify", stopTimeout, "ExecStart=/usr/bin/svcrun"+stopFlags+"-- /usr/bin/bomb "+kind)
		m.until(t, unit, `[ "$(cat $group/pids.current)" -ge 190 ]`)
		stop := m.exec(t, "systemctl", "stop", unit)
		if stop.Took < soft || stop.Took > slow*stopBound {
			t.Errorf("the stop took %v; want at least %v and at most %d × %v", stop.Took, soft, slow, stopBound)
		}
		m.want(t, unit, "ActiveState=failed", "Result=signal", "ExecMainCode=2", "ExecMainStatus=9")
		if left := m.exec(t, "pgrep", "--count", "bomb"); strings.TrimSpace(left.Stdout) != "0" {
			t.Errorf("%s processes are left", left.Stdout)
		}
		journal := m.journal(t, unit)
		ended := svcrunStop(t, journal)
		t.Logf("the stop took %v, svcrun's part %v", stop.Took.Round(time.Millisecond), ended)
		if ended > slow*svcrunEnd {
			t.Errorf("svcrun's part took %v; want at most %d × %v", ended, slow, svcrunEnd)
		}
		byManager := strings.Count(journal, "Killing process")
		said := strings.Contains(journal, "would not die; left to the manager") && strings.Contains(journal, " left=")
		if byManager > 0 && !said {
			t.Errorf("the manager had to kill %d processes that svcrun did not speak of:\n%s", byManager, journal)
		}
		t.Logf("killed by the manager: %d", byManager)
	}
}

// svcrunStop is how long svcrun says that its stop has taken, in its end line.
func svcrunStop(t *testing.T, journal string) time.Duration {
	t.Helper()
	found := regexp.MustCompile(`svcrun: end cause=stop-timeout .*stop=([0-9.a-z]+)`).FindStringSubmatch(journal)
	if found == nil {
		t.Fatalf("svcrun has not told how it ended:\n%s", journal)
	}
	took, err := time.ParseDuration(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return took
}

const hog = "/usr/bin/memory grow 1000"

func testOutOfMemory(t *testing.T, m *machine) {
	plain := m.service(t, "MemoryMax=64M", stopTimeout, "ExecStart="+hog)
	wrapped := m.service(t, "MemoryMax=64M", stopTimeout, "Type=notify", "ExecStart=/usr/bin/svcrun"+stopFlags+"-- "+hog)
	for _, unit := range []string{plain, wrapped} {
		m.until(t, unit, `systemctl is-failed --quiet $unit`)
		m.want(t, unit, "Result=oom-kill", "ExecMainCode=2", "ExecMainStatus=9")
	}
}

// testOutOfMemoryContinues: with OOMPolicy=continue the manager does not step in,
// and whatever it says of the end is of svcrun's telling.
func testOutOfMemoryContinues(t *testing.T, m *machine) {
	unit := m.service(t, "MemoryMax=64M", "OOMPolicy=continue", stopTimeout, "Type=notify",
		"ExecStart=/usr/bin/svcrun"+stopFlags+"-- "+hog)
	m.until(t, unit, `systemctl is-failed --quiet $unit`)
	m.want(t, unit, "ExecMainCode=2", "ExecMainStatus=9")
	if result := m.show(t, unit, "Result"); result != "oom-kill" && result != "signal" {
		t.Errorf("Result=%s", result)
	}
	if journal := m.journal(t, unit); !strings.Contains(journal, "svcrun: end cause=signal signal=KILL") {
		t.Errorf("svcrun did not live to tell:\n%s", journal)
	}
}

// testMemoryCheck: a service that takes more than it should is drained.
func testMemoryCheck(check, what string) func(*testing.T, *machine) {
	return func(t *testing.T, m *machine) {
		unit := m.service(t, stopTimeout, "Type=notify",
			"ExecStart=/usr/bin/svcrun --live="+check+`,interval=1s,timeout=1s,failures=2`+stopFlags+"-- /usr/bin/memory "+what+" 60")
		m.until(t, unit, `systemctl is-failed --quiet $unit`)
		m.want(t, unit, "Result=exit-code", "ExecMainCode=1", "ExecMainStatus=69")
		for _, line := range []string{"unhealthy: memory:40M", "failed 2 times", "and it is to be below 40M", "svcrun: end cause=unhealthy signal=TERM"} {
			if journal := m.journal(t, unit); !strings.Contains(journal, line) {
				t.Errorf("%q was not logged:\n%s", line, journal)
			}
		}
	}
}

// testNoProcessLeft: a check that needs a process fails and says why; svcrun goes
// on, and ends the service as ever.
func testNoProcessLeft(t *testing.T, m *machine) {
	unit := m.service(t, "TasksMax=60", stopTimeout, "Type=notify",
		"ExecStart=/usr/bin/svcrun --live=exec:/bin/true,interval=5s,timeout=5s,failures=1,on-unhealthy=report"+stopFlags+"-- /usr/bin/crowd")
	m.until(t, unit, `journalctl --unit=$unit | grep -q full`)
	m.until(t, unit, `journalctl --unit=$unit | grep -q "unhealthy: exec:true failed 1 times.*on-unhealthy=report"`)
	m.want(t, unit, "ActiveState=active")
	stop := m.exec(t, "systemctl", "stop", unit)
	if stop.Took > slow*stopBound {
		t.Errorf("the stop took %v", stop.Took)
	}
	m.want(t, unit, "ActiveState=inactive", "Result=success")
	journal := m.journal(t, unit)
	for _, line := range []string{"cannot run true: resource temporarily unavailable", "svcrun: end cause=stop-requested signal=TERM"} {
		if !strings.Contains(journal, line) {
			t.Errorf("%q was not logged:\n%s", line, journal)
		}
	}
}
