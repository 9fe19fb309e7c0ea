package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// recordOf is the closed record of a run that began so many seconds after the
// epoch, was ready a second later and lasted ten.
func recordOf(run int, invocation string, seconds int, end RecordEnd) Record {
	begun := epoch.Add(time.Duration(seconds) * time.Second)
	return Record{
		Schema: RecordSchema, Run: run, InvocationID: invocation, Begun: begun, Ready: begun.Add(time.Second),
		Ended: begun.Add(10 * time.Second), End: &end,
	}
}

func told(t *testing.T, story string, records ...Record) string {
	t.Helper()
	fold := NewFold(unit)
	if story != "" {
		fold = foldOf(t, story)
	}
	fold.AddRecords(records)
	var lines []string
	for _, r := range fold.Runs() {
		lines = append(lines, tell(r))
	}
	return strings.Join(lines, "\n")
}

func TestWhatTheJournalLacksIsFilledFromTheRecord(t *testing.T) {
	code := func(n int) *int { return &n }
	unhealthy := RecordEnd{Cause: Unhealthy, Code: code(0), Check: "tcp:1", After: 3, Last: "timeout"}
	for name, test := range map[string]struct {
		story string
		end   RecordEnd
		want  string
	}{
		"the journal is gone": {"", unhealthy, "A unknown unhealthy exited=69 check=tcp:1 after=3 last=timeout up=9s delay=0s"},
		"the manager sees a code": {
			"0s A starting\n1s A started\n10s A exit exited 69\n10s A failed exit-code", unhealthy,
			"A unknown unhealthy exited=69 check=tcp:1 after=3 last=timeout up=9s delay=0s",
		},
		"the manager saw another": {
			"0s A starting\n1s A started\n10s A exit exited 3\n10s A failed exit-code", unhealthy,
			"A unknown exit-code exited=3 up=9s delay=0s",
		},
		"the journal begins in the middle": {
			"10s A deactivated", RecordEnd{Cause: StopRequested, Code: code(0)}, "A unknown stop-requested up=9s delay=0s",
		},
		"only the end is hidden": {
			"0s A starting\n1s A started", RecordEnd{Cause: CoreDump, Signal: "SEGV", Core: true},
			"A unknown core-dump dumped=11 up=9s delay=0s",
		},
		"svcrun was killed": {
			"0s A starting\n1s A started\n5s A exit killed 9\n5s A failed signal", RecordEnd{Cause: Unknown, ClosedBy: NextStart},
			"A unknown signal killed=9 up=4s delay=0s",
		},
		"svcrun was killed, and the journal is gone": {
			"", RecordEnd{Cause: Unknown, ClosedBy: NextStart}, "A unknown unknown closed-by=next-start up=9s delay=0s",
		},
	} {
		if got := told(t, test.story, recordOf(1, "A", 0, test.end)); got != test.want {
			t.Errorf("%s: told\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// TestAStartThatFailedWasNeverReady: READY=1 went out, and then ExecStartPost=
// failed; the manager's word is that the unit never was up.
func TestAStartThatFailedWasNeverReady(t *testing.T) {
	fold := foldOf(t, "0s A starting\n10s A exit exited 1 ExecStartPost\n10s A start-failed failed\n10s A failed exit-code")
	fold.AddRecords([]Record{recordOf(1, "A", 0, RecordEnd{Cause: StopRequested})})
	if r := fold.Runs()[0]; !r.Ready.IsZero() || r.Cause != ExitCode {
		t.Errorf("%+v", r)
	}
}

func TestAnOpenRecordTellsNoEnd(t *testing.T) {
	open := recordOf(1, "A", 0, RecordEnd{})
	open.End, open.Ended = nil, time.Time{}
	if got := told(t, "", open); got != "A unknown - up=0s delay=0s" {
		t.Error(got)
	}
}

// TestRunsOfRecordsStandWhereTheyBelong: by their numbers, and by the clock only
// between runs that both sources know: it may have been set.
func TestRunsOfRecordsStandWhereTheyBelong(t *testing.T) {
	story := "100s C starting\n101s C started\n110s C failed exit-code\n120s E starting\n121s E started"
	end := RecordEnd{Cause: Clean}
	got := told(t, story,
		recordOf(1, "A", 0, end), recordOf(2, "B", 20, end), recordOf(3, "C", 100, end),
		recordOf(4, "D", -5000, end), // the clock was wrong
		recordOf(5, "E", 120, end), recordOf(6, "F", 140, end))
	var ids string
	for line := range strings.SplitSeq(got, "\n") {
		ids += line[:1]
	}
	if ids != "ABCDEF" {
		t.Errorf("runs %s, want ABCDEF:\n%s", ids, got)
	}
}

// TestNoDelayAcrossARunThatNobodyRecorded: two records with a number missing
// between them do not stand side by side.
func TestNoDelayAcrossARunThatNobodyRecorded(t *testing.T) {
	end := RecordEnd{Cause: Clean}
	for number, want := range map[int]string{2: "delay=10s", 3: "delay=0s"} {
		if got := told(t, "", recordOf(1, "A", 0, end), recordOf(number, "B", 20, end)); !strings.Contains(got, want+"\nB") {
			t.Errorf("run %d after run 1: %s, want %s", number, got, want)
		}
	}
}

// TestMergingKeepsBothOrders: whatever part of the runs each source has, the
// runs come out once each and in order.
func TestMergingKeepsBothOrders(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const most = 12
		inJournal := rapid.SliceOfN(rapid.Bool(), most, most).Draw(rt, "in the journal")
		inRecords := rapid.SliceOfN(rapid.Bool(), most, most).Draw(rt, "in the records")
		fold := NewFold(unit)
		var records []Record
		var want []string
		for i := range most {
			id := string(rune('A' + i))
			if inJournal[i] {
				fold.Add(entry(t, fmt.Sprintf("%ds %s starting", 20*i, id)))
			}
			if inRecords[i] {
				records = append(records, recordOf(i+1, id, 20*i, RecordEnd{Cause: Clean}))
			}
			if inJournal[i] || inRecords[i] {
				want = append(want, id)
			}
		}
		fold.AddRecords(records)
		var got []string
		for _, r := range fold.Runs() {
			got = append(got, r.InvocationID)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestAStopThatOnlySvcrunTellsOfMayBeTheManagersOwn: it too sends SIGTERM, when
// the memory is out or a timeout is over.
func TestAStopThatOnlySvcrunTellsOfMayBeTheManagersOwn(t *testing.T) {
	r := recordOf(1, "A", 0, RecordEnd{Cause: StopTimeout, Signal: "KILL"})
	r.Phases = []Phase{{Name: "stop", Signal: "TERM", Reason: AskedToStop}}
	for name, test := range map[string]struct {
		story  string
		result string // on D-Bus, where there is no story
		want   bool
	}{
		"the journal is gone":                   {"", "", true},
		"the same, and D-Bus tells how it died": {"", "signal", true},
		"the same, and D-Bus tells why":         {"", "oom-kill", false},
		"the journal has no stop":               {"0s A starting\n1s A started\n9s A oom\n10s A failed oom-kill", "", false},
		"the journal has one":                   {"0s A starting\n1s A started\n9s A stopping\n10s A failed signal", "", true},
	} {
		fold := NewFold(unit)
		if test.story != "" {
			fold = foldOf(t, test.story)
		}
		if test.result != "" {
			fold.AddState(State{
				Unit: unit, InvocationID: "A", ActiveState: "failed", Result: test.result, LeftInactive: epoch, BecameInactive: epoch.Add(time.Minute),
			})
		}
		fold.AddRecords([]Record{r})
		if got := fold.Runs()[0].Stopped; got != test.want {
			t.Errorf("%s: stopped %v, want %v", name, got, test.want)
		}
	}
}

// TestAStopOfSvcrunAloneIsNoneOfTheManagers: kill(1) asks svcrun for a stop and not
// the manager, which may restart the service.
func TestAStopOfSvcrunAloneIsNoneOfTheManagers(t *testing.T) {
	const line = "\n9s A prints svcrun: end cause=stop-requested signal=TERM"
	for story, want := range map[string]bool{
		"0s A starting\n1s A started" + line + "\n10s A deactivated":                false,
		"0s A starting\n1s A started\n8s A stopping" + line + "\n10s A deactivated": true,
		line[1:]: true, // LogLevelMax= hides what the manager says
	} {
		r := foldOf(t, story).Runs()[0]
		if r.Cause != StopRequested || r.Stopped != want {
			t.Errorf("%s: cause %s, stopped %v; want %v", story, r.Cause, r.Stopped, want)
		}
	}
}

func TestAStopInTheHoldOffIsTold(t *testing.T) {
	for story, want := range map[string]string{
		"0s A starting\n1s A started\n5s A exit exited 3\n5s A failed exit-code\n6s A stopped":                                   "waiting",
		"0s A starting\n5s A exit exited 3\n5s A start-failed failed\n5s A failed exit-code\n6s A stopped":                       "waiting",
		"0s A starting\n1s A started\n5s A stopping\n5s A deactivated\n5s A stopped":                                             "stopped",
		"0s A starting\n1s A started\n5s A says Watchdog timeout (limit 1s)!\n5s A stopping\n6s A failed watchdog\n6s A stopped": "stopped",
		"0s A starting\n1s A started\n5s A exit exited 3\n5s A failed exit-code\n6s A scheduled 1\n6s A stopped":                 "",
		"0s A starting\n5s A deactivated\n5s A stopped":                                                                          "stopped",
		"0s A starting\n1s A started\n5s A exit exited 3\n5s A failed exit-code":                                                 "",
	} {
		r := foldOf(t, story).Runs()[0]
		got := ""
		switch {
		case r.Stopped && r.StoppedWaiting:
			got = "both"
		case r.Stopped:
			got = "stopped"
		case r.StoppedWaiting:
			got = "waiting"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", story, got, want)
		}
	}
}

// TestTheStopTookWhatSvcrunMeasured: the record's times of day are each cut to
// the microsecond, and the clock may be set between them.
func TestTheStopTookWhatSvcrunMeasured(t *testing.T) {
	r := recordOf(1, "A", 0, RecordEnd{Cause: StopRequested})
	r.Stopping = r.Ended.Add(-999 * time.Microsecond)
	ev := evidence{record: &r}
	for want, line := range map[string]*EndLine{
		"stop=0s":  nil,
		"stop=1ms": {Cause: StopRequested, Fields: []Field{{"code", "0"}, {"stop", "1ms"}}},
	} {
		ev.endLine = line
		if end, ok := ev.told(); !ok || fmt.Sprint(end.Detail) != "["+want+"]" {
			t.Errorf("with the line %v it is told %v, want %s", line, end.Detail, want)
		}
	}
}
