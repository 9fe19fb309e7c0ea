package machine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/policy"
)

// begun is one start, as the machine or the simulator has it.
type begun struct {
	At      time.Duration
	Restart int
	Refused bool
}

// scriptedRun is a run that begins to serve at once, and ends.
type scriptedRun struct {
	lasts time.Duration
	exit  policy.Exit
}

// TestRestartsComeAsTheSimulatorSays plays scripts of runs to a machine, and to
// policy's simulator, which knows nothing of states.
func TestRestartsComeAsTheSimulatorSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		service := anyRestarts(t)
		runs := rapid.SliceOfN(rapid.Custom(anyRun), 1, 20).Draw(t, "runs")
		seed := rapid.Uint64().Draw(t, "seed")
		got := playRuns(service, runs, rand.New(rand.NewPCG(seed, 0)))
		got = got[:min(len(got), len(runs))] // without a wait the next start comes at once
		want := simulateRuns(service, runs, rand.New(rand.NewPCG(seed, 0)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-simulator +machine\n%s", diff)
		}
	})
}

func anyRestarts(t *rapid.T) plan.Service {
	s := simple("a")
	micros := func(what string, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(0, most.Microseconds()).Draw(t, what)) * time.Microsecond
	}
	r := &s.Restarts
	r.Rules.Restart = rapid.SampledFrom(policy.RestartValues()).Draw(t, "restart")
	r.Rules.Systemd = rapid.SampledFrom([]int{247, 252, 257, 258, 262}).Draw(t, "version")
	r.Rules.Prevent.Codes = rapid.SliceOfN(rapid.IntRange(0, 3), 0, 1).Draw(t, "prevent")
	r.Rules.Force.Codes = rapid.SliceOfN(rapid.IntRange(0, 3), 0, 1).Draw(t, "force")
	r.Ladder = policy.Ladder{Base: micros("base", 2*time.Second), Cap: micros("cap", 20*time.Second), Steps: rapid.IntRange(0, 6).Draw(t, "steps")}
	r.Randomized = micros("randomized", time.Second)
	r.Limit = policy.Limit{Starts: rapid.IntRange(0, 6).Draw(t, "starts"), Within: micros("within", 2*time.Minute)}
	if after := micros("stable after", 30*time.Second); rapid.Bool().Draw(t, "stable") && after > 0 {
		r.Stable = policy.Stable{After: after, Forget: policy.ResetFailed}
		s.Settle = after
		if r.Rules.Systemd >= 258 {
			r.Stable.Forget, s.Settle = policy.RestartReset, 0
		}
	}
	return s
}

func anyRun(t *rapid.T) scriptedRun {
	return scriptedRun{
		lasts: time.Duration(rapid.Int64Range(0, 40_000_000).Draw(t, "lasts")) * time.Microsecond,
		exit: rapid.SampledFrom([]policy.Exit{
			{How: policy.Exited}, {How: policy.Exited, Code: 1}, {How: policy.Exited, Code: 2},
			{How: policy.Killed, Signal: syntax.SIGTERM}, {How: policy.Killed, Signal: 11}, {How: policy.Dumped, Signal: syntax.SIGABRT},
		}).Draw(t, "exit"),
	}
}

// simulateRuns is the second way.
func simulateRuns(s plan.Service, runs []scriptedRun, random *rand.Rand) []begun {
	var script []policy.Run
	for _, run := range runs {
		script = append(script, policy.Run{Lasts: run.lasts, End: policy.End{Result: s.Restarts.Rules.Result(run.exit), Main: run.exit}})
	}
	var all []begun
	for start := range s.Restarts.Simulate(slices.Values(script), policy.Conditions{Jitter: random.Int64N}) {
		all = append(all, begun{start.At, start.Restart, !start.Verdict.Allowed()})
	}
	return all
}

// playRuns has the machine go through the runs.
func playRuns(s plan.Service, runs []scriptedRun, random *rand.Rand) []begun {
	p := &player{m: New([]plan.Service{s}, random.Int64N), now: time.Unix(1000, 0)}
	p.step(Requested{Verb: Start})
	for i, run := range runs {
		if !p.runs {
			return p.all
		}
		until := p.now.Add(run.lasts)
		if reset := s.Restarts.Stable; reset.Forget == policy.RestartReset && reset.After <= run.lasts {
			p.now = p.now.Add(reset.After)
			p.step(Heard{s.Name, notify.Sort(notify.Message{{Key: "RESTART_RESET", Value: "1"}})})
		}
		p.passTo(until)
		p.runs = false
		p.step(Exited{Unit: s.Name, Exit: run.exit})
		for i+1 < len(runs) && !p.runs {
			at, ok := p.m.Deadline()
			if !ok {
				return p.all
			}
			p.passTo(at)
		}
	}
	return p.all
}

// player steps a machine whose service is ready as soon as it runs.
type player struct {
	m    *Machine
	now  time.Time
	runs bool
	all  []begun
}

func (p *player) passTo(until time.Time) {
	for {
		at, ok := p.m.Deadline()
		if !ok || at.After(until) {
			break
		}
		p.now = at
		p.step(Tick{})
	}
	p.now = until
}

func (p *player) step(event Event) {
	for _, action := range p.m.Step(p.now, event) {
		switch a := action.(type) {
		case Spawn:
			p.runs = true
			p.step(Spawned{a.Unit, a.Role, 1})
			p.step(Heard{a.Unit, notify.Said{Ready: true}})
		case Tell:
			if e := a.Event; e.Name == timeline.Starting || e.Name == timeline.Refused {
				p.all = append(p.all, begun{p.now.Sub(time.Unix(1000, 0)), e.Restarts, e.Name == timeline.Refused})
			}
		}
	}
}
