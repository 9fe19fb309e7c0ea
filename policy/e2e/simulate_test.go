//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/policy"
)

const svcrun = "/usr/bin/svcrun"

// What is no wait of the manager's or svcrun's: the hundredths in which the runs
// note when they began, and what it takes on a busy machine to start and end one,
// beside what the restart of a service that is nothing else is late by.
const (
	early = 30 * time.Millisecond
	late  = 800 * time.Millisecond
)

// service is one that fails time and again.
type service struct {
	name     string
	restarts policy.Restarts
	lasts    time.Duration
	odds     policy.Odds // of the start limit, as the table says it beside the policy
	starts   int         // that happen, or that are watched where the limit never trips
}

const ms = time.Millisecond

// services restart in ten ways and more.
func services(t *testing.T) []service {
	onFailure := policy.Rules{Restart: policy.RestartOnFailure}
	native := func(ladder policy.Ladder, starts int, within time.Duration) policy.Restarts {
		return policy.Restarts{Rules: onFailure, Ladder: ladder, Limit: policy.Limit{Starts: starts, Within: within}}
	}
	held := func(ladder policy.Ladder, delay string, starts int, within time.Duration) policy.Restarts {
		r := native(ladder, starts, within)
		var err error
		if r.StartDelay, err = policy.ParseStartDelay(delay); err != nil {
			t.Fatal(err)
		}
		return r
	}
	ladder, short := policy.Ladder{Base: 100 * ms, Cap: 800 * ms, Steps: 3}, policy.Flat(100*ms)
	return []service{
		{"ladder", native(ladder, 5, time.Hour), 0, policy.Trips, 5},
		{"ladder-of-runs", native(ladder, 4, time.Hour), 300 * ms, policy.Trips, 4},
		{"ladder-cut", native(ladder, 2, time.Hour), 0, policy.Trips, 2},
		{"ladder-missed", native(policy.Ladder{Base: 500 * ms, Cap: 4 * time.Second, Steps: 3}, 3, 3*time.Second), 0, policy.NeverTrips, 5},
		{"flat", native(policy.Flat(200*ms), 4, 10*time.Second), 0, policy.Trips, 4},
		{"flat-missed", native(policy.Flat(time.Second), 2, 1500*ms), 0, policy.NeverTrips, 6},
		{"at-once", native(policy.Flat(0), 3, 10*time.Second), 0, policy.Trips, 3},
		{"svcrun-ladder", held(short, "base=500ms,cap=2s,steps=2", 4, time.Hour), 0, policy.Trips, 4},
		{"svcrun-missed", held(short, "base=2s", 2, 1500*ms), 0, policy.NeverTrips, 4},
		{"svcrun-one", held(short, "base=1min", 1, 50*time.Second), 0, policy.Trips, 1},
		{"svcrun-full", held(short, "base=1s,jitter=full", 4, time.Hour), 0, policy.Trips, 4},
		{"svcrun-storm", held(short, "storm=3/10min/2s", 6, time.Hour), 0, policy.Trips, 6},
		{"both", held(ladder, "base=100ms,cap=800ms,steps=3,jitter=25%", 5, time.Hour), 0, policy.Trips, 5},
	}
}

func (s service) unit() string { return "simulate-" + s.name + ".service" }

// seen is the file in which each run notes when it began.
func (s service) seen() string { return "/run/simulate/" + s.name }

// text is the unit of the service.
func (s service) text() string {
	r := s.restarts
	text := fmt.Sprintf("[Unit]\nStartLimitBurst=%d\nStartLimitIntervalSec=%dus\n[Service]\nRestart=%s\nRestartSec=%dus\n",
		r.Limit.Starts, r.Limit.Within.Microseconds(), r.Rules.Restart, r.Ladder.Base.Microseconds())
	if r.Ladder.Grows() {
		text += fmt.Sprintf("RestartSteps=%d\nRestartMaxDelaySec=%dus\n", r.Ladder.Steps, r.Ladder.Cap.Microseconds())
	}
	command := fmt.Sprintf("/bin/sh -c 'read up rest </proc/uptime; echo $$up >>%s; sleep %.1f; exit 1'", s.seen(), s.lasts.Seconds())
	if r.StartDelay != (policy.StartDelay{}) {
		text += "Type=notify\nRuntimeDirectory=svckit/%N\nRuntimeDirectoryPreserve=restart\n"
		command = svcrun + " --runtime-dir=%t/svckit/%N --start-delay=" + strings.ReplaceAll(r.StartDelay.String(), "%", "%%") + " -- " + command
	}
	return text + "ExecStart=" + command + "\n"
}

