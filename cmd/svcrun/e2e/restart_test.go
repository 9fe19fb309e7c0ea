package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// restartValues are all values of Restart=.
var restartValues = []string{"no", "always", "on-success", "on-failure", "on-abnormal", "on-abort", "on-watchdog"}

// restarts is the table of systemd.service(5): after which end a unit restarts,
// under which values; and what the lists of exit statuses add to it.
var restarts = map[string][]string{
	"clean":     {"always", "on-success"},
	"unclean":   {"always", "on-failure"},
	"signal":    {"always", "on-failure", "on-abnormal", "on-abort"},
	"abnormal":  {"always", "on-failure", "on-abnormal"},
	"watchdog":  {"always", "on-failure", "on-abnormal", "on-watchdog"},
	"prevented": nil,
	"forced":    restartValues,
}

// last is one way for a unit to end, with svcrun and without.
type last struct {
	name    string
	end     string // its row in restarts
	shell   string // what the service does
	with    string // the same where it is svcrun's child, if that differs
	flags   string // svcrun's
	notify  bool   // the service is Type=notify by itself
	lines   string // of the unit
	without string // of the unit without svcrun
}

// cores allows cores, each in a directory of its unit's own: of two processes
// that dump to one path at once, one may leave no core (Linux: fs/coredump.c,
// which removes what is there and then opens with O_EXCL).
const cores = "LimitCORE=infinity\nWorkingDirectory=%t/cores/%N"

var lasts = []last{
	{name: "exit-0", end: "clean", shell: "exit 0"},
	{name: "exit-1", end: "unclean", shell: "exit 1"},
	{name: "exit-143", end: "unclean", shell: "exit 143"},
	{name: "exit-as-success", end: "clean", shell: "exit 143", lines: "SuccessExitStatus=143"},
	{name: "exit-prevented", end: "prevented", shell: "exit 5", lines: "RestartPreventExitStatus=5"},
	{name: "exit-forced", end: "forced", shell: "exit 6", lines: "RestartForceExitStatus=6"},
	{name: "exit-forced-0", end: "forced", shell: "exit 0", lines: "RestartForceExitStatus=0"},
	{name: "term", end: "clean", shell: "kill -TERM $$$$"},
	{name: "term-of-main", end: "clean", shell: "kill -TERM $$$$", with: "kill -TERM $$PPID; exec sleep 1000"},
	{name: "term-forced", end: "forced", shell: "kill -TERM $$$$", lines: "RestartForceExitStatus=SIGTERM"},
	{name: "kill", end: "signal", shell: "kill -KILL $$$$"},
	{name: "kill-prevented", end: "prevented", shell: "kill -KILL $$$$", lines: "RestartPreventExitStatus=SIGKILL"},
	{name: "segv", end: "signal", shell: "kill -SEGV $$$$"},
	{name: "segv-core", end: "signal", shell: "kill -SEGV $$$$", lines: cores},
	{name: "segv-core-prevented", end: "prevented", shell: "kill -SEGV $$$$", lines: cores + "\nRestartPreventExitStatus=SIGSEGV"},
	{name: "core-as-success", end: "signal", shell: "kill -ABRT $$$$", lines: cores + "\nSuccessExitStatus=SIGABRT"},
	{name: "protocol", end: "abnormal", shell: "exit 0", flags: "--ready=notify", notify: true},
	{name: "timeout", end: "abnormal", shell: "exec sleep 1000", lines: "RuntimeMaxSec=1"},
	{
		name: "watchdog", end: "watchdog", notify: true, shell: "systemd-notify --ready; exec sleep 1000", without: "WatchdogSec=500ms",
		lines: "NotifyAccess=all", flags: "--live=exec:/bin/false,interval=50ms,timeout=50ms,failures=1 --on-unhealthy=abort",
	},
	{
		name: "watchdog-prevented", end: "prevented", notify: true, shell: "systemd-notify --ready; exec sleep 1000", without: "WatchdogSec=500ms",
		lines: "NotifyAccess=all\nRestartPreventExitStatus=SIGABRT", flags: "--live=exec:/bin/false,interval=50ms,timeout=50ms,failures=1 --on-unhealthy=abort",
	},
}

// unit is a unit that ends so once, and then waits for its restart for an hour.
func (l last) unit(restart string, svcrun bool) string {
	kind, command, shell := "exec", "", l.shell
	if l.notify {
		kind = "notify"
	}
	if svcrun {
		kind, command, l.without = "notify", "/usr/bin/svcrun --runtime-dir=%t/svckit/%N "+l.flags+" -- ", ""
		if l.with != "" {
			shell = l.with
		}
	}
	return fmt.Sprintf(`[Service]
Type=%s
Restart=%s
RestartSec=1h
LimitCORE=0
RuntimeDirectory=svckit/%%N cores/%%N
%s
%s
ExecStart=%s/bin/sh -c "%s"
`, kind, restart, l.lines, l.without, command, shell)
}

func TestRestartDecidesAlikeWithSvcrunAndWithout(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d: which of the units without svcrun", seed)
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		b, units, wanted := newBatch(t, m), map[string]string{}, map[string]bool{}
		add := func(l last, value, how string) {
			name := l.name + "-" + value + "-" + how
			units[name], wanted[name] = l.unit(value, how == "with"), slices.Contains(restarts[l.end], value)
		}
		for _, value := range restartValues {
			for _, l := range lasts {
				add(l, value, "with")
				// Without is what the table says: systemd's, and proved as a whole now and then.
				if os.Getenv("SVCKIT_FULL") != "" || random.IntN(4) == 0 {
					add(l, value, "without")
				}
			}
		}
		b.install(units)
		decided := b.decided()
		for name, want := range wanted {
			if got := decided[b.unit(name)]; got != want {
				t.Errorf("%s svcrun: a restart is scheduled: %v; want %v\n%s",
					name, got, want, strings.Join(m.Journal(b.unit(name), 8), "\n"))
			}
		}
	})
}

func TestUnhealthyAndLateServicesRestartUnderEachValueButNo(t *testing.T) {
	ways := map[string]string{
		"unhealthy":  "--live=exec:/bin/false,interval=50ms,timeout=50ms,failures=1",
		"late":       "--ready=notify --start-timeout=300ms",
		"late-check": "--ready=exec:/bin/false,interval=50ms,timeout=50ms --start-timeout=300ms",
	}
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		b, units := newBatch(t, m), map[string]string{}
		for _, value := range restartValues {
			lines := "Restart=" + value + "\nRestartSec=1h"
			if value != "no" {
				lines += "\nRestartForceExitStatus=69 70" // as svcgen writes it
			}
			for way, flags := range ways {
				units[way+"-"+value] = service(lines, "ExecStart=/usr/bin/svcrun "+flags+" -- /bin/sleep 86400")
			}
		}
		b.install(units)
		for unit, got := range b.decided() {
			if want := !strings.HasSuffix(unit, "-no.service"); got != want {
				t.Errorf("%s: a restart is scheduled: %v; want %v", unit, got, want)
			}
		}
	})
}

// decided starts all units, waits until each has ended, and says which of them
// are to be restarted.
func (b *batch) decided() map[string]bool {
	b.t.Helper()
	b.start()
	scheduled := map[string]bool{}
	for unit, state := range b.until("auto-restart", "failed", "dead") {
		scheduled[unit] = state == "auto-restart"
	}
	return scheduled
}
