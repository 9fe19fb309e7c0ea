//go:build linux

package e2e

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// busUnit is a service of which the manager alone is asked.
type busUnit struct {
	name, text string
	drive      func(driver) error
	truth      string // its last run, as in truth.txt
	says       string // in a sentence of svcstat why

	before, after time.Duration // the hold-off before that run, and after it
}

const (
	sleeps = "ExecStart=/bin/sleep 1000\n"
	// preFails never gets as far as its main process.
	preFails = "ExecStartPre=/bin/sh -c 'sleep 1; exit 4'\n" + sleeps + "Restart=on-failure\n"
)

var busUnits = []busUnit{
	{
		name: "pre-limit", text: preFails + "RestartSec=2\n[Unit]\nStartLimitBurst=1\nStartLimitIntervalSec=1h\n", drive: untilLimit("1"),
		truth: "unknown never exit-code code=4 command=ExecStartPre", says: "Its ExecStartPre= exited with code 4.", after: 2 * time.Second,
	}, {
		name: "pre-waits", text: preFails + "RestartSec=1000\n",
		drive: func(d driver) error { return errors.Join(d.systemctl("start"), d.await("SubState=auto-restart")) },
		truth: "unknown never exit-code code=4 command=ExecStartPre", says: "was never ready and ended at ",
	}, {
		name: "again", text: "ExecStart=/bin/sh -c 'mkdir /run/again && exit 3; exec sleep 1000'\nRestart=on-failure\nRestartSec=2\n",
		drive: func(d driver) error {
			return errors.Join(d.systemctl("start"), d.await("NRestarts=1", "SubState=running"))
		},
		truth: "unknown ready running", says: "after an automatic restart.", before: 2 * time.Second,
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
		truth: "unknown never running", says: "It is given until ", before: 2 * time.Second,
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
	labtest.EachAlone(t, []string{"svcstat"}, func(t *testing.T, m *labtest.Machine) {
		m.Write("/run/systemd/system/holds.service", "[Service]\nExecStart=/bin/sleep 1000\n", 0o644)
		var endings []ending
		times := make([]driven, len(busUnits))
		for i, u := range busUnits {
			m.Write("/run/systemd/system/"+u.name+".service", "[Service]\n"+u.text, 0o644)
			endings = append(endings, ending{u.name + ".service", func(d driver) error {
				times[i].began = time.Now()
				err := u.drive(d)
				times[i].took = time.Since(times[i].began)
				return err
			}})
		}
		m.Run("systemctl", "daemon-reload")
		if err := endAll(t.Context(), m.Machine, endings); err != nil {
			t.Fatal(err)
		}
		for i, u := range busUnits {
			u.check(t, m, times[i])
		}
	})
}

// driven is when a unit was driven to where it is. A hold-off takes no less than
// RestartSec= says, however busy the machine is.
type driven struct {
	began time.Time
	took  time.Duration
}

func (u busUnit) check(t *testing.T, m *labtest.Machine, on driven) {
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
	r := runs[0]
	if earliest := on.began.Add(u.before); r.Started.Before(earliest) {
		t.Errorf("%s: started %v, want %v at the earliest; the hold-off before it is no part of it", u.name, r.Started, earliest)
	}
	if r.Running {
		return
	}
	most := on.took - u.after/2 // the manager's timer may run before it notes the end
	if up := time.Duration(*r.UpUsec) * time.Microsecond; up <= 0 || up > most {
		t.Errorf("%s: it was on for %v, want more than nothing and %v at most; the hold-off after it is no part of it", u.name, up, most)
	}
}

// TestARestartThatItsDependencyPreventedIsTold: from 254 on the manager shows the
// service as waiting for its restart, for ever.
func TestARestartThatItsDependencyPreventedIsTold(t *testing.T) {
	labtest.EachAlone(t, []string{"svcstat"}, func(t *testing.T, m *labtest.Machine) {
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
		m.WaitShell("! " + svcstat + " why needs | grep -q 'The restart comes'")
		if told := decodeWhy(t, m.Run(svcstat, "why", "needs", "--json")); told.String() != want {
			t.Errorf("why says %q, want %q\n%s", told, want, strings.Join(told.Sentences, "\n"))
		}
		never := regexp.MustCompile(`(?m)^needs\.service .* never$`)
		if m.Version() >= 254 && !never.MatchString(m.Run(svcstat, "list", "--failed")) || m.Try(svcstat, "list", "--restarting", "needs").Stdout != "" {
			t.Errorf("list has it wait for a restart:\n%s", m.Run(svcstat, "list", "--all", "needs"))
		}
	})
}
