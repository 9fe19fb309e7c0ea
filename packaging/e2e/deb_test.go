package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

const (
	policyFile = "/etc/svckit/units/web.yaml"
	web        = "web.service"
)

// webPolicy is a service that knows nothing of systemd. What it does at a stop
// leaves a trace. Its times are long, as none of them is tried here: a machine
// that is slow is no reason to stop it.
const webPolicy = `name: web
exec: /usr/bin/redis-server --port 7001 --save "" --daemonize no
ready:
  checks: ["exec:/usr/bin/redis-cli -p 7001 -e ping,interval=10s,timeout=10s"]
live:
  checks: ["exec:/usr/bin/redis-cli -p 7001 -e ping,interval=1min,timeout=1min"]
drain:
  pre_stop: [/usr/bin/touch, /run/drained]
  pre_stop_timeout: 1min
  steps: [TERM@1min]
reload: {signal: HUP}
`

// onEachSuite runs a test in a machine of each suite that nobody else uses, as
// packages are a machine's own. It keeps the documentation of packages, which the
// lab's roots do without. What all tests install is built before the first boot,
// so that no machine has to come up beside the compiler.
func onEachSuite(t *testing.T, test func(t *testing.T, l life)) {
	t.Parallel()
	built(t, oldRelease)
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			l := boot(t, suite)
			l.Run("sh", "-c", "sed -i /path-exclude/d /etc/dpkg/dpkg.cfg.d/*")
			test(t, l)
		})
	}
}

// life is a machine in which packages come and go.
type life struct {
	t *testing.T
	*labtest.Machine
	born string // where the journal was then, a cursor of it
}

// boot boots a machine and waits until all that belongs to the boot is done.
func boot(t *testing.T, suite lab.Suite) life {
	t.Helper()
	l := life{t: t, Machine: labtest.Boot(t, suite)}
	l.Try("systemctl", "is-system-running", "--wait") // fails if the machine is degraded, which is as good
	l.Run("journalctl", "--sync")
	_, cursor, _ := strings.Cut(l.Run("journalctl", "--lines=1", "--show-cursor"), "\n-- cursor: ")
	l.born = strings.TrimSpace(cursor)
	return l
}

// TestDebLivesAndGoesWithoutATrace is the whole life of the package around a
// service that runs.
func TestDebLivesAndGoesWithoutATrace(t *testing.T) {
	onEachSuite(t, func(t *testing.T, l life) {
		before, state := l.files(), l.state()
		l.Install(filepath.Join(built(t, oldRelease), deb(oldVersion)), "/root/old.deb", 0o644)
		l.Install(filepath.Join(built(t, newPackages), deb(newVersion)), "/root/new.deb", 0o644)

		l.dpkg("--install", "/root/old.deb")
		l.dpkg("--verify", "svckit")
		l.checkInstalled(oldVersion)
		l.Write(policyFile, webPolicy, 0o644)
		l.Run("systemctl", "daemon-reload")
		l.Run("systemctl", "start", web)

		l.goesOn("an upgrade", func() {
			l.reloadsOnce("the upgrade", func() { l.dpkg("--install", "/root/new.deb") })
			l.checkInstalled(newVersion)
		})
		l.goesOn("a reload", func() { l.Run("systemctl", "reload", web) })
		l.stops()
		l.Run("systemctl", "start", web)
		if program := l.program(); program != "/usr/bin/svcrun" {
			t.Errorf("after the upgrade %s was started", program)
		}

		l.goesOn("the removal", func() {
			l.reloadsOnce("the removal", func() { l.dpkg("--remove", "svckit") })
		})
		if load := l.Show(web, "LoadState")["LoadState"]; load != "not-found" {
			t.Errorf("without the package the unit of the policy is %s", load)
		}
		l.ends()
		l.Read(policyFile) // is there until the package is purged
		l.dpkg("--purge", "svckit")
		l.Run("test", "!", "-e", "/run/svckit")
		l.checkSame(before, l.files())
		l.checkState(state)
	})
}

// dpkg runs dpkg, which has to succeed and to say nothing but what it does.
func (l life) dpkg(argv ...string) {
	l.t.Helper()
	result := l.Try(append([]string{"dpkg"}, argv...)...)
	// Bookworm's systemd has that directory as one of /lib, which dpkg does not see through.
	said := strings.ReplaceAll(result.Stdout+result.Stderr,
		"dpkg: warning: while removing svckit, directory '/usr/lib/systemd/system-generators' not empty so not removed\n", "")
	if result.Code != 0 || regexp.MustCompile(`(?i)warning|error|cannot|not found`).MatchString(said) {
		l.t.Fatalf("dpkg %v: exit code %d\n%s%s", argv, result.Code, result.Stdout, result.Stderr)
	}
}

// checkInstalled looks at what a package has brought.
func (l life) checkInstalled(version string) {
	l.t.Helper()
	for _, program := range []string{"/usr/bin/svcrun", "/usr/bin/svcgen", "/usr/bin/svcstat", "/usr/lib/svckit/svckit-probe"} {
		if out := l.Run(program, "--version"); !strings.HasSuffix(out, " v"+version+"\n") {
			l.t.Errorf("%s --version: %q", program, out)
		}
	}
	for _, link := range []string{"system-generators", "user-generators"} {
		if to := l.Run("realpath", "/usr/lib/systemd/"+link+"/svckit"); to != "/usr/bin/svcgen\n" {
			l.t.Errorf("the link in %s leads to %s", link, to)
		}
	}
	if unit := l.Show("svckit-alert@x.service", "LoadState")["LoadState"]; unit != "loaded" {
		l.t.Errorf("the alert's unit is %s", unit)
	}
}

