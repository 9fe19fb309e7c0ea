package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAManagersOwnRunIsJudgedByWhatItSaw(t *testing.T) {
	begun := time.Unix(1000, 0)
	exited := func(code int) Exit { return Exit{Exited, code} }
	killed := Exit{Killed, 9}
	unhealthy := &EndLine{Cause: Unhealthy, Fields: []Field{{"check", "http://x/"}}}
	for _, c := range []struct {
		name string
		seen Seen
		want End
	}{
		{"a clean end", Seen{Result: "success", Main: exited(0)}, End{Cause: Clean, Exit: exited(0)}},
		{"a stop", Seen{Result: "success", Main: exited(0), Stopped: true}, End{Cause: StopRequested, Exit: exited(0)}},
		{"an exit code", Seen{Result: "exit-code", Main: exited(3)}, End{Cause: ExitCode, Exit: exited(3)}},
		{"a signal", Seen{Result: "signal", Main: killed}, End{Cause: Signal, Exit: killed}},
		{"a core", Seen{Result: "core-dump", Main: Exit{Dumped, 6}}, End{Cause: CoreDump, Exit: Exit{Dumped, 6}}},
		{"a command before it", Seen{Result: "exit-code", Command: "ExecStartPre", Control: exited(3)},
			End{Cause: ExitCode, Exit: exited(3), Detail: []Field{{"command", "ExecStartPre"}}}},
		{"nothing to execute", Seen{Result: "exit-code", Main: exited(203), Message: "no such file"},
			End{Cause: Exec, Exit: exited(203), Detail: []Field{{"message", "no such file"}}}},
		{"no start", Seen{Result: "timeout", Main: killed, TimedOut: StartTimed}, End{Cause: StartTimeout, Exit: killed}},
		{"no end", Seen{Result: "timeout", Main: killed, TimedOut: StopTimed, Stopped: true}, End{Cause: StopTimeout, Exit: killed}},
		{"long enough", Seen{Result: "timeout", Main: exited(0), TimedOut: RuntimeTimed},
			End{Cause: Unknown, Exit: exited(0), Detail: []Field{{"result", "timeout"}, {"message", "RuntimeMaxSec= was reached"}}}},
		{"no heartbeat", Seen{Result: "watchdog", Main: killed, Watchdog: "10s"}, End{Cause: Watchdog, Exit: killed, Detail: []Field{{"limit", "10s"}}}},
		{"an end before READY=1", Seen{Result: "protocol", Main: exited(0)}, End{Cause: Protocol, Exit: exited(0)}},
		{"svcrun's word for it", Seen{Result: "exit-code", Main: exited(69), Line: unhealthy},
			End{Cause: Unhealthy, Exit: exited(69), Detail: []Field{{"check", "http://x/"}}}},
		{"a word that is not so", Seen{Result: "exit-code", Main: exited(3), Line: unhealthy}, End{Cause: ExitCode, Exit: exited(3)}},
	} {
		c.seen.Started, c.seen.Ended = begun, begun.Add(time.Second)
		if diff := cmp.Diff(c.want, c.seen.Judge()); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
	}
}
