package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/supervise"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// bad are values that each flag refuses, with what the line about it says: the
// flag, the part that is wrong, and what would be right.
var bad = []struct{ arg, says string }{
	{"--ready=", "--ready: "},
	{"--ready=tcp:127.0.0.1", "the port is missing; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080"},
	{"--ready=ftp://h/", "--ready: "},
	{"--ready=http://", "an http check is written http://HOST[:PORT]/PATH"},
	{"--ready=exec:true", "no absolute path; write exec:/usr/bin/true or where it is"},
	{"--ready=unix:app.sock", "--ready: "},
	{"--ready=notify:x", "--ready: "},
	{"--live=tcp:h:1,interval=1M", "a month? write 1m or 30d"},
	{"--live=tcp:h:1,interval=1ms", "interval 1ms is out of range; it is at least 10ms and at most 24h"},
	{"--live=tcp:h:1,interval=25h", "at most 24h"},
	{"--live=tcp:h:1,interval=1s,timeout=2s", "timeout 2s is longer than the interval 1s"},
	{"--live=tcp:h:1,timeout=0", "timeout 0 is too short; it is at least 1ms"},
	{"--live=tcp:h:1,failures=0", "failures 0 is out of range; it is 1 to 1000"},
	{"--live=tcp:h:1,failures=x", `"x" is no whole number`},
	{"--live=tcp:h:1,successes=1001", "successes 1001 is out of range; it is 1 to 1000"},
	{"--live=tcp:h:1,period=1s", "here it is called interval"},
	{"--live=tcp:h:1,intervall=1s", "did you mean interval"},
	{"--live=tcp:h:1,on-unhealthy=restart", "write drain, abort or report"},
	{"--live=tcp:h:1,status=200", "--live: "},
	{"--live=http://h/,status=2000", "option status"},
	{"--live=http://h/,body=[", "option body"},
	{"--live=http://h/,header=none", "--live: "},
	{"--on-unhealthy=restart", `--on-unhealthy: "restart" is none of drain, abort, report`},
	{"--start-timeout=", "--start-timeout: empty duration; write for example 90s or 1min 30s"},
	{"--start-timeout=0", `--start-timeout: "0" is too short; the least is 1ms`},
	{"--start-timeout=-1s", `--start-timeout: negative duration "-1s"; a time span is 0 or more`},
	{"--start-timeout=infinity", `--start-timeout: "infinity" is too long; the most is 7d`},
	{"--start-timeout=1 fortnight", `--start-timeout: bad duration "1 fortnight": unknown unit "fortnight"; use us, ms, s`},
	{"--early-exit=ok", `--early-exit: "ok" is none of fail, success`},
	{"--pre-stop=", "--pre-stop: empty command; write the program's path and its arguments"},
	{"--pre-stop=deregister me", `--pre-stop: the command "deregister" is no absolute path; `},
	{"--pre-stop=/bin/x 'y", "--pre-stop: the quote ' is not closed"},
	{"--pre-stop-timeout=x", "--pre-stop-timeout: bad duration"},
	{"--drain-delay=8d", `--drain-delay: "8d" is too long; the most is 7d`},
	{"--stop=TERM", `--stop: stop step "TERM" has no time; write for example TERM@30s`},
	{"--stop=TREM@1s", `--stop: stop step "TREM@1s": unknown signal "TREM"; did you mean TERM`},
	{"--stop=KILL@1s", "SIGKILL follows the last step by itself; leave it out"},
	{"--stop=TERM@1s,group", `unknown option "group" in stop step "TERM@1s,group"; the only one is main`},
	{"--unhealthy-stop=TERM@infinity", "a stop must end: write at most 24h"},
	{"--kill-wait=1ms", `--kill-wait: "1ms" is too short; the least is 100ms`},
	{"--kill-scope=cgroup", `--kill-scope: "cgroup" is none of tree, group, main`},
	{"--abort-wait=1y", "a year? write 365d"},
	{"--reload-signal=HUPP", `--reload-signal: unknown signal "HUPP"; did you mean HUP`},
	{"--reload-exec=reload", `--reload-exec: the command "reload" is no absolute path`},
	{"--reload-timeout=0", `--reload-timeout: "0" is too short`},
	{"--success=256", `--success: "256" is neither an exit code from 0 to 255 nor a signal's name`},
	{"--success=143,,TERM", `--success: "" is neither`},
	{"--success=15TERM", `--success: "15TERM" is neither`},
	{"--stable-after=0", `--stable-after: "0" is too short; the least is 1ms`},
	{"--start-delay=base=5s,cap=1s", "--start-delay: "},
	{"--start-delay=delay=5s", "base"},
	{"--runtime-dir=run", `--runtime-dir: "run" is no absolute path; begin it with /`},
	{"--state-dir=", `--state-dir: "" is no absolute path; begin it with /`},
	{"--notify-socket=@", `--notify-socket: "@" is no absolute path`},
	{"--notify-socket=sock", `--notify-socket: "sock" is no absolute path`},
	{"--history=-1", `--history: "-1" is no whole number from 0 to 10000`},
	{"--history=10001", `--history: "10001" is no whole number from 0 to 10000`},
	{"--history=all", `--history: "all" is no whole number`},
	{"--name=", `--name: "" is no unit's name; write it as systemctl does`},
	{"--name=a/b", `--name: "a/b" is no unit's name`},
	{"--name=a\nb", `--name: "a\nb" is no unit's name`},
	{"--name=" + strings.Repeat("x", 256), "--name: "},
	{"--forget=yes", "--forget takes no value"},
	{"--log-level=debug", `--log-level: "debug" is none of error, warning, notice, info`},
	{"--manager-signals-all=yes", "--manager-signals-all takes no value"},
	{"--help=ready", "--help takes no value"},
	{"--version=2", "--version takes no value"},
	{"--stopp=TERM@1s", "unknown flag --stopp; did you mean --stop"},
	{"--Ready=notify", "unknown flag --Ready; did you mean --ready"},
	{"-x", "unknown flag --x; see svcrun --help"},
	{"---", "unknown flag "},
}

