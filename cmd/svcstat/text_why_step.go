package main

import (
	"strings"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/journal"
	"github.com/svckit/svckit/history/why"
)

// advice are the commands to type, with what each is for: behind it, or where
// that is too wide for so many columns, below it. No command is broken.
func (x explained) advice(columns int) string {
	if len(x.Steps) == 0 {
		return ""
	}
	var beside, below table
	for _, step := range x.Steps {
		command, purpose := x.step(step)
		beside.add(cell{"  " + command, plain}, cell{purpose, plain})
		below.add(cell{"  " + command, plain})
		below.below("      " + purpose)
	}
	if columns > 0 && beside.width() > columns {
		return "\n" + below.text(false, 0)
	}
	return "\n" + beside.text(false, 0)
}

// step is a command for a shell, and what it is for.
func (x explained) step(step why.Step) (command, purpose string) {
	systemctl := "systemctl " + x.of.flag()
	switch step {
	case why.ReadLog:
		return x.logCommand()
	case why.DaemonReload:
		return systemctl + "daemon-reload", "the unit's files have changed since systemd read them"
	case why.ResetFailed:
		return systemctl + "reset-failed " + shellWord(x.unit), "empties the start limit's window"
	case why.ForgetSvcrun:
		return "svcstat forget " + x.of.flag() + shellWord(x.unit), "forgets the failures for which svcrun holds starts back"
	case why.Start:
		return systemctl + "start " + shellWord(x.unit), "starts it now"
	case why.ReloadAgain:
		return systemctl + "reload " + shellWord(x.unit), "reloads it once more, when what it reads is mended"
	case why.RestartNow:
		return systemctl + "restart " + shellWord(x.unit), "starts it now; a start would wait for the end of the hold-off"
	case why.ListFailed:
		return systemctl + "list-dependencies " + shellWord(x.unit), "shows which of the units that it needs has failed"
	case why.ListJobs:
		return systemctl + "list-jobs --after", "shows what the job waits for"
	case why.ReadStatus:
		return systemctl + "status " + shellWord(x.unit), "shows what is wrong with the file"
	case why.Unmask:
		return systemctl + "unmask " + shellWord(x.unit), "lets it be started again"
	case why.ReadCondition:
		return systemctl + "show -p Conditions -p Asserts " + shellWord(x.unit), "shows what has to be met"
	}
	return "", ""
}

// logCommand shows what the run that failed first has said.
func (x explained) logCommand() (command, purpose string) {
	run, purpose := x.Ended(), "what that run has said, and systemd of it"
	if x.First != nil {
		run, purpose = x.First, "what the first of the failures said; the later ones may follow from it"
	}
	if strings.Trim(run.InvocationID, "0123456789abcdef") != "" || run.InvocationID == "" { // a record may hold anything
		return "journalctl " + x.of.flag() + "-e -u " + shellWord(x.unit), purpose
	}
	if x.sharedIDs {
		return x.spanCommand(*run), purpose
	}
	about := " + INVOCATION_ID="
	if x.of.user {
		about = " + USER_INVOCATION_ID="
	}
	return "journalctl _SYSTEMD_INVOCATION_ID=" + run.InvocationID + about + run.InvocationID, purpose
}

// spanCommand shows what the journal has of a unit in the time of one run, up to the
// end of the hold-off after it, for runs that share the ID of one.
func (x explained) spanCommand(run history.Run) string {
	own := x.lines()[run.Number-1]
	since, until := own.Since, own.Until
	if since.IsZero() && !run.Started.IsZero() {
		since = run.Started.Truncate(time.Second) // systemd may tell of the start after the first line
	}
	command := "journalctl " + x.of.flag() + "-u " + shellWord(x.unit)
	if !since.IsZero() {
		command += " --since=" + journal.Epoch(since)
	}
	if !until.IsZero() {
		command += " --until=" + journal.Epoch(until.Add(-time.Microsecond))
	}
	return command
}

// shellWord is the name of a unit for a shell, to which a backslash means
// something.
func shellWord(unit string) string {
	if strings.Contains(unit, `\`) {
		return "'" + unit + "'"
	}
	return unit
}