// TestManagersRestartAsSimulated runs services that fail on each manager, and
// compares when each run began and which start was refused with the simulation
// under the least and the most that timers and jitter may do.
func TestManagersRestartAsSimulated(t *testing.T) {
	program := filepath.Join(labtest.Programs(t), "svcrun")
	for _, suite := range []lab.Suite{lab.Bookworm, lab.Trixie, lab.Sid} {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := machines.Get(t, suite)
			m.Install(program, svcrun, 0o755)
			m.Run("mkdir", "-p", "/run/simulate")
			some := slices.DeleteFunc(services(t), func(s service) bool {
				return s.restarts.Ladder.Grows() && m.Version() < 254 // which has no RestartSteps=
			})
			start := []string{"systemctl", "start", "--no-block"}
			for _, s := range some {
				m.InstallUnit(s.unit(), s.text())
				start = append(start, s.unit())
			}
			control := m.Control()
			m.Run(start...)
			for _, s := range some {
				m.WaitUntil(s.unit(), func(p lab.Properties) bool { return s.over(t, m, p["ActiveState"]) }, "ActiveState")
			}
			allowed := late + control.Late()
			for _, s := range some {
				compare(t, m, s, allowed)
			}
		})
	}
}

// over says whether a service has been started as often as it is watched, and given
// up where it is to be.
func (s service) over(t *testing.T, m *labtest.Machine, active string) bool {
	return len(s.began(t, m)) >= s.starts && (s.odds == policy.NeverTrips || active == "failed")
}

// began is when each of its runs began.
func (s service) began(t *testing.T, m *labtest.Machine) []time.Duration {
	return labtest.Uptimes(t, m.Try("cat", s.seen()).Stdout)
}

// compare compares one service with its simulation, where each start may be late
// by so much.
func compare(t *testing.T, m *labtest.Machine, s service, late time.Duration) {
	t.Helper()
	run := policy.Run{Lasts: s.lasts, End: policy.End{Result: policy.ExitCode, Main: exited(1)}}
	outlook := s.restarts.Outlook(run)
	if outlook.Odds != s.odds || s.odds == policy.Trips && outlook.Start != s.starts+1 {
		t.Errorf("%s: the outlook is %+v", s.name, outlook)
	}
	least := begun(s, run, policy.Conditions{Late: policy.Least, Jitter: policy.Least})
	most := begun(s, run, policy.Conditions{Late: policy.Most, Jitter: policy.Most})
	at := s.began(t, m)
	if s.odds == policy.Trips && len(at) != s.starts {
		t.Errorf("%s: %d starts at %v, want %d (%s)\n%s", s.name, len(at), at, s.starts, outlook.Why, strings.Join(m.Journal(s.unit(), 30), "\n"))
		return
	}
	for i := range s.starts {
		from, to := least[i]-early, most[i]+time.Duration(i+1)*late
		if after := at[i] - at[0]; after < from || after > to {
			t.Errorf("%s: run %d began after %s, want %s to %s", s.name, i+1, after, from, to)
		}
	}
}

// begun is when each run of the simulation begins.
func begun(s service, run policy.Run, c policy.Conditions) []time.Duration {
	var all []time.Duration
	for start := range s.restarts.Simulate(policy.Always(run), c) {
		if !start.Verdict.Allowed() || len(all) == s.starts {
			return all
		}
		all = append(all, start.Begun)
	}
	return all
}
