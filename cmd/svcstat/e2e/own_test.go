//go:build linux

package e2e

import (
	"errors"

	"github.com/svckit/svckit/internal/lab/labtest"
)

const svcrun = "/usr/bin/svcrun"

// ownUnit is a unit under svcrun.
type ownUnit struct {
	name  string
	flags string // of svcrun, and the service
	lines string // more of the unit
	drive func(driver) error

	// truth is what happened, in the words of truth.txt but for how a run began;
	// a value of * may be any. why is what svcstat why has to say of it, and says
	// of its sentences where they are others than such an end usually has.
	truth     []string
	why, says string

	// What is told without the journal, and what by the records alone, where that
	// is less: svcrun did not live to see it, or cannot know it. Empty is as before.
	gone, alone []string
	whyGone     string
	saysGone    string // in a sentence of it
}

// Services for the command line of svcrun. However busy the machine, they end
// only when the manager knows that they are ready, and are ready only when they
// heed no SIGTERM.
const (
	endsBy = "--ready=exec:/bin/true -- /bin/sh -c 'until systemctl -q is-active %n; do sleep 0.1; done; "
	stays  = "--ready=exec:/bin/true -- /bin/sleep 1000"
	deaf   = `--ready=file:%t/svckit/%N/deaf -- /bin/sh -c 'trap "" TERM; : >%t/svckit/%N/deaf; while :; do sleep 0.1; done'`
)

