package manager

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/internal/manager/machine"
	"github.com/svckit/svckit/internal/manager/plan"
)

func TestTheMainProcessFindsItsManager(t *testing.T) {
	s := serviceOf("web.service")
	s.Watchdog = 28 * time.Second
	s.Surroundings = plan.Surroundings{
		Env:     []string{"A=unit", "B=unit", "C=unit"},
		Dirs:    []plan.Dir{{Path: "/s/a", Variable: "STATE_DIRECTORY"}, {Path: "/r", Variable: "RUNTIME_DIRECTORY"}, {Path: "/s/b", Variable: "STATE_DIRECTORY"}},
		Sockets: []plan.Socket{{Name: "web.socket"}, {Name: "admin"}},
	}
	got := environment(start{
		role: machine.Main, service: &s, who: identity{name: "app", home: "/srv", shell: "/bin/sh", login: true}, path: "/bin",
		invocation: "17", notify: "/n", special: []string{"MONITOR_UNIT=x"}, files: []string{"B=file", "C=file"},
		given: []string{"C=given"}, creds: "/c", runtimeDir: "/run/user/1",
	})
	want := []string{
		"PATH=/bin", "LANG=C.UTF-8", "XDG_RUNTIME_DIR=/run/user/1", "MONITOR_UNIT=x",
		"USER=app", "LOGNAME=app", "HOME=/srv", "SHELL=/bin/sh", "INVOCATION_ID=17", "SYSTEMD_EXEC_PID=0",
		"STATE_DIRECTORY=/s/a:/s/b", "RUNTIME_DIRECTORY=/r", "CREDENTIALS_DIRECTORY=/c",
		"NOTIFY_SOCKET=/n", "WATCHDOG_PID=0", "WATCHDOG_USEC=28000000",
		"LISTEN_PID=0", "LISTEN_FDS=2", "LISTEN_FDNAMES=web.socket:admin",
		"A=unit", "B=file", "C=given",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestACommandBesideItKnowsTheMainProcessAndNotTheManager(t *testing.T) {
	s := serviceOf("web.service")
	s.Watchdog, s.Surroundings.Sockets = time.Second, []plan.Socket{{Name: "x"}}
	got := environment(start{role: machine.Control, service: &s, mainPID: 7, notify: "/n"})
	if !slices.Contains(got, "MAINPID=7") {
		t.Errorf("%q has no MAINPID=7", got)
	}
	for _, entry := range got {
		for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_", "USER"} {
			if strings.HasPrefix(entry, name) {
				t.Errorf("%s is there", entry)
			}
		}
	}
}
