package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// bare is a unit's name without its type, for policies.
func bare(m *labtest.Machine) string { return strings.TrimSuffix(m.UnitName(), ".service") }

// A service gets all of its sockets with their names, whether it is started by
// hand or by somebody who comes to any of them.
func TestSocketsReachTheServiceWithTheirNames(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		name := bare(m)
		s := &services{t: t, m: m}
		s.add(fmt.Sprintf(`
name: %[1]s
exec: [/bin/sh, -c, 'echo "$LISTEN_FDS $LISTEN_FDNAMES" >/run/%[1]s.names; exec sleep 1000']
sockets: [{listen: /run/%[1]s.sock, name: admin, mode: "0600"}, {listen: "127.0.0.1:4100", name: web}, {listen: "[::1]:4100", name: web}]
install: {wanted_by: []}
`, name))
		s.load()
		sorted := func() string { // systemd sorts the units as it likes
			count, names, _ := strings.Cut(strings.TrimSpace(m.Read("/run/"+name+".names")), " ")
			list := strings.Split(names, ":")
			slices.Sort(list)
			return count + " " + strings.Join(list, ":")
		}
		const want = "3 admin:web:web"
		m.Run("systemctl", "start", name+".service")
		m.WaitShell(`[ -s "$0" ]`, "/run/"+name+".names")
		if got := sorted(); got != want {
			t.Errorf("started by hand it gets %q, want %q", got, want)
		}
		if got := m.Run("stat", "-c", "%a", "/run/"+name+".sock"); got != "600\n" {
			t.Errorf("the socket's mode is %q", got)
		}
		m.Run("systemctl", "stop", name+".service")
		m.Run("rm", "/run/"+name+".names")
		m.Try("curl", "--max-time", "1", "http://127.0.0.1:4100/")
		m.WaitShell(`[ -s "$0" ]`, "/run/"+name+".names")
		if got := sorted(); got != want {
			t.Errorf("started by a client it gets %q, want %q", got, want)
		}
	})
}

// Instances have their own sockets, directories and variables, and are enabled
// together with their sockets.
func TestInstancesOfATemplateAreTheirOwn(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		name := bare(m)
		s := &services{t: t, m: m}
		s.add(fmt.Sprintf(`
name: %[1]s@
exec: [/bin/sh, -c, 'echo "$1 $PORT $LISTEN_FDNAMES 100%%%%" >$STATE_DIRECTORY/said; exec sleep 1000', sh, "%%i"]
env: {PORT: "p%%i"}
sockets: [{listen: "127.0.0.1:%%i", name: door}]
dirs: {state: [%[1]s/%%i]}
ready: {checks: [{exec: [/usr/bin/test, -s, "/var/lib/%[1]s/%%i/said"]}]}
on_give_up: ["%[1]s-alert@%%i.service"]
`, name))
		s.load()
		for _, port := range []string{"4201", "4202"} {
			unit := name + "@" + port + ".service"
			m.Run("systemctl", "enable", "--now", unit)
			if got, want := m.Read("/var/lib/"+name+"/"+port+"/said"), port+" p"+port+" door 100%\n"; got != want {
				t.Errorf("instance %s says %q, want %q", port, got, want)
			}
			for _, file := range []string{"sockets.target.wants/" + name + "@" + port + ".socket", "multi-user.target.wants/" + unit} {
				if m.Try("test", "-L", unitDir+file).Code != 0 {
					t.Errorf("%s was not enabled", file)
				}
			}
			m.Run("systemctl", "disable", unit)
			m.Run("systemctl", "stop", unit, name+"@"+port+".socket")
		}
	})
}

