package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/syntax"
)

// restartTable is systemd.service(5)'s, Restart=, with what the managers were
// seen to do beside it. Y restarts, - does not; a number is the first version
// that does not.
const restartTable = `
result          no always on-success on-failure on-abnormal on-abort on-watchdog
success         -  Y      Y          -          -           -        -
exit-code       -  Y      -          Y          -           -        -
signal          -  Y      -          Y          Y           Y        -
core-dump       -  Y      -          Y          Y           Y        -
timeout         -  Y      -          Y          Y           -        -
watchdog        -  Y      -          Y          Y           -        Y
oom-kill        -  Y      -          Y          Y           -        -
protocol        -  Y      -          Y          Y           -        -
resources       -  Y      -          Y          Y           -        -
exec-condition  -  251    -          246        246         -        -
start-limit-hit -  -      -          -          -           -        -
`

// tableSays looks a cell up.
func tableSays(t *testing.T, restart Restart, result Result, version int) bool {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(restartTable), "\n")
	column := 0
	for i, word := range strings.Fields(lines[0]) {
		if word == string(restart) {
			column = i
		}
	}
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		if cells[0] != string(result) || column == 0 {
			continue
		}
		switch cell := cells[column]; cell {
		case "Y":
			return true
		case "-":
			return false
		default:
			var first int
			if _, err := fmt.Sscan(cell, &first); err != nil {
				t.Fatal(err)
			}
			return version != 0 && version < first
		}
	}
	t.Fatalf("the table has no cell for Restart=%s and %s", restart, result)
	return false
}

// TestEveryRestartDecisionIsTheTables walks all values, results and versions
// with and without each of the tests that come before the table.
func TestEveryRestartDecisionIsTheTables(t *testing.T) {
	main := Exit{How: Exited, Code: 7}
	lists := map[bool]Statuses{false: {Codes: []int{8}, Signals: []syntax.Signal{7}}, true: {Codes: []int{3, 7}}}
	cases := 0
	for _, restart := range RestartValues() {
		for _, result := range Results() {
			for _, version := range []int{0, 239, 243, 245, 246, 250, 251, 252, 255, 256, 257, 262} {
				for bits := range 1 << 5 {
					bit := func(n int) bool { return bits>>n&1 == 1 }
					stopped, prevent, force, oneshot, remain := bit(0), bit(1), bit(2), bit(3), bit(4)
					rules := Rules{
						Restart: restart, Prevent: lists[prevent], Force: lists[force],
						Oneshot: oneshot, RemainAfterExit: remain, Systemd: version,
					}
					want := tableSays(t, restart, result, version)
					by := BySetting
					if force {
						want = !(oneshot && result == "success" && (version == 0 || version > 255))
						by = ByForce
					}
					if prevent {
						want, by = false, ByPrevent
					}
					if remain && result == "success" {
						want, by = false, ByRemain
					}
					if stopped {
						want, by = false, ByStop
					}
					if result == "start-limit-hit" {
						want, by = false, ByStartLimit
					}
					got := rules.Decide(End{Result: result, Main: main, Stopped: stopped})
					if got.Restart != want || got.By != by || got.Why == "" {
						t.Fatalf("%+v, result %s, stopped %v: got %+v, want restart %v by %d", rules, result, stopped, got, want, by)
					}
					cases++
				}
			}
		}
	}
	if want := 7 * 11 * 12 * 32; cases != want {
		t.Errorf("%d cases, want %d", cases, want)
	}
}

func TestDecisionsSayWhy(t *testing.T) {
	rules := Rules{
		Restart: RestartOnFailure,
		Prevent: Statuses{Codes: []int{78}, Signals: []syntax.Signal{syntax.SIGUSR2}},
		Force:   Statuses{Codes: []int{69, 70}},
	}
	for _, test := range []struct {
		end  End
		want string
	}{
		{End{Result: ExitCode, Main: Exit{How: Exited, Code: 78}}, "RestartPreventExitStatus= has exit code 78"},
		{End{Result: Watchdog, Main: Exit{How: Killed, Signal: syntax.SIGUSR2}}, "RestartPreventExitStatus= has SIGUSR2"},
		{End{Result: CoreDump, Main: Exit{How: Dumped, Signal: syntax.SIGUSR2}}, "RestartPreventExitStatus= has SIGUSR2 with a core dump"},
		{End{Result: ExitCode, Main: Exit{How: Exited, Code: 69}}, "RestartForceExitStatus= has exit code 69"},
		{End{Result: ExitCode}, "Restart=on-failure, result exit-code"},
		{End{Result: Success, Main: Exit{How: Exited}}, "Restart=on-failure, result success"},
		{End{Result: Success, Stopped: true}, "a stop was asked for"},
		{End{Result: StartLimitHit}, "the start limit is hit"},
	} {
		if got := rules.Decide(test.end); got.Why != test.want {
			t.Errorf("%+v: %q, want %q", test.end, got.Why, test.want)
		}
	}
}

// TestACommandBeforeTheMainProcessIsOnNoList: where no main process was
// started its status is 0/0, which a list with 0 does not have.
func TestACommandBeforeTheMainProcessIsOnNoList(t *testing.T) {
	all := Statuses{Signals: []syntax.Signal{0}}
	for code := range 256 {
		all.Codes = append(all.Codes, code)
	}
	got := Rules{Restart: RestartOnFailure, Prevent: all, Force: all}.Decide(End{Result: ExitCode})
	if !got.Restart || got.By != BySetting {
		t.Errorf("got %+v, want a restart by the setting", got)
	}
}

// TestEveryExitIsCleanOrNot walks all exit codes and all signals, as daemon and
// as oneshot, with and without a list that has them.
func TestEveryExitIsCleanOrNot(t *testing.T) {
	daemonOnly := map[syntax.Signal]bool{1: true, 2: true, 13: true, 15: true}
	for _, oneshot := range []bool{false, true} {
		for n := range 256 {
			for _, listed := range []bool{false, true} {
				rules := Rules{Oneshot: oneshot}
				if listed {
					rules.Success = Statuses{[]int{n}, []syntax.Signal{syntax.Signal(n)}}
				}
				check := func(e Exit, clean bool, failure Result) {
					t.Helper()
					want := failure
					if clean {
						want = Success
					}
					if rules.Clean(e) != clean || rules.Result(e) != want {
						t.Errorf("%s, oneshot %v, listed %v: clean %v and %s, want %v", e, oneshot, listed, rules.Clean(e), rules.Result(e), clean)
					}
				}
				signal := syntax.Signal(n)
				check(Exit{How: Exited, Code: n}, n == 0 || listed, "exit-code")
				if n > 0 {
					check(Exit{How: Killed, Signal: signal}, listed || daemonOnly[signal] && !oneshot, "signal")
					check(Exit{How: Dumped, Signal: signal}, false, "core-dump")
				}
			}
		}
	}
}

func TestRestartValuesAreRead(t *testing.T) {
	for _, value := range RestartValues() {
		if got, err := ParseRestart(string(value)); err != nil || got != value {
			t.Errorf("%s is read as %s, %v", value, got, err)
		}
	}
	for text, want := range map[string]string{
		"on-fail": "did you mean on-failure", "on-errors": "they are no, always", "on_failure": "did you mean on-failure", "": "they are no, always", "unless-stopped": "they are no, always",
	} {
		if got, err := ParseRestart(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Restart=%s: got %s, %v; want an error with %q", text, got, err, want)
		}
	}
}
