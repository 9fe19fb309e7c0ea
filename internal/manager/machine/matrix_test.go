package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
)

// reach is how each state is come to.
var reach = []struct {
	state state
	by    []string
}{
	{dead, []string{"start", "says a READY=1", "stop a", "exit a 0"}},
	{failed, []string{"start", "says a READY=1", "stop a", "exit a 1"}},
	{startPre, []string{"start"}},
	{start, []string{"start", "exit a.control 0"}},
	{running, []string{"start", "exit a.control 0", "says a READY=1"}},
	{reload, []string{"command", "start", "exit a.control 0", "says a READY=1", "reload"}},
	{reloadSignal, []string{"start", "exit a.control 0", "says a READY=1", "reload"}},
	{reloadNotify, []string{"start", "exit a.control 0", "says a READY=1", "says a RELOADING=1"}},
	{stopWatchdog, []string{"start", "exit a.control 0", "says a READY=1", "says a WATCHDOG=trigger"}},
	{stopSigterm, []string{"start", "exit a.control 0", "says a READY=1", "stop a"}},
	{stopSigkill, []string{"start", "exit a.control 0", "says a READY=1", "stop a", "tick"}},
	{finalSigterm, []string{"start", "exit a.control 0", "says a READY=1", "stop a", "tick", "tick"}},
	{finalSigkill, []string{"start", "exit a.control 0", "says a READY=1", "stop a", "tick", "tick", "tick"}},
	{autoRestart, []string{"start", "exit a.control 0", "says a READY=1", "exit a 1"}},
	{queued, []string{"start", "exit a.control 0", "says a READY=1", "exit a 1", "hold", "tick"}},
}

// asked are the events that each state is tried with.
var asked = []string{
	"tick", "exit a 0", "exit a 1", "exit a KILL", "exit a 0 left=1", "exit a.control 0", "exit a.control 1", "left a 0",
	"says a READY=1", "says a RELOADING=1", "says a STOPPING=1", "says a WATCHDOG=trigger", "says a WATCHDOG=1",
	"start a", "stop a", "reload a", "hurry a",
}

