package e2e

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// counter counts signals in a file, a line "PID TERM=N URG=N", until some time
// after its first TERM. It is no Go program: in one of those SIGURG is the
// runtime's own.
const counter = `#!/usr/bin/perl
my ($file) = @ARGV;
my (%n, $term);
sub note { open my $f, '>', "$file.new"; printf $f "%d TERM=%d URG=%d\n", $$, $n{TERM}, $n{URG}; close $f; rename "$file.new", $file }
for my $s (qw(TERM URG)) { $SIG{$s} = sub { $n{$s}++; note } }
note;
while ($term < 70) { select undef, undef, undef, 0.01; $term++ if $n{TERM} }
`

// counted starts a unit whose service is the counter, and returns the file.
func counted(t *testing.T, m *labtest.Machine, unit, flags string, lines ...string) (file string) {
	t.Helper()
	m.Write("/usr/bin/counter", counter, 0o755)
	file = "/run/counter/" + unit
	m.Run("mkdir", "-p", "/run/counter")
	m.InstallUnit(unit, service(strings.Join(lines, "\n"), "ExecStart=/usr/bin/svcrun "+flags+" -- /usr/bin/perl /usr/bin/counter "+file))
	m.Run("systemctl", "start", unit)
	return file
}

func TestServiceUnderABusySvcrunLivesAndGetsNoSIGURG(t *testing.T) {
	probes := 300
	if os.Getenv("SVCKIT_FULL") != "" {
		probes = 10_000
	}
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		probed := "/run/counter/" + unit + ".probed"
		check := `"--live=exec:/bin/sh -c 'printf . >>` + probed + `',interval=10ms,timeout=10ms,failures=1000"`
		file := counted(t, m, unit, strings.Repeat(check+" ", 4), "KillMode=process", "TimeoutStopSec=5")
		child := strings.Fields(fileOnceThere(t, m, file))[0]
		m.WaitShell(`[ "$(stat -c %s "$0")" -ge "$1" ]`, probed, strconv.Itoa(probes))
		if got, want := m.Read(file), child+" TERM=0 URG=0\n"; got != want {
			t.Errorf("after %d probes: %q; want %q", probes, got, want)
		}
		m.WaitFor(unit, "ActiveState=active")

		// The same tie that must not be to one of svcrun's threads is to svcrun.
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=KILL", unit)
		m.WaitFor(unit, "ActiveState=failed")
		m.WaitShell(`! kill -0 "$0" 2>/dev/null`, child)
	})
}

func TestServiceGetsOneTERMOfAStop(t *testing.T) {
	for name, c := range map[string]struct{ mode, flags string }{
		"mixed":                  {"mixed", ""},
		"control-group":          {"control-group", "--manager-signals-all"},
		"control-group, drained": {"control-group", "--manager-signals-all --drain-delay=300ms"},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, m *labtest.Machine) {
				unit := m.UnitName()
				file := counted(t, m, unit, c.flags, "KillMode="+c.mode, "TimeoutStopSec=20")
				fileOnceThere(t, m, file)
				m.Run("systemctl", "stop", unit)
				if got := m.Read(file); !strings.Contains(got, " TERM=1 URG=0") {
					t.Errorf("the service has got %s", got)
				}
				if got := m.Show(unit, "Result")["Result"]; got != "success" {
					t.Errorf("Result=%s", got)
				}
			})
		})
	}
}

func TestTERMOfSystemctlKillIsTheSameStopWithinASecondAndThenEscalates(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service("TimeoutStopSec=300",
			`ExecStart=/usr/bin/svcrun --stop=TERM@100s --stop=INT@100s -- /bin/sh -c 'trap "" TERM; echo >/run/%N.deaf; exec sleep 1000'`))
		m.Run("systemctl", "start", unit)
		fileOnceThere(t, m, "/run/"+strings.TrimSuffix(unit, ".service")+".deaf")
		svcrun, begun := m.Show(unit, "MainPID")["MainPID"], time.Now()
		m.Run("sh", "-c", "systemctl stop --no-block $0; kill -TERM $1", unit, svcrun)
		if took := time.Since(begun); took > 900*time.Millisecond {
			t.Skipf("SKIP: both requests took %v: that they are the same stop cannot be seen", took)
		}
		time.Sleep(1100 * time.Millisecond) //nolint:forbidigo // what is a second stop is told by time alone
		if got := m.Show(unit, "SubState")["SubState"]; got != "stop-sigterm" {
			t.Errorf("after a second TERM at once the unit is %s", got)
		}
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=TERM", unit)
		m.WaitFor(unit, "ActiveState=inactive", "Result=success")
	})
}