// A secret in a check arrives with the probe and is nowhere to be read; a
// credential of the policy's is the service's.
func TestSecretsReachTheProbeAndNobodyElse(t *testing.T) {
	const secret = "hunter2"
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		// The machine's mounts are private to it, and a manager up to 257 hands
		// credentials over by a mount that has to reach its own namespace.
		m.Run("mount", "--make-rshared", "/")
		name := bare(m)
		m.Write("/run/"+name+".conf", fmt.Sprintf(`
daemon off; pid /run/%[1]s.pid; error_log stderr; events {}
http { access_log off; server { listen 127.0.0.1:4300;
  location / { if ($http_authorization != "Bearer %[2]s") { return 403; } return 200; } } }
`, name, secret), 0o600)
		m.Write("/run/"+name+".token", "of the policy", 0o600)
		files := generate(t, fmt.Sprintf(`
name: %[1]s
exec: [/bin/sh, -c, 'cp "$CREDENTIALS_DIRECTORY/token" /run/%[1]s.copy; exec /usr/sbin/nginx -c /run/%[1]s.conf']
credentials: {token: /run/%[1]s.token}
ready: {start_timeout: 1min, checks: [{http: "http://127.0.0.1:4300/", header: "Authorization: Bearer %[2]s"}]}
live: {checks: [{http: "http://127.0.0.1:4300/", header: "Authorization: Bearer %[2]s", interval: 5s, timeout: 5s}]}
`, name, secret), target(m))
		s := &services{t: t, m: m}
		for file, text := range files {
			if strings.HasPrefix(file, "svckit.") {
				m.Write("/etc/credstore/"+file, text, 0o600)
				continue
			}
			m.Write(unitDir+file, text, 0o644)
			s.units = append(s.units, file)
			if strings.Contains(text, secret) {
				t.Errorf("%s tells the secret", file)
			}
		}
		s.load()
		unit := name + ".service"
		if result := m.Try("systemctl", "start", unit); result.Code != 0 {
			t.Fatalf("it does not start: %s", strings.Join(m.Journal(unit, 30), "\n"))
		}
		if got := m.Read("/run/" + name + ".copy"); got != "of the policy" {
			t.Errorf("the credential is %q", got)
		}
		for _, pid := range m.Pids(unit) {
			if line := m.Try("cat", fmt.Sprintf("/proc/%d/cmdline", pid)).Stdout; strings.Contains(line, secret) {
				t.Errorf("process %d tells the secret in its arguments", pid)
			}
		}
		if journal := strings.Join(m.Journal(unit, 100), "\n"); strings.Contains(journal, secret) {
			t.Errorf("the journal tells the secret:\n%s", journal)
		}
		m.Run("systemctl", "stop", unit)
	})
}

// on_give_up is told once, at the end; on_each_failure of every failure, where
// the manager can.
func TestWhoWantsToKnowOfFailuresIsTold(t *testing.T) {
	const crashes = "restart: {base: 400ms, cap: 400ms, give_up: {starts: 3, within: 1h}}\n"
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		for key, want := range map[string]int{"on_give_up": 1, "on_each_failure": 3} {
			if key == "on_each_failure" && m.Version() < 254 {
				continue
			}
			name := bare(m)
			m.Write(unitDir+name+"-alert@.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo %i >>/run/"+name+".alerts'\n", 0o644)
			s := &services{t: t, m: m, units: []string{name + "-alert@.service"}}
			exec := "[/bin/false]"
			if key == "on_each_failure" {
				exec = patient(name)
			}
			s.add("name: " + name + "\nexec: " + exec + "\n" + crashes + key + ": [" + name + "-alert@%N.service]\n")
			s.load()
			m.Write("/run/"+name+".crashes", "", 0o644)
			m.Try("systemctl", "start", name+".service")
			m.WaitFor(name+".service", "ActiveState=failed")
			m.WaitShell(`[ "$(wc -l <"/run/$0.alerts")" -ge "$1" ]`, name, strconv.Itoa(want))
			if got := m.Read("/run/" + name + ".alerts"); key == "on_give_up" && got != name+"\n" || !strings.HasPrefix(got, name+"\n") {
				t.Errorf("%s is told of %q", key, got)
			}
		}
	})
}

// patient is a service that crashes once all have been told of its crashes
// before: a unit that still tells of one is not started for the next.
func patient(name string) string {
	return fmt.Sprintf(`[/bin/sh, -c, 'touch /run/%[1]s.alerts; n=$(wc -l </run/%[1]s.crashes); for i in $(seq 900); do
  test $(wc -l </run/%[1]s.alerts) -ge $n && test "$(systemctl show -P ActiveState %[1]s-alert@%[1]s.service)" = inactive && break; sleep 0.05
  done; echo crash >>/run/%[1]s.crashes; exit 1']`, name)
}

// Without live checks svcrun's heartbeats keep a service alive, and their end
// is noticed.
func TestAWrappersHeartbeatIsOwed(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		name := bare(m)
		s := &services{t: t, m: m}
		s.add("name: " + name + "\nexec: [/bin/sleep, '1000']\nwatchdog: wrapper\nrestart: {when: no}\n")
		m.Write(unitDir+name+".service.d/quick.conf", "[Service]\nWatchdogSec=3s\nTimeoutAbortSec=1s\n", 0o644)
		s.load()
		unit := name + ".service"
		m.Run("systemctl", "start", unit)
		for range 2 {
			last := m.Show(unit, "WatchdogTimestampMonotonic")["WatchdogTimestampMonotonic"]
			m.WaitUntil(unit, func(p lab.Properties) bool { return p["WatchdogTimestampMonotonic"] != last }, "WatchdogTimestampMonotonic")
		}
		m.Run("systemctl", "kill", "--kill-who=main", "--signal=STOP", unit)
		m.WaitFor(unit, "ActiveState=failed", "Result=watchdog")
		m.Run("rm", "-r", unitDir+name+".service.d")
	})
}

