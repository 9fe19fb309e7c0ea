package main

import (
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
)

var now = time.Date(2026, 1, 31, 15, 0, 0, 0, time.UTC)

// twoServices are services for a list: one that is up and one that waits.
func twoServices() []history.State {
	return []history.State{
		{
			Unit: "api.service", ActiveState: "active", SubState: "running", NRestarts: 2,
			LeftInactive: now.Add(-time.Hour), BecameActive: now.Add(-time.Hour),
		},
		{
			Unit: "worker.service", ActiveState: "activating", SubState: "auto-restart", NRestarts: 12, Result: "exit-code",
			Exit: history.Exit{Kind: history.Exited, Status: 3}, LeftInactive: now.Add(-time.Minute), Changed: now.Add(-time.Second),
			RestartDelay: 27 * time.Second,
		},
	}
}

func TestListShowsWhatIsKnown(t *testing.T) {
	states := twoServices()
	list := listTable(states, now, time.UTC, asItIs)
	want := `
UNIT            STATE                      RESTARTS  LAST CAUSE        UP SINCE (UTC)       NEXT RESTART
api.service     active (running)           2         -                 2026-01-31 14:00:00  -
worker.service  activating (auto-restart)  12        exit-code code=3  -                    in 26.0s
`
	if got := "\n" + list.text(false, 0); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}

// From 254 on the manager leaves a service whose restart's job has failed as it was
// before that.
func TestListShowsThatARestartWillNeverCome(t *testing.T) {
	stranded := twoServices()[1:]
	stranded[0].SubState = "auto-restart-queued"
	for columns, want := range map[int]string{0: `
UNIT            STATE                             RESTARTS  LAST CAUSE        UP SINCE (UTC)  NEXT RESTART
worker.service  activating (auto-restart-queued)  12        exit-code code=3  -               never
`, 80: `
UNIT            STATE                RESTARTS  LAST CAUSE        NEXT RESTART
worker.service  auto-restart-queued  12        exit-code code=3  never
`, 58: `
UNIT    STATE                RESTARTS  UP SINCE (UTC), OR…
worker  auto-restart-queued  12        no restart after e…
`} {
		if got := "\n" + listText(stranded, now, time.UTC, false, columns); got != want {
			t.Errorf("%d columns: got%s\nwant%s", columns, got, want)
		}
	}
	stranded[0].Job = true
	if got := listText(stranded, now, time.UTC, false, 0); strings.Contains(got, never) {
		t.Errorf("while the job is there: %s", got)
	}
}

// TestANarrowListGivesUpWhatItsReaderMissesLeast: what says nothing, what is
// implied, what all have in common, and only then parts of names and causes.
func TestANarrowListGivesUpWhatItsReaderMissesLeast(t *testing.T) {
	both := twoServices()
	for _, test := range []struct {
		states  []history.State
		columns int
		want    string
	}{
		{both[:1], 0, `
UNIT         STATE             RESTARTS  LAST CAUSE  UP SINCE (UTC)       NEXT RESTART
api.service  active (running)  2         -           2026-01-31 14:00:00  -
`}, {both[:1], 80, `
UNIT         STATE             RESTARTS  UP SINCE (UTC)
api.service  active (running)  2         2026-01-31 14:00:00
`}, {both, 95, `
UNIT            STATE         RESTARTS  LAST CAUSE        UP SINCE (UTC)       NEXT RESTART
api.service     running       2         -                 2026-01-31 14:00:00  -
worker.service  auto-restart  12        exit-code code=3  -                    in 26.0s
`}, {both, 75, `
UNIT    STATE         RESTARTS  UP SINCE (UTC), OR LAST CAUSE
api     running       2         2026-01-31 14:00:00
worker  auto-restart  12        next in 26.0s after exit-code code=3
`}, {both, 55, `
UNIT    STATE         RESTARTS  UP SINCE (UTC), OR LAS…
api     running       2         2026-01-31 14:00:00
worker  auto-restart  12        next in 26.0s after ex…
`}} {
		if got := "\n" + listText(test.states, now, time.UTC, false, test.columns); got != test.want {
			t.Errorf("%d columns: got%s\nwant%s", test.columns, got, test.want)
		}
	}
}

func TestHistoryShowsARunThatIsOnSoFar(t *testing.T) {
	runs := []history.Run{{Number: 7, Running: true, Started: now.Add(-90 * time.Second), Ready: now.Add(-80 * time.Second)}}
	runsOn := historyTable(runs, nil, now, time.UTC)
	if got := runsOn.text(true, 0); !strings.Contains(got, "1min 20s") || !strings.Contains(got, "\x1b[32mrunning\x1b[0m") || !strings.Contains(got, "10.0s") {
		t.Errorf("%q", got)
	}
}