// goesOn holds that the service goes on undisturbed over what is done.
func (l life) goesOn(over string, done func()) {
	l.t.Helper()
	properties := []string{"MainPID", "InvocationID", "NRestarts", "ActiveState", "SubState", "ExecMainStartTimestampMonotonic"}
	before, redis := l.Show(web, properties...), l.Run("pgrep", "--exact", "redis-server")
	if before["ActiveState"] != "active" {
		l.t.Fatalf("before %s the service is %v", over, before)
	}
	done()
	after := l.Show(web, properties...)
	for name, value := range before {
		if after[name] != value {
			l.t.Errorf("over %s %s became %s, from %s", over, name, after[name], value)
		}
	}
	if now := l.Run("pgrep", "--exact", "redis-server"); now != redis {
		l.t.Errorf("over %s process %s became %s", over, redis, now)
	}
	if pong := l.Run("redis-cli", "-p", "7001", "ping"); pong != "PONG\n" {
		l.t.Errorf("after %s the service says %q", over, pong)
	}
}

var reloading = regexp.MustCompile(`(?m)^Reloading\.+$`)

// reloadsOnce holds that the manager is reloaded once by what is done.
func (l life) reloadsOnce(by string, done func()) {
	l.t.Helper()
	count := func() int {
		l.Run("journalctl", "--sync")
		return len(reloading.FindAllString(l.Run("journalctl", "--quiet", "--output=cat", "_PID=1"), -1))
	}
	before := count()
	done()
	if n := count() - before; n != 1 {
		l.t.Errorf("%s reloaded the manager %d times", by, n)
	}
}

// program is what runs as the service's main process.
func (l life) program() string {
	l.t.Helper()
	return strings.TrimSpace(l.Run("readlink", "/proc/"+l.Show(web, "MainPID")["MainPID"]+"/exe"))
}

// stops holds that the service drains and ends well.
func (l life) stops() {
	l.t.Helper()
	l.Run("rm", "-f", "/run/drained")
	l.ends()
	l.Read("/run/drained")
}

// ends holds that the service can be stopped. Without its unit's file systemd does
// so by its defaults, with a signal to svcrun and the service at once.
func (l life) ends() {
	l.t.Helper()
	l.Run("systemctl", "stop", web)
	if end := l.Show(web, "ActiveState", "Result"); end["ActiveState"] != "inactive" || end["Result"] != "success" {
		l.t.Errorf("the stop ended with %v", end)
	}
}

// checkSame holds that there is no file that was not there before.
func (l life) checkSame(before, after []string) {
	l.t.Helper()
	slices.Sort(before)
	slices.Sort(after)
	for _, file := range after {
		if _, found := slices.BinarySearch(before, file); !found {
			l.t.Errorf("left behind: %s", file)
		}
	}
	for _, file := range before {
		if _, found := slices.BinarySearch(after, file); !found {
			l.t.Errorf("taken away, or changed: %s", file)
		}
	}
}

// ours finds what is said of svckit.
var ours = regexp.MustCompile(`(?im)^.*(svckit|svcgen).*$`)

// checkState holds that the machine is as it was, and that its manager has not
// complained of svckit meanwhile.
func (l life) checkState(before []string) {
	l.t.Helper()
	if now := l.state(); !slices.Equal(now, before) {
		l.t.Errorf("the machine was %q, and is %q", before, now)
	}
	result := l.Try("systemctl", "daemon-reload")
	if result.Code != 0 || result.Stdout+result.Stderr != "" {
		l.t.Errorf("systemctl daemon-reload: %+v", result)
	}
	l.Run("journalctl", "--sync")
	said := l.Run("journalctl", "--quiet", "--output=cat", "--after-cursor="+l.born, "--priority=warning", "_PID=1")
	if complaints := ours.FindAllString(said, -1); complaints != nil {
		l.t.Errorf("the manager complains:\n%s", strings.Join(complaints, "\n"))
	}
}

// files are all files that stay, but for what dpkg keeps of its own, and systemd:
// it makes directories for services that start late (PrivateTmp=), and writes down
// when timers elapsed.
func (l life) files() []string {
	l.t.Helper()
	find := []string{"find", "/", "-ignore_readdir_race", "-xdev", "("}
	for _, path := range []string{
		"/root", "/var/log", "/var/cache", "/var/lib/dpkg/*-old",
		"/var/tmp/systemd-private-*", "/var/lib/systemd/timers", "/var/lib/systemd/random-seed",
	} {
		find = append(find, "-path", path, "-o")
	}
	out := l.Run(append(find, "-false", ")", "-prune", "-o", "-printf", `%p %y %m %l\n`)...)
	return strings.Split(out, "\n")
}

// state is what the machine is, and what has failed in it.
func (l life) state() []string {
	l.t.Helper()
	return []string{
		l.Try("systemctl", "is-system-running").Stdout,
		l.Run("systemctl", "list-units", "--failed", "--plain", "--no-legend", "--quiet"),
	}
}
