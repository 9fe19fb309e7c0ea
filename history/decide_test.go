package history

import (
	"slices"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

var results = []string{
	"", "success", "exit-code", "signal", "core-dump", "watchdog", "timeout", "protocol", "oom-kill", "resources",
	"exec-condition", "start-limit-hit", "something-new",
}

var exits = []Exit{
	{}, {Exited, 0}, {Exited, 1}, {Exited, 69}, {Exited, 70}, {Exited, 143}, {Exited, 203}, {Exited, 217}, {Exited, 250},
	{Killed, 9}, {Killed, 15}, {Killed, 6}, {Dumped, 6}, {Dumped, 11},
}

// everyEvidence visits all combinations of what can be known of an ended run.
func everyEvidence(visit func(ev evidence)) {
	lines := []*EndLine{nil}
	for _, c := range Causes() {
		lines = append(lines, &EndLine{Cause: c})
	}
	bools := []bool{false, true}
	at := stamp{time: time.Unix(1, 0)}
	for _, result := range results {
		for _, main := range exits {
			for _, control := range []Exit{{}, {Exited, 1}, {Killed, 15}} {
				for _, stop := range bools {
					for _, oom := range bools {
						for _, byBus := range bools {
							for _, timeout := range []phase{phaseNone, phaseStart, phaseStop, phaseRuntime} {
								for _, line := range lines {
									for _, begun := range bools {
										ev := evidence{
											result: result, main: main, stopRequested: stop, oom: oom, byBus: byBus,
											timeout: timeout, endLine: line, dead: at,
										}
										if control.Kind != NoExit {
											ev.control = controlExit{"ExecStartPre", control}
										}
										if begun {
											ev.started = at
										}
										visit(ev)
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

// TestEveryCombinationHasACauseThatItsRecordsGive holds each cause against
// what must have been on record for it, which is another way round than
// decide goes.
func TestEveryCombinationHasACauseThatItsRecordsGive(t *testing.T) {
	seen := make(map[Cause]bool)
	everyEvidence(func(ev evidence) {
		end := decide(&ev)
		seen[end.Cause] = true
		says := func(c Cause) bool { return ev.endLine != nil && ev.endLine.Cause == c }
		alone := ev.result == "" && ev.main == Exit{} // nobody but svcrun says anything
		blamed := ev.main
		if ev.result == "start-limit-hit" && ev.main.Kind == NoExit { // which hides the run's own
			blamed = ev.control.exit
		}
		exited := func(code int) bool { return ev.main == Exit{Exited, code} }
		allowed := false
		switch end.Cause {
		case Clean:
			allowed = ev.result == "success" || ev.result == "exec-condition" || exited(0)
		case StopRequested:
			allowed = ev.stopRequested || says(StopRequested)
		case ExitCode:
			allowed = !ev.stopRequested && (ev.result == "exit-code" || blamed.Kind == Exited && blamed.Status != 0)
		case Signal:
			allowed = !ev.stopRequested && (ev.result == "signal" || blamed.Kind == Killed)
		case CoreDump:
			allowed = !ev.stopRequested && (ev.result == "core-dump" || ev.main.Kind == Dumped)
		case OOM:
			allowed = ev.result == "oom-kill" || ev.oom && (ev.main == Exit{Killed, 9})
		case Watchdog:
			allowed = ev.result == "watchdog"
		case Unhealthy:
			allowed = says(Unhealthy) && exited(69)
		case StartTimeout:
			allowed = ev.result == "timeout" && ev.timeout == phaseStart || says(StartTimeout) && exited(70)
		case StopTimeout:
			allowed = ev.result == "timeout" || (ev.stopRequested || says(StopTimeout)) && ev.main == Exit{Killed, 9}
		case Protocol:
			allowed = ev.result == "protocol"
		case Exec:
			allowed = ev.result == "resources" || ev.main.Kind == Exited && ev.main.Status >= 200 && ev.main.Status <= 245
		case Unknown:
			allowed = true
		}
		if !allowed && !(alone && says(end.Cause)) {
			t.Errorf("cause %q of %+v, line %+v", end.Cause, ev, ev.endLine)
		}
		if end.Cause == Unknown && ev.started.known() && !ev.byBus && !alone &&
			!slices.Contains([]string{"timeout", "start-limit-hit", "something-new"}, ev.result) {
			t.Errorf("unknown cause of %+v", ev)
		}
	})
	for _, c := range Causes() {
		if !c.Refused() && !seen[c] {
			t.Errorf("no combination has cause %s", c)
		}
	}
}

func TestExitIsThatOfTheProcessToBlame(t *testing.T) {
	everyEvidence(func(ev evidence) {
		end := decide(&ev)
		named := slices.ContainsFunc(end.Detail, func(f Field) bool { return f.Key == "command" })
		bySvcrun := ev.result == "" && ev.main.Kind == NoExit // then it is what svcrun says of itself
		switch {
		case end.Exit.Kind == NoExit, bySvcrun:
		case named && end.Exit != ev.control.exit, !named && end.Exit != ev.main:
			t.Errorf("exit %v of %+v", end.Exit, ev)
		}
	})
}

func TestSvcrunsLineSaysOnlyWhatExitDoesNot(t *testing.T) {
	ev := evidence{
		result: "exit-code", main: Exit{Exited, 3}, started: stamp{time: time.Unix(1, 0)},
		endLine: &EndLine{Cause: ExitCode, Fields: []Field{{"code", "3"}, {"last", "x"}}},
	}
	end := decide(&ev)
	if len(end.Detail) != 1 || end.Detail[0].Key != "last" {
		t.Errorf("detail %v, want last only", end.Detail)
	}
	if len(ev.endLine.Fields) != 2 {
		t.Error("decide changed its evidence")
	}
}

func TestExitReadsOnlyWhatProcessesCanEndWith(t *testing.T) {
	for _, test := range []struct {
		kind, status string
		want         Exit
	}{
		{"exited", "0", Exit{Exited, 0}}, {"exited", "255", Exit{Exited, 255}}, {"killed", "9", Exit{Killed, 9}},
		{"dumped", "11", Exit{Dumped, 11}}, {"exited", "256", Exit{}}, {"exited", "-1", Exit{}}, {"exited", "", Exit{}},
		{"vanished", "1", Exit{}}, {"", "1", Exit{}},
	} {
		if got := parseExit(test.kind, test.status); got != test.want {
			t.Errorf("parseExit(%q, %q) = %v, want %v", test.kind, test.status, got, test.want)
		}
	}
	if code, ok := (Exit{Killed, 9}).Code(); ok {
		t.Errorf("a killed process has code %d", code)
	}
	if signal, ok := (Exit{Dumped, 11}).Signal(); !ok || signal != syntax.Signal(11) {
		t.Errorf("signal %v, %v", signal, ok)
	}
}

func TestCausesAreFixed(t *testing.T) {
	want := []string{
		"clean", "exit-code", "signal", "core-dump", "oom", "watchdog", "unhealthy", "start-timeout", "stop-timeout",
		"protocol", "exec", "start-limit", "stop-requested", "dependency", "unknown",
	}
	for i, c := range Causes() {
		if string(c) != want[i] {
			t.Errorf("cause %d is %q; names are added to and never renamed, want %q", i, c, want[i])
		}
		if parsed, ok := ParseCause(string(c)); !ok || parsed != c {
			t.Errorf("ParseCause(%q) = %q, %v", c, parsed, ok)
		}
	}
	if c, ok := ParseCause("tired"); ok {
		t.Errorf("ParseCause(tired) = %q", c)
	}
}
