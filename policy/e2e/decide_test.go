//go:build linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

// ending is one way for a service to end.
type ending struct {
	name   string
	unit   string // the lines of its [Service]
	end    policy.End
	status string // the main process's, as a list of exit statuses has it
	stop   bool   // it runs until it is stopped
}

func exited(code int) policy.Exit { return policy.Exit{How: policy.Exited, Code: code} }

func killed(signal syntax.Signal) policy.Exit {
	return policy.Exit{How: policy.Killed, Signal: signal}
}

// endings are the ways to each result, but for oom-kill, which takes a memory
// controller, and the start limit.
func endings() []ending {
	shell := func(script string) string { return `ExecStart=/bin/sh -c "` + script + `"` + "\n" }
	const notify, hangs = "Type=notify\nNotifyAccess=all\n", "sleep 300"
	dumped := policy.Exit{How: policy.Dumped, Signal: 11}
	return []ending{
		{"success", shell("exit 0"), policy.End{Result: policy.Success, Main: exited(0)}, "0", false},
		{"code", shell("exit 3"), policy.End{Result: policy.ExitCode, Main: exited(3)}, "3", false},
		{"listed", shell("exit 4") + "SuccessExitStatus=4 SIGUSR1\n", policy.End{Result: policy.Success, Main: exited(4)}, "4", false},
		{"before", "ExecStartPre=/bin/false\n" + shell("exit 3"), policy.End{Result: policy.ExitCode}, "0 1 3", false},
		{"term", shell("kill -TERM $$$$"), policy.End{Result: policy.Success, Main: killed(15)}, "SIGTERM", false},
		{"kill", shell("kill -KILL $$$$"), policy.End{Result: policy.KilledBySignal, Main: killed(9)}, "SIGKILL", false},
		// An empty filter makes the dump a few hundred bytes; each has a directory of its own for it.
		{"core", "LimitCORE=infinity\nRuntimeDirectory=%N\nWorkingDirectory=%t/%N\n" + shell("echo 0 >/proc/self/coredump_filter; kill -SEGV $$$$"),
			policy.End{Result: policy.CoreDump, Main: dumped}, "SIGSEGV", false},
		{"timeout", notify + "TimeoutStartSec=1\n" + shell(hangs), policy.End{Result: policy.Timeout, Main: killed(15)}, "SIGTERM", false},
		{"watchdog", notify + "LimitCORE=0\nWatchdogSec=1\n" + shell("systemd-notify --ready; exec "+hangs),
			policy.End{Result: policy.Watchdog, Main: killed(6)}, "SIGABRT", false},
		{"protocol", notify + shell("exit 0"), policy.End{Result: policy.Protocol, Main: exited(0)}, "0", false},
		{"resources", "EnvironmentFile=/nonexistent\n" + shell("exit 3"), policy.End{Result: policy.Resources}, "3", false},
		{"condition", `ExecCondition=/bin/sh -c "exit 1"` + "\n" + shell("exit 3"), policy.End{Result: policy.ExecCondition}, "3", false},
		{"oneshot", "Type=oneshot\n" + shell("exit 0"), policy.End{Result: policy.Success, Main: exited(0)}, "0", false},
		{"oneshot-term", "Type=oneshot\n" + shell("kill -TERM $$$$"), policy.End{Result: policy.KilledBySignal, Main: killed(15)}, "SIGTERM", false},
		{"remains", "RemainAfterExit=yes\n" + shell("exit 0"), policy.End{Result: policy.Success, Main: exited(0)}, "0", false},
		{"remains-not", "RemainAfterExit=yes\n" + shell("exit 3"), policy.End{Result: policy.ExitCode, Main: exited(3)}, "3", false},
		{"stopped", shell("exec " + hangs), policy.End{Result: policy.Success, Main: killed(15), Stopped: true}, "SIGTERM", true},
	}
}

// trial is one unit: a way to end under one set of rules.
type trial struct {
	name  string
	rules policy.Rules
	ending
}

// trials are all endings under all values of Restart=, with the main process's
// exit on each of the two lists, on both or on none, where a manager loads it.
func trials(t *testing.T, version int) []trial {
	var all []trial
	for _, e := range endings() {
		list := statuses(t, e.status)
		oneshot := strings.Contains(e.unit, "Type=oneshot")
		for _, restart := range policy.RestartValues() {
			for lists := range 4 {
				rules := policy.Rules{Restart: restart, Oneshot: oneshot, RemainAfterExit: strings.Contains(e.unit, "Remain"), Systemd: version}
				if lists&1 != 0 {
					rules.Prevent = list
				}
				if lists&2 != 0 {
					rules.Force = list
				}
				if e.name == "listed" {
					rules.Success = policy.Statuses{Codes: []int{4}, Signals: []syntax.Signal{syntax.SIGUSR1}}
				}
				// systemd.service(5): a oneshot cannot have these, or not yet.
				always := restart == policy.RestartAlways || restart == policy.RestartOnSuccess
				if oneshot && (always || lists&2 != 0 && version < 256) {
					continue
				}
				all = append(all, trial{fmt.Sprintf("decide-%s-%s-%d.service", e.name, restart, lists), rules, e})
			}
		}
	}
	return all
}

// sample is all trials where SVCKIT_FULL asks for them, else some of them.
func sample(t *testing.T, all []trial) []trial {
	if os.Getenv("SVCKIT_FULL") != "" {
		return all
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d: which of the %d trials", seed, len(all))
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:64]
}