// transitions is what becomes of the states by the events; whatever is not here
// leaves the state as it is. A tick is the end of the state's time. The service
// has the kill of all that it leaves, and Restart=on-failure.
const transitions = `
dead                 start a                  start
failed               start a                  start
start-pre            tick                     stop-sigterm
start-pre            exit a.control 0         start
start-pre            exit a.control 1         auto-restart
start-pre            stop a                   stop-sigterm
start-pre            hurry a                  stop-sigterm
start                tick                     stop-sigterm
start                exit a 0                 auto-restart
start                exit a 1                 auto-restart
start                exit a KILL              auto-restart
start                exit a 0 left=1          stop-sigkill
start                says a READY=1           running
start                says a WATCHDOG=trigger  stop-watchdog
start                stop a                   stop-sigterm
start                hurry a                  stop-sigterm
running              exit a 0                 dead
running              exit a 1                 auto-restart
running              exit a KILL              auto-restart
running              exit a 0 left=1          stop-sigkill
running              says a RELOADING=1       reload-notify
running              says a STOPPING=1        stop-sigterm
running              says a WATCHDOG=trigger  stop-watchdog
running              stop a                   stop-sigterm
running              reload a                 reload-signal
running              hurry a                  stop-sigterm
reload               exit a.control 0         running
reload               exit a.control 1         running
reload               says a WATCHDOG=trigger  stop-watchdog
reload               stop a                   stop-sigterm
reload               hurry a                  stop-sigterm
reload-signal        tick                     running
reload-signal        exit a 0                 dead
reload-signal        exit a 1                 auto-restart
reload-signal        exit a KILL              auto-restart
reload-signal        exit a 0 left=1          stop-sigkill
reload-signal        says a RELOADING=1       reload-notify
reload-signal        says a STOPPING=1        stop-sigterm
reload-signal        says a WATCHDOG=trigger  stop-watchdog
reload-signal        stop a                   stop-sigterm
reload-signal        hurry a                  stop-sigterm
reload-notify        tick                     running
reload-notify        exit a 0                 dead
reload-notify        exit a 1                 auto-restart
reload-notify        exit a KILL              auto-restart
reload-notify        exit a 0 left=1          stop-sigkill
reload-notify        says a READY=1           running
reload-notify        says a STOPPING=1        stop-sigterm
reload-notify        says a WATCHDOG=trigger  stop-watchdog
reload-notify        stop a                   stop-sigterm
reload-notify        hurry a                  stop-sigterm
stop-watchdog        tick                     stop-sigkill
stop-watchdog        exit a 0                 auto-restart
stop-watchdog        exit a 1                 auto-restart
stop-watchdog        exit a KILL              auto-restart
stop-watchdog        exit a 0 left=1          final-sigkill
stop-watchdog        stop a                   stop-sigterm
stop-watchdog        hurry a                  stop-sigterm
stop-sigterm         tick                     stop-sigkill
stop-sigterm         exit a 0                 dead
stop-sigterm         exit a 1                 failed
stop-sigterm         exit a KILL              failed
stop-sigterm         exit a 0 left=1          final-sigkill
stop-sigterm         says a WATCHDOG=trigger  stop-watchdog
stop-sigkill         tick                     final-sigterm
stop-sigkill         exit a 0                 failed
stop-sigkill         exit a 1                 failed
stop-sigkill         exit a KILL              failed
stop-sigkill         exit a 0 left=1          final-sigkill
final-sigterm        tick                     final-sigkill
final-sigterm        exit a 0                 failed
final-sigterm        exit a 1                 failed
final-sigterm        exit a KILL              failed
final-sigterm        exit a 0 left=1          final-sigkill
final-sigterm        hurry a                  final-sigkill
final-sigkill        tick                     failed
final-sigkill        exit a 0                 failed
final-sigkill        exit a 1                 failed
final-sigkill        exit a KILL              failed
final-sigkill        exit a 0 left=1          failed
auto-restart         tick                     start-pre
auto-restart         start a                  start-pre
auto-restart         stop a                   dead
auto-restart         hurry a                  dead
auto-restart-queued  stop a                   dead
auto-restart-queued  hurry a                  dead
`

// TestEveryStateTakesEveryEvent goes through all pairs. It prints the table as
// it is if it differs from the one above.
func TestEveryStateTakesEveryEvent(t *testing.T) {
	var table strings.Builder
	for _, from := range reach {
		for _, event := range asked {
			s := inState(t, from.state, from.by)
			s.do(event)
			if got := s.m.units[0].state; got != from.state {
				fmt.Fprintf(&table, "%-19s  %-23s  %s\n", from.state, event, got)
			}
		}
	}
	if got, want := table.String(), strings.TrimPrefix(transitions, "\n"); got != want {
		t.Errorf("the transitions are\n%s\nand should be\n%s", got, want)
	}
}

// inState has a unit a in a state, beside a unit z that keeps the manager up.
func inState(t *testing.T, want state, by []string) *script {
	t.Helper()
	a := simple("a", bySignal, func(s *plan.Service) { s.RuntimeMax = 24 * time.Hour })
	if by[0] == "command" {
		a, by = simple("a", byCommand), by[1:]
	}
	if want != dead && want != failed {
		before("/bin/one")(&a)
	}
	s := newScript(t, of(a, simple("z")))
	for _, event := range by {
		if event == "hold" { // the start has to wait, as a unit before it is being started
			s.m.units[0].plan.After = []string{"z.service"}
			s.now = s.now.Add(-time.Nanosecond)
			continue
		}
		s.do(event)
	}
	if got := s.m.units[0].state; got != want {
		t.Fatalf("%v leads to %s, want %s", by, got, want)
	}
	return s
}