var ownUnits = []ownUnit{
	{
		name: "own-clean", flags: endsBy + "exit 0'", drive: byItself,
		truth: []string{"ready clean (code=0)"}, why: "down restart-setting +start",
	}, {
		name: "own-code", flags: endsBy + "exit 3'", drive: byItself,
		truth: []string{"ready exit-code code=3"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-signal", flags: endsBy + "kill -KILL $$$$'", drive: byItself,
		truth: []string{"ready signal signal=KILL"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-clean-signal", flags: endsBy + "kill -HUP $$$$; exit 99'", drive: byItself,
		truth: []string{"ready clean (signal=HUP)"}, why: "down restart-setting +start",
	}, {
		name: "own-core", flags: endsBy + "kill -SEGV $$$$'", lines: "LimitCORE=infinity\nRuntimeDirectory=cores/%N\nWorkingDirectory=%t/cores/%N\n", drive: byItself,
		truth: []string{"ready core-dump signal=SEGV core"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-watchdog", flags: "--live=exec:/bin/true,interval=100ms,failures=100 " + stays, lines: "WatchdogSec=3\nLimitCORE=0\n", drive: freeze,
		truth: []string{"ready watchdog signal=ABRT (limit=3s) stop=*"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-abort", flags: "--live=exec:/bin/false,interval=100ms,failures=2 --on-unhealthy=abort " + stays, lines: "WatchdogSec=60\nLimitCORE=0\n", drive: byItself,
		truth: []string{"ready watchdog signal=ABRT (limit=*) check=exec:false after=2 last=* stop=*"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-unhealthy", flags: "--live=exec:/bin/false,interval=100ms,failures=2 " + stays, drive: byItself,
		truth: []string{"ready unhealthy code=69 check=exec:false after=2 last=* stop=*"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-late", flags: "--ready=file:/nonexistent --start-timeout=1s -- /bin/sleep 1000", drive: byItself,
		truth: []string{"never start-timeout code=70 check=file:/nonexistent last=* stop=*"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-deaf", flags: "--stop=TERM@300ms " + deaf, drive: driver.stopRunning,
		truth: []string{"ready stop-timeout signal=KILL stop=*"}, why: "failed stop-requested +read-log +start",
	}, {
		name: "own-protocol", flags: "--ready=file:/nonexistent -- /bin/true", drive: byItself,
		truth: []string{"never protocol (code=0)"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-exec", flags: "--ready=exec:/bin/true -- /nonexistent/program", drive: byItself,
		truth: []string{"never exec code=203"}, why: "failed restart-setting +read-log +start",
	}, {
		name: "own-limit", flags: endsBy + "exit 3'",
		lines: "Restart=on-failure\nRestartSec=200ms\n[Unit]\nStartLimitBurst=2\nStartLimitIntervalSec=1h\n", drive: untilLimit("2"),
		truth: []string{"ready exit-code code=3", "ready exit-code code=3", "refused start-limit"},
		why:   "failed start-limit +read-log +reset-failed +start",
		gone:  []string{"ready exit-code code=3", "ready exit-code code=3"}, // nothing ran that could write of the third

		whyGone:  "failed unknown +read-log +reset-failed +start",
		saysGone: "It may have been a stop that was asked for, or the start limit; the journal, which would tell, has no line of it.",
	}, {
		name: "own-stop", flags: stays, drive: driver.stopRunning,
		truth: []string{"ready stop-requested (signal=TERM) stop=*"}, why: "down stop-requested +start",
	}, {
		name: "own-stop-starting", flags: "--ready=file:/nonexistent -- /bin/sleep 1000", drive: stopStarting,
		truth: []string{"never stop-requested (signal=TERM) (check=file:/nonexistent) (last=*) stop=*"}, why: "down stop-requested +start",
	}, {
		name: "own-restart", flags: stays, drive: restartRunning,
		truth: []string{"ready stop-requested (signal=TERM) stop=*", "ready stop-requested (signal=TERM) stop=*"}, why: "down stop-requested +start",
	}, {
		name: "own-hold-off", flags: endsBy + "exit 3'", lines: "Restart=on-failure\nRestartSec=1000\n", drive: restartInHoldOff,
		truth: []string{"ready exit-code code=3", "ready exit-code code=3"}, why: "down stop-in-hold-off +read-log +start",
		whyGone: "down not-started-since +read-log +start", // the manager has forgotten the unit
	}, {
		name: "own-bound", flags: stays, lines: "[Unit]\nBindsTo=own-bound-to.service\nAfter=own-bound-to.service\n",
		drive: stopWhatItNeeds("own-bound-to.service"),
		truth: []string{"ready stop-requested (signal=TERM) stop=*"}, why: "down stop-requested +start",
	}, {
		name: "own-bound-to", flags: stays, drive: byAnother,
		truth: []string{"ready stop-requested (signal=TERM) stop=*"}, why: "down stop-requested +start",
	}, {
		name: "own-reload", flags: "--reload-exec=/bin/false " + stays, lines: "ExecReload=" + svcrun + " reload --runtime-dir=%t/svckit/%N\n", drive: failReload,
		truth: []string{"ready running"}, why: "up +reload", says: "the last reload failed: /bin/false exited 1", saysGone: ": it runs on, as a rule with what it had before.",
		alone: []string{"ready"},
	}, {
		// Somebody's kill(1) asks svcrun for a stop, and not systemd.
		name: "own-terminated", flags: stays, lines: "Restart=on-failure\n", drive: signalSvcrun("TERM"),
		truth: []string{"ready stop-requested (signal=TERM) stop=*"}, why: "down restart-setting +start",
		says:    "A signal asked svcrun for a stop, as kill(1) sends it; nobody had asked systemd for one.",
		whyGone: "down stop-requested +start",
	}, {
		// svcrun itself is killed, and so cannot write down how its run ended; the
		// start after that closes the record.
		name: "own-killed", flags: stays,
		drive: func(d driver) error { return errors.Join(signalSvcrun("KILL")(d), d.stopRunning()) },
		truth: []string{"ready signal signal=KILL", "ready stop-requested (signal=TERM) stop=*"}, why: "down stop-requested +start",
		gone: []string{"ready unknown closed-by=next-start", "ready stop-requested (signal=TERM) stop=*"},
	}, {
		// systemd's patience is shorter than the stop that svcrun is to make.
		name: "own-overrun", flags: "--stop=TERM@60s " + deaf, lines: "TimeoutStopSec=1\n",
		drive: func(d driver) error { return errors.Join(d.stopRunning(), d.stopRunning()) },
		truth: []string{"ready stop-timeout signal=KILL", "ready stop-timeout signal=KILL"}, why: "failed stop-requested +read-log +start",
		gone:    []string{"ready unknown closed-by=next-start", "ready unknown signal=KILL result=timeout"},
		alone:   []string{"ready unknown closed-by=next-start", "ready"},
		whyGone: "failed restart-setting +read-log +start",
	},
}

// text is the unit.
func (u ownUnit) text() string {
	return "[Service]\nType=notify\nKillMode=mixed\nStateDirectory=svckit/%N\nRuntimeDirectory=svckit/%N\nExecStart=" + svcrun +
		" --state-dir=%S/svckit/%N --runtime-dir=%t/svckit/%N " + u.flags + "\n" + u.lines
}

// installOwnUnits writes the units under svcrun, and the one that endAll starts
// first.
func installOwnUnits(m *labtest.Machine) (endings []ending, names []string) {
	m.Write("/run/systemd/system/holds.service", "[Service]\nExecStart=/bin/sleep 1000\n", 0o644)
	for _, u := range ownUnits {
		m.Write("/run/systemd/system/"+u.name+".service", u.text(), 0o644)
		endings, names = append(endings, ending{u.name + ".service", u.drive}), append(names, u.name+".service")
	}
	m.Run("systemctl", "daemon-reload")
	return endings, names
}

// byAnother is how a unit ends that another one's driver sees to.
func byAnother(driver) error { return nil }

// signalSvcrun sends a signal to svcrun itself, of which it ends.
func signalSvcrun(signal string) func(driver) error {
	return func(d driver) error {
		return errors.Join(d.systemctl("start"), d.systemctl("kill", "--kill-whom=main", "--signal="+signal), d.down())
	}
}

// freeze stops svcrun itself, so that no heartbeat comes.
func freeze(d driver) error { return signalSvcrun("STOP")(d) }

func restartRunning(d driver) error {
	return errors.Join(d.systemctl("start"), d.systemctl("restart"), d.systemctl("stop"), d.down())
}

func restartInHoldOff(d driver) error {
	return errors.Join(d.systemctl("start"), d.await("SubState=auto-restart"), d.systemctl("restart"),
		d.await("SubState=auto-restart"), d.systemctl("stop"), d.down())
}

// stopStarting stops a service that is not ready yet, once svcrun asks for time.
func stopStarting(d driver) error {
	return errors.Join(d.systemctl("start", "--no-block"), d.awaitStatus("waiting for file:/nonexistent"), d.systemctl("stop"), d.down())
}

// stopWhatItNeeds stops another unit, which the unit is bound to.
func stopWhatItNeeds(other string) func(driver) error {
	return func(d driver) error {
		return errors.Join(d.systemctl("start"), driver{d.ctx, d.m, other}.systemctl("stop"), d.down())
	}
}

// failReload reloads a service whose reload fails.
func failReload(d driver) error {
	return errors.Join(d.systemctl("start"), d.systemctl("reload"), d.await("ReloadResult=exit-code", "SubState=running"))
}

// withoutJournal is what is told when the journal is gone.
func (u ownUnit) withoutJournal() []string {
	if u.gone != nil {
		return u.gone
	}
	return u.truth
}

// byRecords is what is told by the records alone.
func (u ownUnit) byRecords() []string {
	if u.alone != nil {
		return u.alone
	}
	return u.withoutJournal()
}
