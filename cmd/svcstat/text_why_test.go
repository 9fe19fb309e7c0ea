package main

import (
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/why"
)

func TestARunIsASentence(t *testing.T) {
	began, ready, ended := now.Add(-time.Hour), now.Add(-time.Hour+2*time.Second), now.Add(-time.Minute)
	for want, run := range map[string]history.Run{
		"This run began at 14:00:00 and was ready after 2.00s.":                                     {Started: began, Ready: ready, Running: true},
		"This run began at 14:00:00, on request, and was ready at once.":                            {Started: began, Ready: began, Running: true, Start: history.Requested},
		"This run began at 14:00:00, as automatic restart 3.":                                       {Started: began, Running: true, Start: history.Automatic, Restarts: 3},
		"This run began at 14:00:00, was ready after 2.00s and ended at 14:59:00, after 58min 58s.": {Started: began, Ready: ready, Ended: ended, Up: 58*time.Minute + 58*time.Second},
		"This run began at 14:00:00, was never ready and ended at 14:59:00.":                        {Started: began, Ended: ended, End: history.End{Cause: history.ExitCode}},
		"This run began at 14:00:00 and ended at 14:59:00.":                                         {Started: began, Ended: ended, End: history.End{Cause: history.Clean}},
		"This run has no begin on record and ended at 14:59:00.":                                    {Ended: ended, End: history.End{Cause: history.ExitCode}},
	} {
		x := explained{now: now, zone: time.UTC}
		got := strings.ReplaceAll(strings.ReplaceAll(x.runSentence("This run", run), "2026-01-31 ", ""), " (UTC)", "")
		if got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

func TestAReloadThatFailedIsASentence(t *testing.T) {
	for want, reload := range map[string]history.FailedReload{
		"Its last reload failed at 15:00:00, as ExecReload= exited with code 1: it runs on, as a rule with what it had before.": {
			Result: "exit-code", Ended: now, Exit: history.Exit{Kind: history.Exited, Status: 1},
		},
		"Its last reload failed (exit-code): it runs on, as a rule with what it had before.":                    {Result: "exit-code"},
		"Its last reload failed, as it took too long: it runs on, and whether it has what is new is not known.": {Result: "timeout"},
	} {
		x := explained{Answer: why.Answer{FailedReload: &reload}, now: now, zone: time.UTC}
		got := strings.ReplaceAll(strings.ReplaceAll(x.reloadSentence(), "2026-01-31 ", ""), " (UTC)", "")
		if got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// TestACommandIsNeverBroken: it is for copying. What it is for moves below it
// where the terminal is too narrow for both.
func TestACommandIsNeverBroken(t *testing.T) {
	x := explained{record: record{unit: "x.service"}, Answer: why.Answer{Steps: []why.Step{why.ResetFailed, why.Start}}}
	wide := `
  systemctl reset-failed x.service  empties the start limit's window
  systemctl start x.service         starts it now
`
	narrow := `
  systemctl reset-failed x.service
      empties the start limit's window
  systemctl start x.service
      starts it now
`
	for columns, want := range map[int]string{0: wide, 80: wide, 60: narrow, 10: narrow} {
		if got := x.advice(columns); got != want {
			t.Errorf("%d columns: %s\nwant%s", columns, got, want)
		}
	}
}

// TestTheLogOfARunIsShownByTimeWhereItsIDTellsNothing: in text and in the document.
func TestTheLogOfARunIsShownByTimeWhereItsIDTellsNothing(t *testing.T) {
	began := time.UnixMicro(1700000000_250000)
	runs := []history.Run{
		{Number: 1, InvocationID: "aa", Started: began, Restarted: began.Add(2 * time.Second), End: history.End{Cause: history.ExitCode}},
		{Number: 2, InvocationID: "bb", Started: began.Add(3 * time.Second), End: history.End{Cause: history.ExitCode}},
	}
	for name, test := range map[string]struct {
		record record
		want   [2]string
	}{
		"shared": {record{sharedIDs: true}, [2]string{
			"journalctl -u x.service --since=@1700000000.000000 --until=@1700000002.249999",
			"journalctl -u x.service --since=@1700000002.250000",
		}},
		"a user's": {record{sharedIDs: true, of: managed{user: true}}, [2]string{
			"journalctl --user -u x.service --since=@1700000000.000000 --until=@1700000002.249999",
			"journalctl --user -u x.service --since=@1700000002.250000",
		}},
		"its own": {record{}, [2]string{
			"journalctl _SYSTEMD_INVOCATION_ID=aa + INVOCATION_ID=aa", "journalctl _SYSTEMD_INVOCATION_ID=bb + INVOCATION_ID=bb",
		}},
	} {
		test.record.unit, test.record.runs = "x.service", runs
		for i, want := range test.want {
			x := explained{record: test.record, Answer: why.Answer{Last: &runs[i], Steps: []why.Step{why.ReadLog}}, now: now, zone: time.UTC}
			if got := x.document().Steps[0].Command; got != want || !strings.Contains(x.advice(0), "  "+want+"  ") {
				t.Errorf("%s, run %d: %s, want %s\n%s", name, i+1, got, want, x.advice(0))
			}
		}
	}
}
