package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// sandbox is what svcgen's and many a hand-written unit shut a service into.
var sandbox = []string{
	"DynamicUser=yes", "ProtectSystem=strict", "PrivateTmp=yes", "ProtectProc=invisible",
	"RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6", "SystemCallFilter=@system-service", "NoNewPrivileges=yes",
}

// server builds testdata/server, once.
var server = sync.OnceValues(func() (string, error) { return labtest.Build("./testdata/server") })

// ports are the next free ones; a machine has a network of its own.
var ports atomic.Int32

// stand is a unit's server: its port, and the directory of its files.
type stand struct {
	port int
	dir  string
}

// newStand installs the server for a unit.
func newStand(t *testing.T, m *labtest.Machine, unit string) stand {
	t.Helper()
	path, err := server()
	if err != nil {
		t.Fatal(err)
	}
	machines.Install(m, path, "/usr/bin/checkserver")
	machines.Program(m, "svckit-probe")
	return stand{10000 + 3*int(ports.Add(1)), "/run/" + strings.TrimSuffix(unit, ".service")}
}

// command is the server's.
func (s stand) command() string { return fmt.Sprintf("/usr/bin/checkserver %d %s", s.port, s.dir) }

// directory is the line of the unit that makes the directory.
func (s stand) directory() string { return "RuntimeDirectory=" + filepath.Base(s.dir) }

// check fills a check's text in: PORT, the two ports after it, and DIR.
func (s stand) check(text string) string {
	return strings.NewReplacer("PORT1", fmt.Sprint(s.port+1), "PORT2", fmt.Sprint(s.port+2), "PORT", fmt.Sprint(s.port), "DIR", s.dir).Replace(text)
}

// kinds are checks of every kind that is probed, by what they say of a server
// that has gone ill.
var kinds = map[string]string{
	"http://127.0.0.1:PORT/,body=ok":          "connection refused",
	"http://localhost:PORT/,owned":            "connection refused",
	"http+unix:DIR/app.sock:/,owned":          "",
	"https://127.0.0.1:PORT1/,insecure":       "connection refused",
	"https://localhost:PORT1/,insecure,owned": "nothing listens there",
	"tcp:127.0.0.1:PORT":                      "connection refused",
	"tcp:127.0.0.1:PORT,owned":                "connection refused",
	"listen:PORT":                             "nothing listens there",
	"listen:127.0.0.1:PORT":                   "nothing listens there",
	"unix:DIR/app.sock":                       "",
	"unix:DIR/app.sock,owned":                 "",
	"grpc:127.0.0.1:PORT2":                    "connection refused",
	"grpc:localhost:PORT2/any.Service":        "connection refused",
	"exec:/usr/bin/test -e DIR/alive":         "exit status 1",
	"file:DIR/alive":                          "no such file or directory",
	"file:DIR/alive,max-age=1min":             "no such file or directory",
}

// A service in a sandbox is ready by each kind of check, alive by it, and
// unhealthy by it.
func TestEveryKindOfCheckWorksInASandbox(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		for text, ill := range kinds {
			t.Run(text, func(t *testing.T) {
				t.Parallel()
				unit := m.UnitName()
				s := newStand(t, m, unit)
				check := s.check(text)
				m.InstallUnit(unit, service(append(sandbox, "WatchdogSec=5", s.directory(), fmt.Sprintf(
					`ExecStart=/usr/bin/svcrun --start-timeout=20s "--ready=%s" "--live=%s,interval=1s,timeout=1s,failures=2" -- %s`,
					check, check, s.command()))...))
				if got := m.Try("systemctl", "start", unit); got.Code != 0 {
					t.Fatalf("it does not start:\n%s", strings.Join(m.Journal(unit, 30), "\n"))
				}
				m.WaitUntil(unit, func(p lab.Properties) bool { return strings.Contains(p["StatusText"], "live 1/1") }, "StatusText")
				m.Run("systemctl", "kill", "--kill-who=main", "--signal=USR1", unit)
				m.WaitFor(unit, "ActiveState=failed")
				if got := m.Show(unit, "Result", "ExecMainStatus"); got["ExecMainStatus"] != "69" {
					t.Errorf("Result=%s ExecMainStatus=%s; want exit-code, 69 (unhealthy)", got["Result"], got["ExecMainStatus"])
				}
				journalHas(t, m, unit, "svcrun: end cause=unhealthy")
				journalHas(t, m, unit, ill)
			})
		}
	})
}

