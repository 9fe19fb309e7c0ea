package history

import (
	"strings"
	"testing"
	"time"
)

func TestFoldTellsStories(t *testing.T) {
	for _, test := range []struct{ name, story, want string }{
		{"a crash is followed by an automatic start", `
0s A starting
1s A started
9s A exit exited 3
9500ms A failed exit-code
10500ms A scheduled 4
11s B starting`, `
A unknown exit-code exited=3 up=8s delay=1s
B automatic/4 - up=0s delay=0s`},
		{"a requested start comes after whatever time", `
0s A started
9s A deactivated
60s B started`, `
A unknown clean up=9s delay=51s
B requested - up=0s delay=0s`},
		{"where begins are hidden, nobody knows whether a start was asked for", `
1s A exit exited 3
1s A failed exit-code
3s B exit exited 3
3s B failed exit-code
4s - says Start request repeated too quickly.`, `
A unknown exit-code exited=3 up=0s delay=0s
B unknown exit-code exited=3 up=0s delay=1s
- unknown start-limit up=0s delay=0s`},
		{"an exit during a requested stop is the stop's", `
0s A started
5s A stopping
6s A exit exited 143
6s A failed exit-code`, `
A unknown stop-requested exited=143 up=6s delay=0s`},
		{"a stop that comes when the main process is dead is not its cause", `
0s A started
5s A exit exited 1
5s A stopping
6s A failed exit-code`, `
A unknown exit-code exited=1 up=5s delay=0s`},
		{"a stop that comes after a start timeout is not its cause", `
0s A starting
90s A says start operation timed out. Terminating.
91s A stopping
92s A failed timeout`, `
A unknown start-timeout up=1m32s delay=0s`},
		{"a stop in the hold-off is not why a start failed", `
0s A starting
1s A exit exited 1
1s A failed exit-code
1s A start-failed failed
9s A stopped`, `
A unknown exit-code exited=1 up=1s delay=0s`},
		{"the line of a stop that up to 253 every automatic restart has is none", `
0s A starting
1s A exit exited 1
1s A failed exit-code
2s A scheduled 1
2s A stopped
2s B starting`, `
A unknown exit-code exited=1 up=1s delay=1s
B automatic/1 - up=0s delay=0s`},
		{"a core dumped during a stop is still a stop", `
0s A started
5s A stopping
6s A exit dumped 11
6s A failed core-dump`, `
A unknown stop-requested dumped=11 up=6s delay=0s`},
		{"SIGKILL after an OOM kill is the OOM's", `
0s A started
5s A oom
5s A exit killed 9
5s A failed signal`, `
A unknown oom killed=9 up=5s delay=0s`},
		{"the manager's word for it is enough", `
0s A started
5s A failed oom-kill`, `
A unknown oom up=5s delay=0s`},
		{"an OOM kill of another process is not why the main one ends", `
0s A started
5s A oom
9s A exit exited 1
9s A failed exit-code`, `
A unknown exit-code exited=1 up=9s delay=0s`},
		{"power loss leaves a run without an end", `
0s A started
2/10s B started
2/20s B stopping
2/21s B deactivated`, `
A unknown unknown message="the machine went down without a record of the end" up=0s delay=0s
B requested stop-requested up=11s delay=0s`},
		{"lost lines leave a run without an end", `
0s A started
60s B started`, `
A unknown unknown up=0s delay=0s
B unknown - up=0s delay=0s`},
		{"a restart that was announced before a reboot did not come", `
0s A started
5s A exit exited 1
5s A failed exit-code
6s A scheduled 1
2/1s B started`, `
A unknown exit-code exited=1 up=5s delay=1s
B requested - up=0s delay=0s`},
		{"a refused start has no process and ends at once", `
0s A started
5s A exit exited 1
5s A failed exit-code
6s A scheduled 5
6s A says Start request repeated too quickly.
6s A failed exit-code
6s A start-failed failed
80s B started`, `
A unknown exit-code exited=1 up=5s delay=1s
- automatic/5 start-limit up=0s delay=1m14s
B requested - up=0s delay=0s`},
		{"since 260 the limit is told twice, and counted once", `
0s A started
1s A deactivated
2s A says Start request repeated too quickly.
2s A failed start-limit-hit
9s A failed start-limit-hit`, `
A unknown clean up=1s delay=1s
- requested start-limit up=0s delay=7s
- requested start-limit up=0s delay=0s`},
		{"a failed dependency refuses the start", `
0s - start-failed dependency
9s A started`, `
- unknown dependency up=0s delay=9s
A requested - up=0s delay=0s`},
		{"an unmet condition or a failed assertion is no start", `
0s A started
1s A deactivated
2s A finished
3s - started
4s A start-failed assert`, `
A unknown clean up=1s delay=0s`},
		{"svcrun's line refines what the manager saw", `
0s A started
9s A prints svcrun: end cause=unhealthy check=http://h/ after=3 last="timeout 2s"
9s A exit exited 69
9s A failed exit-code`, `
A unknown unhealthy exited=69 check=http://h/ after=3 last="timeout 2s" up=9s delay=0s`},
		{"unhealthy stays unhealthy when a stop is asked for during its drain", `
0s A started
9s A stopping
9s A prints svcrun: end cause=unhealthy check=tcp:h:1
9s A exit exited 69
9s A failed exit-code`, `
A unknown unhealthy exited=69 check=tcp:h:1 up=9s delay=0s`},
		{"svcrun's start timeout is an exit code to the manager", `
0s A starting
9s A prints svcrun: end cause=start-timeout check=tcp:h:1 last="connection refused"
9s A exit exited 70
9s A failed exit-code`, `
A unknown start-timeout exited=70 check=tcp:h:1 last="connection refused" up=9s delay=0s`},
		{"a service that lies about itself is not believed", `
0s A started
9s A prints svcrun: end cause=unhealthy
9s A exit exited 1
9s A failed exit-code`, `
A unknown exit-code exited=1 up=9s delay=0s`},
		{"a stop that needed SIGKILL, by svcrun's word too", `
0s A started
8s A stopping
9s A prints svcrun: end cause=stop-timeout
9s A exit killed 9
9s A failed signal`, `
A unknown stop-timeout killed=9 up=9s delay=0s`},
		{"svcrun's TERM without a stop job is a stop all the same", `
0s A started
9s A prints svcrun: end cause=stop-requested
9s A deactivated`, `
A unknown stop-requested up=9s delay=0s`},
		{"the last line of svcrun's counts", `
0s A started
8s A prints svcrun: end cause=unhealthy check=a
9s A prints svcrun: end cause=unhealthy check=b
9s A exit exited 69
9s A failed exit-code`, `
A unknown unhealthy exited=69 check=b up=9s delay=0s`},
		{"where the manager's lines are gone svcrun's tell what they can", `
9s A prints svcrun: end cause=core-dump signal=SEGV
19s B prints svcrun: end cause=exit-code code=3
29s C prints svcrun: end cause=clean`, `
A unknown core-dump dumped=11 up=0s delay=0s
B unknown exit-code exited=3 up=0s delay=0s
C unknown clean up=0s delay=0s`},
		{"a line of unknown invocation is the newest run's", `
0s A started
9s - prints svcrun: end cause=unhealthy check=c
9s A exit exited 69
9s A failed exit-code`, `
A unknown unhealthy exited=69 check=c up=9s delay=0s`},
		{"a line of unknown invocation before any run is nobody's", `
9s - prints svcrun: end cause=unhealthy check=c`, ``},
		{"a control process that fails is named", `
0s A starting
1s A exit exited 1 ExecStartPre
1s A exit killed 15 ExecStopPost
1s A failed exit-code`, `
A unknown exit-code exited=1 command=ExecStartPre up=1s delay=0s`},
		{"a control process that a timeout killed is not the reason", `
0s A started
5s A stopping
6s A says Stopping timed out. Terminating.
6s A exit killed 15 ExecStop
6s A failed timeout`, `
A unknown stop-timeout up=6s delay=0s`},
		{"numbers that are none are not known", `
0s A started
5s A exit exited many
5s A failed exit-code
6s A scheduled -3
7s B started`, `
A unknown exit-code up=5s delay=1s
B automatic - up=0s delay=0s`},
		{"a result of the future is shown as it is", `
0s A started
5s A failed out-of-luck`, `
A unknown unknown result=out-of-luck up=5s delay=0s`},
		{"a clock that was set does not change the spans", `
0s A started
5s A exit exited 1
5s A failed exit-code
-1s A stopped`, `
A unknown exit-code exited=1 up=5s delay=0s`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got strings.Builder
			for _, r := range foldOf(t, test.story).Runs() {
				got.WriteString("\n" + tell(r))
			}
			if got.String() != strings.TrimRight(test.want, "\n") {
				t.Errorf("got%s\nwant%s", got.String(), test.want)
			}
		})
	}
}

