package unitgen

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// generated is the unit of a policy's text for a target.
func generated(t *testing.T, text, target string) string {
	t.Helper()
	result, err := Generate(mustRead(t, text), profile(t, target), Options{Source: "x.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Files[0].Text)
}

// directive is the value of the one directive of that name, with its
// continuations; empty if there is none.
func directive(t *testing.T, unit, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+name+`=((?:.*\\\n)*.*)$`).FindAllStringSubmatch(unit, -1)
	switch len(found) {
	case 0:
		return ""
	case 1:
		return found[0][1]
	}
	t.Fatalf("%d directives %s", len(found), name)
	return ""
}

func TestUnitOfAPolicyThatSaysEverything(t *testing.T) {
	unit := generated(t, full, "debian12")
	for name, want := range map[string]string{
		"Description": "100%% of the work", "After": "network-online.target postgresql@main.service",
		"Wants": "network-online.target", "User": "gateway", "Group": "1000", "WorkingDirectory": "/opt/gateway",
		"Type": "notify", "NotifyAccess": "main", "Restart": "always", "RestartForceExitStatus": "69 70", "RestartPreventExitStatus": "78 SIGUSR2",
		"SuccessExitStatus": "143 SIGUSR1 SIGRTMIN+3", "KillMode": "mixed", "KillSignal": "SIGTERM", "SendSIGKILL": "yes",
		"OOMPolicy": "stop", "SyslogIdentifier": "worker", "TasksMax": "4096", "WantedBy": "multi-user.target app.target",
		"RuntimeDirectory": "svckit/%N", "RuntimeDirectoryPreserve": "restart", "StateDirectory": "svckit/%N",
		"RestartSteps": "", "RestartMaxDelaySec": "", "ReloadSignal": "", "TimeoutStartSec": "2h 5s",
		"ExecReload": "/usr/bin/svcrun reload --runtime-dir=%t/svckit/%N", "StartLimitBurst": "5", "StartLimitIntervalSec": "1h",
		"ExecStart": `/usr/bin/svcrun \
    --runtime-dir=%t/svckit/%N \
    --state-dir=%S/svckit/%N \
    --ready=http://127.0.0.1:8080/ready \
    --ready=notify \
    --live=http://127.0.0.1:8080/live,interval=5s,timeout=1s500ms,failures=4,on-unhealthy=report,header-file=/etc/w \
    "--live=exec:/usr/bin/test -e \"a b\",interval=30s" \
    --live=notify,timeout=5s \
    "--live=http://127.0.0.1/,header=Accept: text/html,header=X-Probe: svckit" \
    --live=tcp:127.0.0.1:8080,successes=2 \
    --on-unhealthy=abort \
    --start-timeout=1h30min \
    --reload-signal=USR2 \
    --reload-timeout=2h \
    --early-exit=success \
    "--pre-stop=/usr/local/bin/deregister --name \"the worker\"" \
    --pre-stop-timeout=3s \
    --drain-delay=5s \
    --stop=INT@10s,main \
    --stop=TERM@20s \
    --kill-wait=500ms \
    "--start-delay=base=2s,cap=5min,steps=7,jitter=25%%,storm=4/5min/1min" \
    --stable-after=5min \
    --success=143,SIGUSR1,SIGRTMIN+3 \
    -- /opt/gateway/bin/worker --port 8080 -v true "a b"`,
	} {
		if got := directive(t, unit, name); got != want {
			t.Errorf("%s=%s\nwant %s", name, got, want)
		}
	}
	for _, want := range []string{"Environment=GATEWAY_ENV=production\nEnvironment=\"EMPTY=\"\nEnvironment=PORT=8080\n"} {
		if !strings.Contains(unit, want) {
			t.Errorf("no %q in\n%s", want, unit)
		}
	}
}

func TestDefaultsAreNoFlags(t *testing.T) {
	unit := generated(t, "name: x\nexec: /bin/x\n", "debian13")
	want := "/usr/bin/svcrun \\\n    --runtime-dir=%t/svckit/%N \\\n    --state-dir=%S/svckit/%N \\\n    -- /bin/x"
	if got := directive(t, unit, "ExecStart"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if strings.Contains(unit, "WatchdogSec") || strings.Contains(unit, "Environment") {
		t.Errorf("a heartbeat or a variable that nobody asked for:\n%s", unit)
	}
}

func TestArgumentsAreQuotedForSystemd(t *testing.T) {
	unit := generated(t, `
name: x
exec: [/bin/x, "100%", "$HOME", 'a\b', "", ";", "#", "new\nline"]
env: {A: "50% $X\n", B: 'q"q'}
`, "debian13")
	want := `-- /bin/x "100%%" "$$HOME" "a\\b" "" ";" "#" "new\nline"`
	if got := directive(t, unit, "ExecStart"); !strings.HasSuffix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, want := range []string{`Environment="A=50%% $X\n"`, `Environment="B=q\"q"`} {
		if !strings.Contains(unit, want+"\n") {
			t.Errorf("no line %s in\n%s", want, unit)
		}
	}
}

func TestIdentifierIsTheProgramsNameIfItCanBe(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/redis-server": "redis-server", "/opt/100%": "100%%", "/opt/ blank": "x", `/opt/a\\`: "x", `/opt/a\n`: "x",
	} {
		unit := generated(t, "name: x\nexec: [\""+program+"\"]\n", "debian13")
		if got := directive(t, unit, "SyslogIdentifier"); got != want {
			t.Errorf("%s is logged as %s, want %s", program, got, want)
		}
	}
}

func TestNoRestartMeansNoneIsWritten(t *testing.T) {
	unit := generated(t, "name: x\nexec: /bin/x\nrestart: {when: no}\nlive: {checks: [notify]}\n", "debian13")
	if got := directive(t, unit, "Restart"); got != "no" {
		t.Errorf("Restart=%s", got)
	}
	for _, name := range []string{"RestartSec", "RestartSteps", "RestartForceExitStatus", "StartLimitIntervalSec", "StartLimitBurst"} {
		if got := directive(t, unit, name); got != "" {
			t.Errorf("%s=%s", name, got)
		}
	}
	if want := "# A hang is noticed and the stop begins within 6s, no restart follows, as restart.when is no.\n"; !strings.Contains(unit, want) {
		t.Errorf("no %q in\n%s", want, unit)
	}
}

func TestChecksThatOnlyReportStopNothing(t *testing.T) {
	unit := generated(t, "name: x\nexec: /bin/x\nlive: {checks: [notify], on_unhealthy: report}\n", "debian13")
	if want := "# A hang is reported in the unit's status only: no live check stops the service.\n"; !strings.Contains(unit, want) {
		t.Errorf("no %q in\n%s", want, unit)
	}
}

// TestCommentsTellTheNumbersOfTheDirectives reads numbers back out of the
// comments and compares them with the directives below.
func TestCommentsTellTheNumbersOfTheDirectives(t *testing.T) {
	const text = "name: x\nexec: /bin/x\nlive: {checks: ['tcp:127.0.0.1:80,interval=7s']}\n" +
		"restart: {base: 3s, cap: 48s, give_up: {starts: 6}}\ndrain: {delay: 4s, steps: [TERM@20s], kill_wait: 6s}\n"
	unit := generated(t, text, "debian13")
	find := func(pattern string) []time.Duration {
		t.Helper()
		match := regexp.MustCompile(pattern).FindStringSubmatch(unit)
		if match == nil {
			t.Fatalf("no %s in\n%s", pattern, unit)
		}
		var spans []time.Duration
		for _, text := range strings.Split(strings.Join(match[1:], ","), ",") {
			d, err := syntax.ParseDuration(strings.TrimPrefix(strings.TrimSpace(text), "then "))
			if err != nil {
				t.Fatal(err)
			}
			spans = append(spans, d)
		}
		return spans
	}
	value := func(name string) time.Duration {
		d, err := syntax.ParseDuration(directive(t, unit, name))
		if err != nil {
			t.Fatal(name, err)
		}
		return d
	}
	s := time.Second
	if got := find(`# Restarts wait (.*) \(base`); !slices.Equal(got, []time.Duration{3 * s, 6 * s, 12 * s, 24 * s, 48 * s}) {
		t.Errorf("the ladder is told as %v", got)
	}
	if got := find(`stop begins within ([^,]*), the restart follows within ([^ ]*) \(([^)]*) at the end`); !slices.Equal(got,
		[]time.Duration{23 * s, (23+20+12+3)*s + 300*time.Millisecond, 103*s + 300*time.Millisecond}) {
		t.Errorf("a hang is told as %v", got)
	}
	stop := find(`# A stop takes (.*) at most \(delay (.*), TERM (.*), 2 x (.*) for SIGKILL\); and (.*) to spare`)
	if stop[0] != stop[1]+stop[2]+2*stop[3] || value("TimeoutStopSec") != stop[0]+stop[4] {
		t.Errorf("a stop is told as %v, and TimeoutStopSec= is %s", stop, value("TimeoutStopSec"))
	}
	start := find(`# Start timeout (.*), then to stop what did not start: TERM (.*), 2 x (.*) for SIGKILL; and (.*) to spare`)
	if value("TimeoutStartSec") != start[0]+start[1]+2*start[2]+start[3] {
		t.Errorf("a start is told as %v, and TimeoutStartSec= is %s", start, value("TimeoutStartSec"))
	}
	beat := find(`\((?:3 failures) \+ 1\) x \(interval (.*) \+ timeout (.*)\)`)
	if value("WatchdogSec") != 4*(beat[0]+beat[1]) {
		t.Errorf("the watchdog is told as %v, and WatchdogSec= is %s", beat, value("WatchdogSec"))
	}
	window := find(`# The window: (.*) of waiting, (.*) for late timers, and 6 runs of (.*) at most`)
	if sum := window[0] + window[1] + 6*window[2]; sum > value("StartLimitIntervalSec") || sum < value("StartLimitIntervalSec")-s {
		t.Errorf("the window is told as %v, and StartLimitIntervalSec= is %s", window, value("StartLimitIntervalSec"))
	}
}

func TestStartLimitIsToldInWords(t *testing.T) {
	for giveUp, want := range map[string]string{
		"{starts: 1, within: 1h}":       "# Gives up: 1 start happens within 1h, start 2 is refused.\n# The waits until then are 1s, late timers add up to 250ms; 59min 59s are left for the runs.\n",
		"{starts: 5, within: infinity}": "# Gives up: 5 starts happen, however long it takes, start 6 is refused.\nStartLimitBurst=5\nStartLimitIntervalSec=infinity\n",
		"{after: 20s}":                  "# The ladder makes 5 starts in restart.give_up.after, 20s, when the service fails at once.\n",
		"never":                         "# restart.give_up is never: no start is ever refused.\nStartLimitIntervalSec=0\n",
	} {
		unit := generated(t, "name: x\nexec: /bin/x\nrestart: {base: 1s, cap: 64s, give_up: "+giveUp+"}\n", "debian13")
		if !strings.Contains(unit, want) {
			t.Errorf("give_up: %s: no %q in\n%s", giveUp, want, unit)
		}
	}
}

func TestTheSamePolicyGivesTheSameBytes(t *testing.T) {
	first := generated(t, full, "debian13")
	for range 20 {
		if again := generated(t, full, "debian13"); again != first {
			t.Fatalf("first\n%s\nthen\n%s", first, again)
		}
	}
}

func TestNothingOfTheEnvironmentIsInAComment(t *testing.T) {
	unit := generated(t, "name: x\nexec: /bin/x\nenv: {TOKEN: hunter2}\n", "debian13")
	for line := range strings.Lines(unit) {
		if strings.HasPrefix(line, "#") && strings.Contains(line, "hunter2") {
			t.Errorf("the value of a variable in %q", line)
		}
	}
}

func TestEachTargetHasOnlyItsOwnDirectives(t *testing.T) {
	for _, target := range targets {
		unit := generated(t, "name: x\nexec: /bin/x\n", target.Name)
		for _, name := range []string{"RestartSteps", "RestartMaxDelaySec"} {
			if has := directive(t, unit, name) != ""; has != target.Can(restartLadder) {
				t.Errorf("%s: %s= is there: %v, want %v", target.Name, name, has, target.Can(restartLadder))
			}
		}
	}
}

func TestSvcrunMustBeAnAbsolutePath(t *testing.T) {
	p := mustRead(t, "name: x\nexec: /bin/x\n")
	if _, err := Generate(p, profile(t, "debian13"), Options{Svcrun: "svcrun"}); err == nil || !strings.Contains(err.Error(), `"svcrun" is no absolute path`) {
		t.Errorf("got %v", err)
	}
	result, err := Generate(p, profile(t, "debian13"), Options{Svcrun: "/opt/100% a/svcrun"})
	if err != nil || !strings.Contains(string(result.Files[0].Text), `ExecStart="/opt/100%% a/svcrun" \`) {
		t.Errorf("got %v\n%s", err, result.Files[0].Text)
	}
}
