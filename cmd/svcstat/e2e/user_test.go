//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// asUser begins a command of the test's user, who has a manager of their own.
var asUser = []string{"setpriv", "--reuid=jo", "--regid=jo", "--init-groups", "env", "XDG_RUNTIME_DIR=/run/user/1500", "HOME=/home/jo"}

// userUnits are units of a user's manager, with what happens to them. Of a last
// run that ended well no record is left (since 249): it may have been stopped.
var userUnits = []struct {
	name, unit string
	truth      []string
	why        string
}{
	{"own-limit", "[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=1h\n[Service]\nExecStart=/bin/sh -c 'sleep 0.3; exit 3'\nRestart=on-failure\nRestartSec=100ms\n",
		[]string{"unknown ready exit-code code=3", "automatic/1 ready exit-code code=3", "automatic/2 refused start-limit"},
		"failed start-limit +read-log +reset-failed +start"},
	{"own-stop", "[Service]\nExecStart=/bin/sleep 1000\n", []string{"unknown ready stop-requested"}, "down stop-requested +start"},
	{"own-again", "[Service]\nExecStart=/bin/sh -c 'until [ -e /run/user/1500/again ]; do sleep 0.1; done'\nRestart=always\nRestartSec=100ms\nExecStartPre=/bin/sh -c 'test ! -e /run/user/1500/again || exec sleep 1000'\nTimeoutStartSec=1000\n",
		[]string{"unknown ready clean", "automatic/1 never stop-requested signal=TERM command=ExecStartPre"}, "failed stop-requested +start"},
}

func TestUsersManagersAreToldOfAsWell(t *testing.T) {
	labtest.EachAlone(t, []string{"svcstat"}, func(t *testing.T, m *labtest.Machine) {
		m.Run("useradd", "--create-home", "--uid=1500", "jo")
		for _, u := range userUnits {
			m.Write("/etc/systemd/user/"+u.name+".service", u.unit, 0o644)
		}
		m.Run("systemctl", "start", "user@1500.service")
		jo := func(argv ...string) string {
			t.Helper()
			return m.Run(append(asUser[:len(asUser):len(asUser)], argv...)...)
		}
		await := func(unit, property, want string) {
			t.Helper()
			m.WaitShell(strings.Join(asUser, " ") + " systemctl --user show -P " + property + " " + unit + " | grep -qx " + want)
		}
		jo("systemctl", "--user", "start", "own-limit", "own-stop", "own-again")
		jo("touch", "/run/user/1500/again")
		jo("systemctl", "--user", "stop", "own-stop")
		await("own-again", "SubState", "start-pre")
		jo("systemctl", "--user", "stop", "own-again")
		await("own-limit", "ActiveState", "failed")
		m.Write("/run/forged", "MESSAGE_ID=98e322203f7a4ed290d09fe03c09fe15\nMESSAGE=forged\nUSER_UNIT=own-stop.service\n"+
			"USER_INVOCATION_ID=00000000000000000000000000000001\nEXIT_CODE=killed\nEXIT_STATUS=9\nCOMMAND=ExecStart\n", 0o644)
		m.Run("logger", "--journald=/run/forged")
		m.Run("journalctl", "--sync")
		m.Run("usermod", "--append", "--groups", "systemd-journal", "jo") // the journal is not split by users here
		for _, u := range userUnits {
			checkUserUnit(t, u.name, u.truth, decodeHistory(t, jo(svcstat, "history", "--user", "--json", u.name)).Runs)
			if got := decodeWhy(t, jo(svcstat, "why", "--user", "--json", u.name)).String(); got != u.why {
				t.Errorf("%s: why says %q, want %q", u.name, got, u.why)
			}
		}
		if got := jo(svcstat, "list", "--user", "--failed"); !strings.Contains(got, "own-limit.service") {
			t.Errorf("list --user --failed:\n%s", got)
		}
		if got := jo(svcstat, "why", "--user", "own-limit"); !strings.Contains(got, "systemctl --user reset-failed own-limit.service") {
			t.Errorf("why --user:\n%s", got)
		}
		if got := jo(svcstat, "forget", "--user", "own-limit"); !strings.Contains(got, "that the unit has failed") {
			t.Errorf("forget --user: %s", got)
		}
	})
}

func checkUserUnit(t *testing.T, name string, truth []string, runs []run) {
	t.Helper()
	ok := len(runs) == len(truth)
	var told []string
	for i, r := range runs {
		told = append(told, strings.Join(r.words(), " "))
		ok = ok && agree(truth[i], r)
	}
	if !ok {
		t.Errorf("%s: happened:\n%s\ntold:\n%s", name, strings.Join(truth, "\n"), strings.Join(told, "\n"))
	}
}
