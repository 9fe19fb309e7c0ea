package e2e

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// acceptor is a service that is activated: it reports what it was given, then
// answers every connection to the first socket with its pid. The manager passes
// them in an order of its own; their names tell.
const acceptor = `#!/bin/sh
{
	echo "LISTEN_PID ${LISTEN_PID-unset} of $$"
	echo "SYSTEMD_EXEC_PID ${SYSTEMD_EXEC_PID-unset} of $$"
	echo "LISTEN_FDS ${LISTEN_FDS-unset}"
	echo "LISTEN_FDNAMES ${LISTEN_FDNAMES-unset}"
	echo "LISTEN_PIDFDID ${LISTEN_PIDFDID-unset}"
	ls -l /proc/$$/fd >$1.fds # no pipe, of which the shell would have an end
	sed -n 's/.* \([0-9]* -> .*\)/fd \1/p' $1.fds
} >$1.new
mv $1.new $1
case $LISTEN_FDNAMES in first*) first=3 ;; *) first=4 ;; esac
exec /usr/bin/perl -e 'open L, "+<&=", '$first' or die; while (accept C, L) { syswrite C, "$$\n"; close C }'
`

// activated is a service with two sockets, by svcrun.
type activated struct {
	t               *testing.T
	m               *labtest.Machine
	unit            string // without .service
	path            string // of the first socket
	flags, settings string
}

// install installs it and starts its sockets, which alone start nothing.
func (a *activated) install() {
	m := a.m
	m.Write("/usr/bin/acceptor", acceptor, 0o755)
	a.unit = strings.TrimSuffix(m.UnitName(), ".service")
	a.path = "/run/" + a.unit + ".sock"
	const socket = "[Socket]\nListenStream=%s\nFileDescriptorName=%s\nService=%s.service\n"
	m.InstallUnit(a.unit+".service", fmt.Sprintf(
		"[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=notify\nNotifyAccess=main\nKillMode=mixed\nSockets=%[1]s-b.socket\n%[3]s\nRuntimeDirectory=%[1]s\nExecStart=/usr/bin/svcrun %[2]s -- /usr/bin/acceptor /run/%[1]s/report\n",
		a.unit, a.flags, a.settings))
	m.InstallUnit(a.unit+"-a.socket", fmt.Sprintf(socket, a.path, "first", a.unit))
	m.InstallUnit(a.unit+"-b.socket", fmt.Sprintf(socket, a.path+".b", "second", a.unit))
	m.Run("systemctl", "start", a.unit+"-a.socket", a.unit+"-b.socket")
}

// dial connects to the first socket, past the machine's namespaces.
func (a *activated) dial() net.Conn {
	a.t.Helper()
	conn, err := net.DialTimeout("unix", filepath.Join("/proc", strconv.Itoa(a.m.Pid()), "root", a.path), 10*time.Second)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// answer is what a connection is answered with: the pid of who serves.
func (a *activated) answer(conn net.Conn) string {
	a.t.Helper()
	text, err := io.ReadAll(conn)
	if err != nil || len(text) == 0 {
		a.t.Fatalf("no answer: %q, %v\n%s", text, err, strings.Join(a.m.Journal(a.unit+".service", 20), "\n"))
	}
	return strings.TrimSpace(string(text))
}

// sockets are the sockets that a process of the machine holds.
func (a *activated) sockets(pid string) []string {
	a.t.Helper()
	return regexp.MustCompile(`socket:\[\d+\]`).FindAllString(a.m.Run("ls", "-l", "/proc/"+pid+"/fd"), -1)
}

func TestSocketActivationReachesTheServiceAndStaysWithIt(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		a := &activated{t: t, m: m, flags: "--live=exec:/bin/true,interval=100ms,timeout=100ms,failures=100 --ready=exec:/bin/true"}
		a.install()
		pid := a.answer(a.dial())
		report := m.Read("/run/" + a.unit + "/report")
		for _, want := range []string{
			"LISTEN_PID " + pid + " of " + pid, "SYSTEMD_EXEC_PID " + pid + " of " + pid,
			"LISTEN_FDS 2", "LISTEN_PIDFDID unset", "fd 3 -> socket:", "fd 4 -> socket:",
		} {
			if !strings.Contains(report, want) {
				t.Errorf("the service finds no %q:\n%s", want, report)
			}
		}
		// In whichever order the manager has them, name and descriptor fit.
		names := regexp.MustCompile(`LISTEN_FDNAMES (first:second|second:first)\n`)
		if !names.MatchString(report) || strings.Contains(report, "\nfd 5 ") {
			t.Errorf("names or descriptors are wrong:\n%s", report)
		}
		given := regexp.MustCompile(`fd [34] -> (socket:\[\d+\])`).FindAllStringSubmatch(report, -1)
		svcrun := m.Show(a.unit+".service", "MainPID")["MainPID"]
		if !strings.Contains(m.Read("/proc/"+svcrun+"/environ"), "LISTEN_PIDFDID=") {
			t.Logf("this manager sets no LISTEN_PIDFDID=")
		}
		held := a.sockets(svcrun)
		for _, fd := range given {
			for _, own := range held {
				if own == fd[1] {
					t.Errorf("svcrun has kept %s open", own)
				}
			}
		}
		if len(given) != 2 || len(held) == 0 {
			t.Errorf("the service was given %v; svcrun holds %v", given, held)
		}
	})
}