// runtime_max stops a service in its own time, and a restart follows.
func TestRuntimeMaxStopsAndRestarts(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		name := bare(m)
		m.Write("/run/"+name+".env", "FROM_FILE='a b'\nBOTH=file\n", 0o644)
		s := &services{t: t, m: m}
		s.add(fmt.Sprintf(`
name: %[1]s
exec: [/bin/sh, -c, 'trap "echo stopped >>/run/%[1]s.out; exit 0" TERM; echo "$FROM_FILE $BOTH" >>/run/%[1]s.out; sleep 1000 & wait']
start_pre: [[/bin/sh, -c, 'echo pre >>/run/%[1]s.out']]
env: {BOTH: unit}
env_files: [/run/%[1]s.env, -/run/%[1]s.missing]
ready: {checks: [{exec: [/bin/grep, -q, file, /run/%[1]s.out]}]}
runtime_max: 1s
restart: {base: 100ms, cap: 100ms}
`, name))
		s.load()
		m.Run("systemctl", "start", name+".service")
		m.WaitUntil(name+".service", func(p lab.Properties) bool { return p["NRestarts"] != "0" }, "NRestarts") // one, or more by now
		const want = "pre\na b file\nstopped\npre\n"
		m.WaitShell(`[ "$(grep -c pre "/run/$0.out")" -gt 1 ]`, name)
		if got := m.Read("/run/" + name + ".out"); !strings.HasPrefix(got, want) {
			t.Errorf("it says %q, want %q", got, want)
		}
	})
}

// A service of scope user runs in a manager of its user, with its directories
// in the user's.
func TestUserServiceRunsInItsUsersManager(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		const name, home = "mine", "/run/mine" // short: both are in the path of a socket
		m.Run("install", "-d", "-o", "www-data", home, home+"/run", home+"/.config", home+"/.config/systemd", home+"/.config/systemd/user")
		for file, text := range generate(t, fmt.Sprintf(`
name: %[1]s
scope: user
exec: [/bin/sh, -c, 'echo "$STATE_DIRECTORY $RUNTIME_DIRECTORY" >"$STATE_DIRECTORY/said"; exec sleep 1000']
dirs: {state: [own], runtime: [own]}
sockets: [127.0.0.1:4400]
reload: {exec: [/usr/bin/touch, /run/%[1]s/reloaded]}
restart: {stable_after: 1h}
`, name), target(m)) {
			m.Write(home+"/.config/systemd/user/"+file, text, 0o644)
		}
		manager := m.UnitName()
		m.InstallUnit(manager, fmt.Sprintf("[Service]\nType=notify\nUser=www-data\nDelegate=yes\nWorkingDirectory=%[1]s\n"+
			"Environment=HOME=%[1]s XDG_RUNTIME_DIR=%[1]s/run\nExecStart=/usr/lib/systemd/systemd --user --unit=basic.target\n", home))
		m.Run("systemctl", "start", manager)
		user := func(args ...string) []string {
			return append([]string{"runuser", "-u", "www-data", "--", "env", "HOME=" + home, "XDG_RUNTIME_DIR=" + home + "/run", "systemctl", "--user"}, args...)
		}
		unit := name + ".service"
		if result := m.Try(user("enable", "--now", unit)...); result.Code != 0 {
			t.Fatalf("it does not start: %s\n%s", result.Stderr, strings.Join(m.Journal(manager, 30), "\n"))
		}
		if result := m.Try(user("reload", unit)...); result.Code != 0 {
			t.Errorf("it does not reload: %s\n%s", result.Stderr, m.Run("journalctl", "_UID=33", "-n", "20"))
		}
		show := m.Run(user("show", unit, "-P", "ActiveState", "-P", "SubState")...)
		if show != "active\nrunning\n" {
			t.Errorf("it is %q", show)
		}
		m.WaitShell(`[ -s "$0/.config/own/said" ] || [ -s "$0/.local/state/own/said" ]`, home)
		said := strings.Fields(m.Run("sh", "-c", "cat "+home+"/.config/own/said "+home+"/.local/state/own/said 2>/dev/null || true"))
		if len(said) != 2 || !strings.HasPrefix(said[0], home) || said[1] != home+"/run/own" {
			t.Errorf("its directories are %q", said)
		}
		m.Run(user("stop", unit)...)
	})
}