// TestSpansFollowTheMonotonicClock: a clock that is set during a run changes
// the times, not the spans.
func TestSpansFollowTheMonotonicClock(t *testing.T) {
	fold := NewFold(unit)
	for _, line := range []string{"0s A started", "10s A deactivated", "15s B started"} {
		e := entry(t, line)
		if e.Invocation == "B" || e.MessageID == idOf(evDeactivated) {
			e.Time = e.Time.Add(-3 * time.Hour)
		}
		fold.Add(e)
	}
	r := fold.Runs()[0]
	if r.Up != 10*time.Second || r.Delay != 5*time.Second {
		t.Errorf("up %v, delay %v; want 10s, 5s", r.Up, r.Delay)
	}
	if !r.Ended.Before(r.Started) {
		t.Errorf("ended %v, started %v: the times are not those of the journal", r.Ended, r.Started)
	}
}

func TestOtherUnitsAreNotTold(t *testing.T) {
	fold := NewFold(unit)
	e := entry(t, "0s A started")
	e.Unit = "y.service"
	fold.Add(e)
	if runs := fold.Runs(); len(runs) != 0 {
		t.Errorf("%v", runs)
	}
}

// TestAReloadThatFailsIsNotWhyARunEnds: it has a result of its own.
func TestAReloadThatFailsIsNotWhyARunEnds(t *testing.T) {
	r := foldOf(t, `
0s A starting
1s A started
2s A exit exited 7 ExecReload
9s A exit exited 1 ExecStopPost
9s A failed exit-code`).Runs()[0]
	if got := tell(r); got != "A unknown exit-code exited=1 command=ExecStopPost up=8s delay=0s" {
		t.Error(got)
	}
}