// TestColumnsLineUpByCharacters: neither colours nor bytes of UTF-8 count.
func TestColumnsLineUpByCharacters(t *testing.T) {
	var tab table
	tab.add(cell{"é", bad}, cell{"x", plain})
	tab.add(cell{"abc", plain}, cell{"y", plain})
	for color, want := range map[bool]string{
		false: "é    x\nabc  y\n", true: "\x1b[31mé\x1b[0m    x\nabc  y\n",
	} {
		if got := tab.text(color, 0); got != want {
			t.Errorf("color %v: %q, want %q", color, got, want)
		}
	}
}

// TestNothingOnATerminalIsObeyed: what a service or a check said is quoted.
func TestNothingOnATerminalIsObeyed(t *testing.T) {
	end := history.End{Cause: history.Unhealthy, Detail: []history.Field{{Key: "last", Value: "\x1b]0;owned\a\r\nx"}}}
	if got := endText(end); strings.ContainsAny(got, "\x1b\a\r\n") {
		t.Errorf("%q", got)
	}
}

func TestALineTooLongToBeShownIsNotShownAsEmpty(t *testing.T) {
	runs := []history.Run{{Number: 1, Started: now, End: history.End{Cause: history.Clean}}}
	tab := historyTable(runs, [][]string{{"said", ""}}, now, time.UTC)
	if got := tab.text(false, 0); !strings.Contains(got, "   | said\n   | (a line that is empty, or too long to be shown)\n") {
		t.Error(got)
	}
}

func TestSinceReadsTimesAndSpans(t *testing.T) {
	zone := time.FixedZone("EET", 2*3600)
	here := time.Date(2026, 1, 31, 15, 0, 0, 0, zone)
	for word, want := range map[string]time.Time{
		"now":                  here,
		"today":                time.Date(2026, 1, 31, 0, 0, 0, 0, zone),
		"yesterday":            time.Date(2026, 1, 30, 0, 0, 0, 0, zone),
		"2h":                   here.Add(-2 * time.Hour),
		"-90min":               here.Add(-90 * time.Minute),
		"3d ago":               here.Add(-72 * time.Hour),
		"2026-01-02":           time.Date(2026, 1, 2, 0, 0, 0, 0, zone),
		"2026-01-02 03:04":     time.Date(2026, 1, 2, 3, 4, 0, 0, zone),
		"2026-01-02 03:04:05":  time.Date(2026, 1, 2, 3, 4, 5, 0, zone),
		"2026-01-02T03:04:05Z": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		"03:04":                time.Date(2026, 1, 31, 3, 4, 0, 0, zone),

		"Fri 2026-01-02 03:04:05":     time.Date(2026, 1, 2, 3, 4, 5, 0, zone), // as systemctl status has it
		"Fri 2026-01-02 03:04:05 EET": time.Date(2026, 1, 2, 3, 4, 5, 0, zone),
		"Fri 2026-01-02 03:04:05 UTC": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		"2026-01-02 UTC":              time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		"@1767323045.250000":          time.UnixMicro(1767323045_250000), // as svcstat why has it
		"@1767323045.000001":          time.UnixMicro(1767323045_000001),
		"@1767323045.999997":          time.UnixMicro(1767323045_999997),
		"03:04:05":                    time.Date(2026, 1, 31, 3, 4, 5, 0, zone),
	} {
		got, err := parseSince(word, here)
		if err != nil || !got.Equal(want) {
			t.Errorf("parseSince(%q) = %v, %v; want %v", word, got, err, want)
		}
	}
	for _, word := range []string{"", "soon", "infinity", "1M", "2026-13-01", "--2h", "2026-01-02 03:04:05 EST", "@", "@x", "@-1", "@1e300", "@NaN", "Fri", "Fry 2026-01-02"} {
		if got, err := parseSince(word, here); err == nil {
			t.Errorf("parseSince(%q) = %v, want an error", word, got)
		}
	}
}

func TestNearestNamesAreASlipAwayOrContainTheWord(t *testing.T) {
	known := []string{"nginx.service", "nginx-debug.service", "redis-server.service", "ssh.service"}
	for name, want := range map[string]string{
		"ngnix.service": "nginx.service", "redis.service": "redis-server.service", "sssh.service": "ssh.service",
		"nginx-debu.service": "nginx-debug.service", "postgres.service": "",
	} {
		if got := strings.Join(nearestNames(name, known), " "); got != want {
			t.Errorf("nearestNames(%s) = %q, want %q", name, got, want)
		}
	}
}
