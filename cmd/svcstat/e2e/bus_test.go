//go:build linux

package e2e

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// busUnit is a service of which the manager alone is asked.
type busUnit struct {
	name, text string
	drive      func(driver) error
	truth      string        // its last run, as in truth.txt
	says       string        // in a sentence of svcstat why
	up         time.Duration // how long its run was on
}

const (
	sleeps = "ExecStart=/bin/sleep 1000\n"
	// preFails never gets as far as its main process.
	preFails = "ExecStartPre=/bin/sh -c 'sleep 0.5; exit 4'\n" + sleeps + "Restart=on-failure\n"
)

var busUnits = []busUnit{
	{
		name: "pre-limit", text: preFails + "RestartSec=2\n[Unit]\nStartLimitBurst=1\nStartLimitIntervalSec=1h\n", drive: untilLimit("1"),
		truth: "unknown never exit-code code=4 command=ExecStartPre", says: "Its ExecStartPre= exited with code 4.", up: 500 * time.Millisecond,
	}, {
		name: "pre-waits", text: preFails + "RestartSec=1000\n",
		drive: func(d driver) error { return errors.Join(d.systemctl("start"), d.await("SubState=auto-restart")) },
		truth: "unknown never exit-code code=4 command=ExecStartPre", says: "was never ready and ended at ", up: 500 * time.Millisecond,
	}, {
		name: "again", text: "ExecStart=/bin/sh -c 'mkdir /run/again && exit 3; exec sleep 1000'\nRestart=on-failure\nRestartSec=2\n",
		drive: func(d driver) error {
			return errors.Join(d.systemctl("start"), d.await("NRestarts=1", "SubState=running"))
		},
		truth: "unknown ready running", says: "after an automatic restart.",
	}, {
		name: "reload-fails", text: sleeps + "ExecReload=-/bin/sh -c 'exit 5'\nExecReload=/bin/sh -c 'exit 4'\n", drive: failReload,
		truth: "unknown ready running", says: ", as ExecReload= exited with code 4: it runs on, as a rule with what it had before.",
	}, {
		name: "reload-hangs", text: sleeps + "ExecReload=/bin/sleep 1000\nTimeoutStartSec=1\n",
		drive: func(d driver) error {
			return errors.Join(d.systemctl("start"), d.systemctl("reload"), d.await("ReloadResult=timeout", "SubState=running"))
		},
		truth: "unknown ready running", says: "as it took too long: it runs on, and whether it has what is new is not known.",
	}, {
		name: "starts", text: "Type=notify\nExecStart=/bin/sh -c 'mkdir /run/starts && exit 3; exec sleep 1000'\nRestart=on-failure\nRestartSec=2\nTimeoutStartSec=1000\n",
		drive: func(d driver) error {
			return errors.Join(d.systemctl("start", "--no-block"), d.await("NRestarts=1", "SubState=start"))
		},
		truth: "unknown never running", says: "It is given until ",
	}, {
		name: "stops", text: "ExecStart=/bin/sh -c 'trap \"\" TERM; touch /run/deaf; while :; do sleep 1; done'\n" +
			"ExecStartPost=/bin/sh -c 'until [ -e /run/deaf ]; do sleep 0.1; done'\nTimeoutStopSec=1000\n",
		drive: func(d driver) error {
			return errors.Join(d.systemctl("start"), d.systemctl("stop", "--no-block"), d.await("SubState=stop-sigterm"))
		},
		truth: "unknown ready running", says: "What is left of it is killed at ",
	},
}

// TestTheManagerAloneTellsOfTheLastRun: with no journal to read, and no svcrun.
func TestTheManagerAloneTellsOfTheLastRun(t *testing.T) {
	programs := labtest.Programs(t)
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := labtest.Boot(t, suite)
			m.Install(filepath.Join(programs, "svcstat"), svcstat, 0o755)
			m.Write("/run/systemd/system/holds.service", "[Service]\nExecStart=/bin/sleep 1000\n", 0o644)
			var endings []ending
			for _, u := range busUnits {
				m.Write("/run/systemd/system/"+u.name+".service", "[Service]\n"+u.text, 0o644)
				endings = append(endings, ending{u.name + ".service", u.drive})
			}
			m.Run("systemctl", "daemon-reload")
			if err := endAll(t.Context(), m.Machine, endings); err != nil {
				t.Fatal(err)
			}
			for _, u := range busUnits {
				u.check(t, m)
			}
		})
	}
}

func (u busUnit) check(t *testing.T, m *labtest.Machine) {
	t.Helper()
	withoutJournal := func(verb string) string { return m.Run("env", "PATH=/nowhere", svcstat, verb, u.name, "--json") }
	runs, told := decodeHistory(t, withoutJournal("history")).Runs, decodeWhy(t, withoutJournal("why"))
	if len(runs) != 1 || !agree(u.truth, runs[0]) || runs[0].Started == nil {
		t.Errorf("%s: told %q, want %q, and when it began", u.name, inWords(runs), u.truth)
		return
	}
	if said := strings.Join(told.Sentences, "\n"); !strings.Contains(said, u.says) {
		t.Errorf("%s: why does not say %q:\n%s", u.name, u.says, said)
	}
	const slack = time.Second // for a busy machine, and less than any hold-off
	r := runs[0]
	if r.Ready != nil && r.Ready.Sub(*r.Started) > slack {
		t.Errorf("%s: started %v and ready %v; the hold-off before it is no part of it", u.name, r.Started, r.Ready)
	}
	if r.Running {
		return
	}
	if up := time.Duration(*r.UpUsec) * time.Microsecond; up < u.up || up > u.up+slack {
		t.Errorf("%s: it was on for %v, want %v", u.name, up, u.up)
	}
}

// TestARestartThatItsDependencyPreventedIsTold: from 254 on the manager shows the
// service as waiting for its restart, for ever.
func TestARestartThatItsDependencyPreventedIsTold(t *testing.T) {
	programs := labtest.Programs(t)
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := labtest.Boot(t, suite)
			m.Install(filepath.Join(programs, "svcstat"), svcstat, 0o755)
			m.Write("/run/systemd/system/needed.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/mkdir /run/needed\n", 0o644)
			m.InstallUnit("needs.service", "[Unit]\nRequires=needed.service\nAfter=needed.service\n"+
				"[Service]\nExecStart=/bin/sh -c 'until [ -e /run/go ]; do sleep 0.1; done; exit 3'\nRestart=on-failure\nRestartSec=1\n")
			m.Run("systemctl", "start", "needs.service")
			m.Run("systemctl", "stop", "--job-mode=ignore-dependencies", "needed.service")
			m.Write("/run/go", "", 0o644)
			m.WaitFor("needed.service", "ActiveState=failed")
			want := "stranded dependency +read-log +list-failed +start"
			if m.Version() < 254 {
				want = "down dependency +read-log +list-failed +start"
			}
			// What is queued for less than a second may be about to begin.
			m.Run("timeout", "60", "sh", "-c", "while "+svcstat+" why needs | grep -q 'The restart comes'; do sleep 0.2; done")
			if told := decodeWhy(t, m.Run(svcstat, "why", "needs", "--json")); told.String() != want {
				t.Errorf("why says %q, want %q\n%s", told, want, strings.Join(told.Sentences, "\n"))
			}
		})
	}
}