// statuses reads a list as RestartPreventExitStatus= has it.
func statuses(t *testing.T, text string) (list policy.Statuses) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		if code, err := strconv.Atoi(word); err == nil {
			list.Codes = append(list.Codes, code)
			continue
		}
		signal, err := syntax.ParseSignal(word)
		if err != nil {
			t.Fatal(err)
		}
		list.Signals = append(list.Signals, signal)
	}
	return list
}

// text is the unit. It waits so long before a restart that what the manager
// has decided can be seen in its sub-state.
func (tr trial) text() string {
	text := "[Unit]\nStartLimitIntervalSec=0\n[Service]\nWorkingDirectory=/tmp\nRestartSec=1h\n" + tr.unit + "Restart=" + string(tr.rules.Restart) + "\n"
	if len(tr.rules.Prevent.Codes)+len(tr.rules.Prevent.Signals) > 0 {
		text += "RestartPreventExitStatus=" + tr.status + "\n"
	}
	if len(tr.rules.Force.Codes)+len(tr.rules.Force.Signals) > 0 {
		text += "RestartForceExitStatus=" + tr.status + "\n"
	}
	return text
}

// TestManagersDecideAsThePolicySays has every kind of end judged by each
// manager under all rules, and compares what it did, and what it said of the
// end, with the policy.
func TestManagersDecideAsThePolicySays(t *testing.T) {
	for _, suite := range []lab.Suite{lab.Bookworm, lab.Trixie, lab.Sid} {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := machines.Get(t, suite)
			all := sample(t, trials(t, m.Version()))
			install(t, m, all)
			for some := range slices.Chunk(all, 32) {
				run(m, some)
				for i, seen := range settled(t, m, some) {
					judge(t, some[i], seen)
				}
				m.Try(append([]string{"systemctl", "stop"}, names(some, false)...)...)
			}
		})
	}
}

// holder keeps the manager from forgetting units that have ended.
const holder = "decide.target"

func install(t *testing.T, m *labtest.Machine, all []trial) {
	t.Helper()
	for _, tr := range all {
		m.Write("/run/systemd/system/"+tr.name, tr.text(), 0o644)
	}
	m.Write("/run/systemd/system/"+holder, "[Unit]\nAfter="+strings.Join(names(all, false), " ")+"\n", 0o644)
	m.Run("systemctl", "daemon-reload")
	m.Run("systemctl", "start", holder)
}

// names are the trials' units, or only those that have to be stopped.
func names(all []trial, stopped bool) []string {
	var units []string
	for _, tr := range all {
		if tr.stop || !stopped {
			units = append(units, tr.name)
		}
	}
	return units
}

func run(m *labtest.Machine, some []trial) {
	m.Run(append([]string{"systemctl", "start", "--no-block"}, names(some, false)...)...)
	if units := names(some, true); len(units) > 0 {
		m.Run(append([]string{"systemctl", "start"}, units...)...)
		m.Run(append([]string{"systemctl", "stop"}, units...)...)
	}
}

// settled waits until the manager has decided about all units, and returns
// their properties in their order.
func settled(t *testing.T, m *labtest.Machine, some []trial) []lab.Properties {
	t.Helper()
	const properties = "--property=Id,SubState,Result,ExecMainCode,ExecMainStatus,StateChangeTimestampMonotonic"
	for end := time.Now().Add(labtest.Patience); ; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a pause between two questions
		var all []lab.Properties
		pending := ""
		for block := range strings.SplitSeq(m.Run(append([]string{"systemctl", "show", properties}, names(some, false)...)...), "\n\n") {
			p := lab.Properties{}
			for line := range strings.Lines(block) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				p[key] = value
			}
			over := slices.Contains([]string{"auto-restart", "dead", "failed", "exited"}, p["SubState"])
			if !over || p["StateChangeTimestampMonotonic"] == "0" {
				pending = fmt.Sprint(p)
			}
			all = append(all, p)
		}
		switch {
		case pending == "" && len(all) == len(some):
			return all
		case time.Now().After(end):
			t.Fatalf("the manager has not decided: %s", pending)
		}
	}
}

// judge compares one unit's properties with the policy.
func judge(t *testing.T, tr trial, seen lab.Properties) {
	t.Helper()
	main := fmt.Sprintf("%d/%d", tr.end.Main.How, tr.end.Main.Code+int(tr.end.Main.Signal))
	if got := seen["ExecMainCode"] + "/" + seen["ExecMainStatus"]; seen["Id"] != tr.name || seen["Result"] != string(tr.end.Result) || got != main {
		t.Errorf("%s ended with %v, want result %s, main process %s", tr.name, seen, tr.end.Result, main)
		return
	}
	decision := tr.rules.Decide(tr.end)
	if restarts := seen["SubState"] == "auto-restart"; restarts != decision.Restart {
		t.Errorf("%s: the manager restarts it: %v; the policy: %v, %s", tr.name, restarts, decision.Restart, decision.Why)
	}
	// Where nothing but the main process had a say, its end alone is the result.
	alone := tr.end.Result == policy.Success || tr.end.Result == policy.ExitCode || tr.end.Result == policy.KilledBySignal || tr.end.Result == policy.CoreDump
	if got := tr.rules.Result(tr.end.Main); alone && tr.end.Main.How != policy.NoExit && got != tr.end.Result {
		t.Errorf("%s: by its main process's end the result is %s, the manager says %s", tr.name, got, tr.end.Result)
	}
}
