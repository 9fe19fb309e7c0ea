package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// checkServer answers every kind of check; svcrun's own tests have it.
var checkServer = sync.OnceValues(func() (string, error) { return labtest.Build("../../svcrun/e2e/testdata/server") })

// hardened is a service that is asked in every way there is, and that has
// hooks.
const hardened = `
name: NAME
exec:
  - /bin/sh
  - -c
  - systemd-notify --ready; echo >&3; exec /usr/bin/NAME-server PORT0 /run/NAME
ACCOUNT
start_pre: [[/usr/bin/env, A=b]]
dirs: {runtime: [NAME]}
ready:
  start_timeout: 90s
  checks: [SPOKEN, "fd:3"ALL]
live:
  checks: [LIVE]
reload: {exec: [/usr/bin/touch, /run/NAME/reloaded]}
drain: {pre_stop: [/usr/bin/touch, /var/lib/svckit/NAME/stopped], delay: 0}
restart: {give_up: {starts: 1, within: 1h}}
hardening: LEVEL
`

// everyKind are checks of every kind that is probed.
var everyKind = []string{
	"http://127.0.0.1:PORT0/,body=ok", "http://localhost:PORT0/,owned", "http+unix:/run/NAME/app.sock:/,owned",
	"https://127.0.0.1:PORT1/,insecure", "https://localhost:PORT1/,insecure,owned", "tcp:127.0.0.1:PORT0,owned", "listen:PORT0",
	"unix:/run/NAME/app.sock,owned", "grpc:127.0.0.1:PORT2", "exec:/usr/bin/test -e /run/NAME/alive", "file:/run/NAME/alive,max-age=1min",
}

// TestEveryKindOfCheckWorksAtEveryLevel starts a service of root's, one of an
// account's, and one whose processes become another's, at each level of
// hardening, with checks of every kind and with hooks.
func TestEveryKindOfCheckWorksAtEveryLevel(t *testing.T) {
	accounts := map[string]string{
		"root": "", "account": "user: www-data\ngroup: www-data", "dynamic": "extra: {Service: {DynamicUser: yes}}",
	}
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		machines.Program(m, "svckit-probe")
		path, err := checkServer()
		if err != nil {
			t.Fatal(err)
		}
		checks := everyKind
		if m.Try("test", "-e", "/sys/fs/cgroup/system.slice/memory.current").Code == 0 {
			checks = append(checks, "memory:100G")
		}
		port := 20000
		for _, level := range []string{"baseline", "strict"} {
			for account, lines := range accounts {
				name := strings.TrimSuffix(m.UnitName(), ".service")
				m.Install(path, "/usr/bin/"+name+"-server", 0o755)
				port += 3
				fill := strings.NewReplacer("NAME", name, "PORT0", fmt.Sprint(port), "PORT1", fmt.Sprint(port+1), "PORT2", fmt.Sprint(port+2),
					"ACCOUNT", lines, "LEVEL", level)
				var ready, live strings.Builder
				for _, check := range checks {
					fmt.Fprintf(&ready, ", %q", check)
					fmt.Fprintf(&live, "%q, ", check+",interval=5s,timeout=5s")
				}
				spoken := "notify"
				if account != "dynamic" { // a reload would wait for it to be said again
					spoken = `"file:/run/` + name + `/alive"`
				}
				s := &services{t: t, m: m}
				s.add(fill.Replace(strings.NewReplacer("SPOKEN", spoken, "ALL", ready.String(), "LIVE", live.String()).Replace(hardened)))
				s.load()
				t.Run(level+" "+account, func(t *testing.T) { checkHardened(t, m, name, len(checks), account != "dynamic") })
			}
		}
	})
}

func checkHardened(t *testing.T, m *labtest.Machine, name string, checks int, reloads bool) {
	unit := name + ".service"
	if result := m.Try("systemctl", "start", unit); result.Code != 0 {
		t.Fatalf("it does not start: %s\n%s", result.Stderr, strings.Join(m.Journal(unit, 30), "\n"))
	}
	healthy := fmt.Sprintf("live %d/%d", checks, checks)
	m.WaitUntil(unit, func(p lab.Properties) bool { return strings.Contains(p["StatusText"], healthy) }, "StatusText")
	if reloads {
		m.Run("systemctl", "reload", unit)
		m.Run("test", "-e", "/run/"+name+"/reloaded")
	}
	m.Run("systemctl", "stop", unit)
	m.WaitFor(unit, "ActiveState=inactive", "Result=success")
	m.Run("test", "-e", "/var/lib/svckit/"+name+"/stopped")
}

// TestStrictKeepsWhatAServiceWritesFromBeingExecuted is what the level is for:
// the service can write where its policy says, and execute nothing of it.
func TestStrictKeepsWhatAServiceWritesFromBeingExecuted(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		name := strings.TrimSuffix(m.UnitName(), ".service")
		script := "for d in /tmp /var/tmp /dev/shm /run/ /var/lib/ /var/cache/ /var/log/ /srv/; do case $d in */) d=${d}" + name + ";; esac; " +
			"cp /usr/bin/true $d/mine && chmod 755 $d/mine && $d/mine && echo EXECUTED $d; done; echo x >/etc/" + name + " && echo WRITTEN; ls /root && echo SEEN; unshare -U true && echo UNSHARED; echo DONE >/var/lib/" + name + "/out; sleep 1000"
		s := &services{t: t, m: m}
		s.add(fmt.Sprintf("name: %[1]s\nexec: [/bin/sh, -c, %[2]q]\nuser: www-data\ndirs: {state: [%[1]s], runtime: [%[1]s], cache: [%[1]s], logs: [%[1]s]}\n"+
			"ready: {checks: ['file:/var/lib/%[1]s/out']}\nhardening: strict\nextra: {Service: {ReadWritePaths: /srv/%[1]s}}\n", name, script))
		m.Run("install", "-d", "-o", "www-data", "/srv/"+name)
		s.load()
		m.Run("systemctl", "start", name+".service")
		journal := strings.Join(m.Journal(name+".service", 50), "\n")
		for _, done := range []string{"EXECUTED", "WRITTEN", "SEEN", "UNSHARED"} {
			if strings.Contains(journal, done) {
				t.Errorf("%s:\n%s", done, journal)
			}
		}
		if !strings.Contains(journal, "Permission denied") {
			t.Errorf("nothing was refused:\n%s", journal)
		}
	})
}
