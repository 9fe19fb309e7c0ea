package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// crashPolicy is a service that fails until its start limit is hit.
const crashPolicy = `name: crash@
exec: [/bin/sh, -c, "sleep 0.2; echo these are its last words; exit 3"]
restart: {base: 100ms, cap: 30s, give_up: {starts: 2, within: 10min}}
on_give_up: [svckit-alert@%N.service]
`

// escapedUnit is one without svckit, as 257 starts none whose RuntimeDirectory= has
// a backslash in it ("Failed to deserialize: Invalid argument").
const escapedUnit = `[Unit]
OnFailure=svckit-alert@%N.service
[Service]
ExecStart=/bin/sh -c "sleep 0.2; echo these are its last words; exit 3"
`

// recordHook takes down what a hook is given.
const recordHook = `#!/bin/sh
exec >"/run/alert.$MONITOR_UNIT"
env
cat
`

// hookTimeout is what a slow machine does not need to run a shell, and yet the
// test has to wait for it once, for the hook that hangs.
const hookTimeout = "20s"

// TestAlertTellsJournalAndHooks has instances fail for good whose names have to
// come through systemd's specifiers whole.
func TestAlertTellsJournalAndHooks(t *testing.T) {
	onEachSuite(t, func(t *testing.T, l life) {
		l.Install(filepath.Join(built(t, oldRelease), deb(oldVersion)), "/root/svckit.deb", 0o644)
		l.Run("dpkg", "--install", "/root/svckit.deb")
		l.Write("/etc/svckit/alert.d/10-fails", "#!/bin/sh\nexit 1\n", 0o755)
		l.Write("/etc/svckit/alert.d/20-hangs", "#!/bin/sh\nsleep 1000\n", 0o755)
		l.Write("/etc/svckit/alert.d/30-record", recordHook, 0o755)
		l.Write("/etc/svckit/units/crash@.yaml", crashPolicy, 0o644)
		l.Write("/etc/systemd/system/svckit-alert@.service.d/short.conf",
			"[Service]\nExecStart=\nExecStart=/usr/bin/svcstat alert --hooks=%E/svckit/alert.d --hook-timeout="+hookTimeout+" -- %i\n", 0o644)
		l.Write("/etc/systemd/system/escaped@.service", escapedUnit, 0o644)
		l.Run("systemctl", "daemon-reload")
		failing := map[string]string{ // each with why it stays down
			"crash@plain":    "No restart came: the start limit is hit",
			"crash@a-b":      "No restart came: the start limit is hit",
			`escaped@a\x2db`: "No restart came: Restart=no",
		}
		for name := range failing {
			l.Run("systemctl", "start", "--no-block", name+".service")
		}
		for name, why := range failing {
			l.checkAlert(name, why)
		}
	})
}

func (l life) checkAlert(name, why string) {
	l.t.Helper()
	unit, alert := name+".service", "svckit-alert@"+name+".service"
	l.WaitFor(unit, "ActiveState=failed")
	l.WaitFor(alert, "ActiveState=failed", "Result=exit-code") // as two hooks did not do well
	l.Run("journalctl", "--sync")
	entry := l.Run("journalctl", "--quiet", "--output=cat", "--priority=alert", "--unit="+unit, "SYSLOG_IDENTIFIER=svckit")
	told := l.Read("/run/alert." + unit)
	for what, text := range map[string]string{"the journal's entry": entry, "the hook's input": told} {
		for _, want := range []string{
			unit + " has failed since", "Its main process exited with code 3.", why, "systemctl start ",
			"Its last lines on record:\n", "  | these are its last words\n",
		} {
			if !strings.Contains(text, want) {
				l.t.Errorf("%s of %s lacks %q:\n%s", what, unit, want, text)
			}
		}
	}
	for _, variable := range []string{"MONITOR_EXIT_CODE=exited", "MONITOR_EXIT_STATUS=3", "MONITOR_INVOCATION_ID=", "MONITOR_SERVICE_RESULT="} {
		if !strings.Contains(told, variable) {
			l.t.Errorf("the environment of the hook for %s lacks %s:\n%s", unit, variable, told)
		}
	}
	hooks := strings.Join(l.Journal(alert, 50), "\n")
	if want := "hook 10-fails: exit status 1; hook 20-hangs: killed, as it had run for " + hookTimeout; !strings.Contains(hooks, want) {
		l.t.Errorf("of the hooks that failed it says not %q:\n%s", want, hooks)
	}
}