// run runs svcrun as a process in dir.
func runIn(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("svcrun", args...)
	var out, err bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &err
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	_ = cmd.Run()
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

func TestABadValueIsRefusedInOneLineAndStartsNothing(t *testing.T) {
	for _, c := range bad {
		dir := t.TempDir()
		stdout, stderr, code := runIn(t, dir, c.arg, "--", "/bin/touch", "started")
		if code != 64 || stdout != "" {
			t.Errorf("%s: exit %d, stdout %q", c.arg, code, stdout)
		}
		if !strings.HasPrefix(stderr, "svcrun: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.says) {
			t.Errorf("%s says\n%q; want one line with\n%q", c.arg, stderr, c.says)
		}
		if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			t.Errorf("%s: the command was started", c.arg)
		}
	}
}

func TestEveryFlagIsRefusedWithABadValue(t *testing.T) {
	for _, f := range flags {
		found := false
		for _, c := range bad {
			found = found || strings.HasPrefix(c.arg, "--"+f.name+"=")
		}
		if !found {
			t.Errorf("no bad value of --%s is tried", f.name)
		}
		if _, err := parse([]string{"--" + f.name}, nil); f.value != "" {
			if want := "--" + f.name + " wants a value: --" + f.name + "=" + f.value; err == nil || err.Error() != want {
				t.Errorf("--%s alone says %v; want %s", f.name, err, want)
			}
		}
	}
}