func TestConnectionThatCameWhileTheServiceWasDownIsServed(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		a := &activated{t: t, m: m, settings: "Restart=always\nRestartSec=2s"}
		a.install()
		pid := a.answer(a.dial())
		for range 2 { // automatic restarts, with a connection that waits for the new service
			m.Run("kill", "-KILL", pid)
			m.WaitFor(a.unit+".service", "SubState=auto-restart")
			before := pid
			if pid = a.answer(a.dial()); pid == before {
				t.Fatalf("%s was killed, and has answered", before)
			}
		}
		// A stop that leaves the sockets, and a connection that starts it again.
		m.Run("systemctl", "stop", a.unit+".service")
		if got := a.answer(a.dial()); got == pid {
			t.Errorf("%s has answered after its stop", got)
		}
		if n := m.Show(a.unit+".service", "NRestarts", "Result"); n["Result"] != "success" {
			t.Errorf("the unit is %v", n)
		}
	})
}

func TestSocketActivationWorksInASandbox(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		a := &activated{t: t, m: m, settings: strings.Join([]string{
			"DynamicUser=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "PrivateDevices=yes",
			"ProtectProc=invisible", "ProcSubset=pid", "NoNewPrivileges=yes", "MemoryDenyWriteExecute=yes", "CapabilityBoundingSet=",
			"RestrictAddressFamilies=AF_UNIX", "RestrictNamespaces=yes", "SystemCallFilter=@system-service",
			"NoExecPaths=/", "ExecPaths=/usr/bin /usr/lib /usr/lib64",
		}, "\n")}
		a.install()
		pid := a.answer(a.dial())
		if report := m.Read("/run/" + a.unit + "/report"); !strings.Contains(report, "LISTEN_PID "+pid+" of "+pid) {
			t.Errorf("the service %s finds:\n%s", pid, report)
		}
	})
}

// Who links libsystemd holds LISTEN_PID= and, since 259, LISTEN_PIDFDID= against
// itself (sd_listen_fds(3)).
func TestLibsystemdTakesTheDescriptors(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		behind := &activated{t: t, m: m}
		behind.install()
		unit := strings.TrimSuffix(m.UnitName(), ".service")
		front := &activated{t: t, m: m, unit: unit, path: "/run/" + unit + ".sock"}
		m.InstallUnit(unit+".service", "[Service]\nType=notify\nNotifyAccess=main\nKillMode=mixed\n"+
			"ExecStart=/usr/bin/svcrun --ready=notify -- /usr/lib/systemd/systemd-socket-proxyd "+behind.path+"\n")
		m.InstallUnit(unit+".socket", "[Socket]\nListenStream="+front.path+"\n")
		m.Run("systemctl", "start", unit+".socket")
		if pid := front.answer(front.dial()); pid == "" {
			t.Error("no answer")
		}
	})
}

func TestFdCheckOfAPassedDescriptorIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		a := &activated{t: t, m: m, flags: "--ready=fd:4"}
		a.install()
		m.Try("systemctl", "start", a.unit+".service")
		if got := m.Show(a.unit+".service", "ExecMainStatus")["ExecMainStatus"]; got != "64" {
			t.Errorf("svcrun ended with %s; want 64", got)
		}
		journalHas(t, m, a.unit+".service", "svcrun: --ready=fd:4: descriptor 4 is taken: svcrun was given it for the service; a free one is fd:5")
	})
}

func TestActivatedServiceSaysThatItIsReadyOnADescriptor(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.InstallUnit(unit, service(
			`ExecStart=/usr/bin/svcrun --ready=fd:9 -- /bin/sh -c 'while [ ! -e /run/%N.go ]; do sleep 0.05; done; echo ready >/proc/self/fd/9; exec 9>&-; exec sleep 1000'`))
		m.Run("systemctl", "start", "--no-block", unit)
		m.WaitFor(unit, "SubState=start")
		m.Write("/run/"+strings.TrimSuffix(unit, ".service")+".go", "", 0o644)
		m.WaitFor(unit, "SubState=running")
	})
}

func TestActivatedCommandThatCannotBeExecutedEndsWith203(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		m.Write("/usr/bin/notaprogram", "nothing\n", 0o755)
		unit := strings.TrimSuffix(m.UnitName(), ".service")
		m.InstallUnit(unit+".service", service("ExecStart=/usr/bin/svcrun -- /usr/bin/notaprogram"))
		m.InstallUnit(unit+".socket", "[Socket]\nListenStream=/run/"+unit+".sock\n")
		m.Run("systemctl", "start", unit+".socket")
		m.Try("systemctl", "start", unit+".service")
		got := m.Show(unit+".service", "Result", "ExecMainStatus")
		if got["Result"] != "exit-code" || got["ExecMainStatus"] != "203" {
			t.Errorf("the unit is %v", got)
		}
		journalHas(t, m, unit+".service", "svcrun: cannot execute /usr/bin/notaprogram: exec format error")
		journalHas(t, m, unit+".service", "svcrun: end cause=exec code=203")
	})
}