func TestMemoryIsCheckedOrRefusedWithTheReason(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		start := func(size string) string {
			return service(append(sandbox, "MemoryAccounting=yes", "ExecStart=/usr/bin/svcrun --start-timeout=3s --ready=memory:"+size+" -- /bin/sleep 86400")...)
		}
		counted := m.Try("test", "-e", "/sys/fs/cgroup/system.slice/memory.current").Code == 0
		m.InstallUnit(unit, start("100G"))
		if got := m.Try("systemctl", "start", unit).Code == 0; got != counted {
			t.Errorf("started is %v, and memory is counted: %v", got, counted)
		}
		if !counted {
			journalHas(t, m, unit, "there is no memory controller")
			if pids := m.Pids(unit); len(pids) > 0 {
				t.Errorf("processes %v were started", pids)
			}
			return
		}
		small := m.UnitName()
		m.InstallUnit(small, start("1M"))
		if m.Try("systemctl", "start", small).Code == 0 {
			t.Error("svcrun and sleep are said to take less than 1M")
		}
		journalHas(t, m, small, "used, and it is to be below 1M")
	})
}

// A port that another unit holds is told as what it is, as far as the sandbox
// lets its holder be seen.
func TestStrangerOnThePortIsNamed(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		other := m.UnitName()
		s := newStand(t, m, other)
		m.InstallUnit(other, "[Service]\nDynamicUser=yes\n"+s.directory()+"\nExecStart="+s.command()+"\n")
		m.Run("systemctl", "start", other)
		m.Run("curl", "-sS", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", s.check("http://127.0.0.1:PORT/"))
		pid := m.Show(other, "MainPID")["MainPID"]
		for text, want := range map[string][2]string{ // as root, and in a sandbox
			"tcp:127.0.0.1:PORT,owned":       {"the port is held by process " + pid + " (checkserver), not by this service", "the port is held by a process of uid "},
			"http://localhost:PORT/,owned":   {"the port is held by process " + pid + " (checkserver), not by this service", "the port is held by a process of uid "},
			"https://127.0.0.1:PORT1/,owned": {"the port is held by process " + pid + " (checkserver), not by this service", "the port is held by a process of uid "},
			"listen:PORT":                    {"the port is held by process " + pid + " (checkserver), not by this service", "the port is held by a process of uid "},
		} {
			for i, rules := range [][]string{nil, sandbox} {
				t.Run(fmt.Sprint(text, i), func(t *testing.T) {
					t.Parallel()
					unit := m.UnitName()
					m.InstallUnit(unit, service(append(rules, `ExecStart=/usr/bin/svcrun --start-timeout=1s "--ready=`+s.check(text)+`" -- /bin/sleep 86400`)...))
					if m.Try("systemctl", "start", unit).Code == 0 {
						t.Error("it is ready by a stranger's port")
					}
					if got := m.Show(unit, "ExecMainStatus")["ExecMainStatus"]; got != "70" {
						t.Errorf("ExecMainStatus=%s; want 70", got)
					}
					journalHas(t, m, unit, want[i])
				})
			}
		}
	})
}

// A service that becomes another user can be seen into with CAP_SYS_PTRACE
// only (proc_pid_fd(5)).
func TestProcessesThatCannotBeSeenIntoAreNotAttributed(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		const blind = "CapabilityBoundingSet=~CAP_SYS_PTRACE"
		for rule, want := range map[string]string{
			"":                      "",
			"ProtectProc=invisible": "",
			blind:                   "cannot attribute: the descriptors of the service's process ",
			"User=daemon\nAmbientCapabilities=CAP_SETUID CAP_SETGID\nProtectProc=invisible": "cannot attribute: the port is held by a process of uid 65534, which cannot be seen",
		} {
			unit := m.UnitName()
			s := newStand(t, m, unit)
			m.InstallUnit(unit, service(rule, "PrivateTmp=yes", s.directory(), "RuntimeDirectoryMode=0777", fmt.Sprintf(
				"ExecStart=/usr/bin/svcrun --start-timeout=3s --ready=listen:%d -- /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups %s", s.port, s.command())))
			started := m.Try("systemctl", "start", unit).Code == 0
			if started != (want == "") {
				t.Errorf("%q: started is %v:\n%s", rule, started, strings.Join(m.Journal(unit, 20), "\n"))
			}
			if want != "" {
				journalHas(t, m, unit, want)
			}
		}
	})
}

func TestHTTPSWithoutItsHelperIsRefusedBeforeTheStart(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		unit := m.UnitName()
		m.Install(filepath.Join(labtest.Programs(t), "svcrun"), "/opt/lonely/svcrun", 0o755)
		m.InstallUnit(unit, service(append(sandbox, "ExecStart=/opt/lonely/svcrun --live=https://127.0.0.1:1/ -- /bin/sleep 86400")...))
		if m.Try("systemctl", "start", unit).Code == 0 {
			t.Error("it starts")
		}
		journalHas(t, m, unit, "/opt/lonely/svckit-probe: no such file or directory")
	})
}