func TestFlagsMeanWhatHelpSays(t *testing.T) {
	check := func(text string) watchdog.Check {
		c, err := watchdog.ParseCheck(text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	type change = func(*options)
	for arg, want := range map[string]change{
		"--ready=tcp:h:1":      func(o *options) { o.Machine.Ready = []watchdog.Check{check("tcp:h:1")} },
		"--live=notify":        func(o *options) { o.Machine.Live = []watchdog.Check{check("notify")} },
		"--on-unhealthy=abort": func(o *options) { o.Machine.OnUnhealthy = watchdog.Abort },
		"--start-timeout=5min": func(o *options) { o.Machine.StartTimeout = 5 * time.Minute },
		"--early-exit=success": func(o *options) { o.Machine.EarlyExit = machine.EarlyExitSuccess },
		"--pre-stop=/bin/x 'a b'": func(o *options) {
			o.Machine.Drain.PreStop = []string{"/bin/x", "a b"}
		},
		"--pre-stop-timeout=7": func(o *options) { o.Machine.Drain.PreStopTimeout = 7 * time.Second },
		"--drain-delay=1m":     func(o *options) { o.Machine.Drain.Delay = time.Minute },
		"--stop=INT@5s,main": func(o *options) {
			o.Machine.Drain.Steps = []drain.Step{{Signal: syntax.SIGINT, Wait: 5 * time.Second, MainOnly: true}}
		},
		"--unhealthy-stop=QUIT@0": func(o *options) {
			o.Machine.Drain.UnhealthySteps = []drain.Step{{Signal: syntax.SIGQUIT}}
		},
		"--kill-wait=100ms":             func(o *options) { o.Machine.Drain.KillWait = 100 * time.Millisecond },
		"--kill-scope=group":            func(o *options) { o.KillScope = supervise.ScopeGroup },
		"--abort-wait=0":                func(o *options) { o.Machine.AbortWait = 0 },
		"--reload-signal=USR1":          func(o *options) { o.Machine.Reload.Signal = syntax.SIGUSR1 },
		"--reload-exec=/bin/reload now": func(o *options) { o.Machine.Reload.Command = []string{"/bin/reload", "now"} },
		"--reload-timeout=1h":           func(o *options) { o.Machine.Reload.Timeout = time.Hour },
		"--success=143,INT": func(o *options) {
			o.Machine.Success = machine.Success{Codes: []int{143}, Signals: []syntax.Signal{syntax.SIGINT}}
		},
		"--runtime-dir=/run//x/": func(o *options) { o.RuntimeDir = "/run/x" },
		"--state-dir=/var/lib/x": func(o *options) { o.StateDir = "/var/lib/x" },
		"--history=0":            func(o *options) { o.History = 0 },
		"--history=10000":        func(o *options) { o.History = 10000 },
		"--name=a@b\\x2d:_.service": func(o *options) {
			o.Name = `a@b\x2d:_.service`
		},
		"--notify-socket=/run/s": func(o *options) { o.ListenAddress = "/run/s" },
		"--notify-socket=@s":     func(o *options) { o.ListenAddress = "@s" },
		"--manager-signals-all":  func(o *options) { o.Machine.ManagerSignalsAll = true },
		"--log-level=error":      func(o *options) { o.level = machine.Error },
		"--":                     func(*options) {},
		"-start-timeout=5min":    func(o *options) { o.Machine.StartTimeout = 5 * time.Minute },
		"--start-timeout|5min":   func(o *options) { o.Machine.StartTimeout = 5 * time.Minute },
		"--stop=TERM@1|--stop=HUP@2": func(o *options) {
			o.Machine.Drain.Steps = []drain.Step{{Signal: syntax.SIGTERM, Wait: time.Second}, {Signal: syntax.SIGHUP, Wait: 2 * time.Second}}
		},
	} {
		args := append(strings.Split(arg, "|"), "/bin/x", "--ready=mine")
		got, err := parse(args, nil)
		if err != nil {
			t.Errorf("%s: %v", arg, err)
			continue
		}
		expected := defaults()
		expected.Machine.Drain.Steps = drain.Default().Steps
		expected.Machine.InterruptStops = got.Machine.InterruptStops
		expected.Argv = []string{"/bin/x", "--ready=mine"}
		want(&expected)
		if diff := cmp.Diff(expected, got, cmp.AllowUnexported(options{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", arg, diff)
		}
	}
}

func TestTheManagersWatchdogCountsOnlyWhereItIsSvcruns(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"60000000", "", time.Minute}, {"60000000", own, time.Minute}, {"60000000", "1" + own, 0},
		{"", own, 0}, {"0", "", 0}, {"x", "", 0}, {"-1", "", 0}, {"18446744073709551615", "", 0}, {"1", "", time.Microsecond},
	} {
		if got := watchdogPeriod([]string{"WATCHDOG_USEC=" + c.usec, "WATCHDOG_PID=" + c.pid}); got != c.want {
			t.Errorf("WATCHDOG_USEC=%s WATCHDOG_PID=%s is %v; want %v", c.usec, c.pid, got, c.want)
		}
	}
}

// help has to name every flag, once, and the codes that svcrun ends with.
func TestHelpNamesEveryFlag(t *testing.T) {
	var b bytes.Buffer
	(&output{stdout: &b}).help()
	for _, f := range flags {
		if n := strings.Count(b.String(), "\n  --"+f.name); n < 1 {
			t.Errorf("help does not name --%s", f.name)
		}
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 140 {
			t.Errorf("help has a line of %d characters: %s", len(line), line)
		}
	}
}
