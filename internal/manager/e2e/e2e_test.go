package e2e

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/unitgen"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

const (
	// atOnce is how many scenarios are played side by side on each stage: they
	// mostly wait.
	atOnce = 8
	// tries is how often a scenario is played for which the machine was too busy,
	// each time with less beside it.
	tries = 5
	// logLines is how many of the last lines are shown where something is wrong.
	logLines = 60
)

// player is who plays scenarios: systemd or svcgen run.
type player interface {
	// prepare makes a stage for each scenario, by the names given.
	prepare(ctx context.Context, staged map[string]scenario) (map[string]stage, error)
}

// TestSvcgenRunDoesWhatSystemdDoes plays every scenario on systemd 257 and on
// the newest, and on svcgen run for the same targets; with SVCKIT_FULL on 252
// too, and some that are made by chance.
func TestSvcgenRunDoesWhatSystemdDoes(t *testing.T) {
	t.Parallel()
	service, err := labtest.Build("./testdata/service")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var pairs []*pair
	all, suites := scenarios(), []lab.Suite{lab.Trixie, lab.Sid}
	if os.Getenv("SVCKIT_FULL") != "" {
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d: the random scenarios", seed)
		all, suites = append(all, random{rand.New(rand.NewPCG(seed, 0))}.some(60)...), lab.Suites()
	}
	began, machine := time.Now(), &pulse{}
	go machine.take(ctx)
	for _, suite := range suites {
		pairs = append(pairs, newPair(ctx, t, suite, service, machine))
	}
	var wg sync.WaitGroup
	for _, p := range pairs {
		wg.Go(func() { p.play(ctx, t, slices.Clone(all)) })
	}
	wg.Wait()
	t.Logf("what the scenarios came to, and by how much the times of svcgen run differ at most beyond what the machine was late by, "+
		"on which a process took up to %v\n%s", machine.slowest(began), table(all, pairs))
}

// pair is one systemd and svcgen run for the same target.
type pair struct {
	version string
	target  unitgen.Target
	machine *pulse    // on which both run
	players [2]player // systemd first

	mu  sync.Mutex
	got map[string]outcome // by the scenario's name
}

// outcome is what a scenario came to on systemd, and how svcgen run compares.
type outcome struct {
	systemd map[string]observation // by the service's suffix
	comparison
}

func newPair(ctx context.Context, t *testing.T, suite lab.Suite, service string, machine *pulse) *pair {
	t.Helper()
	m := machines.Get(t, suite)
	for _, program := range []string{"svcrun", "svckit-probe", "svcgen", "svcstat"} {
		machines.Program(m, program)
	}
	machines.Install(m, service, guestService)
	name := map[lab.Suite]string{lab.Bookworm: "debian12", lab.Trixie: "debian13", lab.Sid: "v" + strconv.Itoa(m.Version())}[suite]
	target, err := unitgen.LookupTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "equal-") // short: a socket's path has 108 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	systemd := newSystemd(m.Machine, name)
	if err := systemd.watch(ctx, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	programs := labtest.Programs(t)
	run, err := newSvcgen(dir, name, filepath.Join(programs, "svcgen"), filepath.Join(programs, "svcrun"), service)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{version: strconv.Itoa(m.Version()), target: target, machine: machine, players: [2]player{systemd, run}, got: map[string]outcome{}}
}

// play plays scenarios under both, and those again for which the machine was
// too busy, with less beside them.
func (p *pair) play(ctx context.Context, t *testing.T, all []scenario) {
	pending := slices.DeleteFunc(all, func(sc scenario) bool { return sc.since > p.target.Systemd })
	for try := range tries {
		staged := map[string]scenario{}
		for _, sc := range pending {
			staged[fmt.Sprintf("eq-%s-%s-%d", sc.name, p.version, try+1)] = sc
		}
		if err := p.stage(ctx, t, pending, staged, max(2, atOnce>>try)); err != nil {
			t.Errorf("%s: %v", p.version, err)
			return
		}
		var again []scenario
		for _, sc := range pending {
			if got := p.got[sc.name]; got.unsure() || len(got.differs) == 0 && len(got.late()) > 0 {
				again = append(again, sc)
			}
		}
		if len(again) == 0 {
			return
		}
		t.Logf("%s: too busy for %d scenarios, which are played again", p.version, len(again))
		pending = again
	}
	for _, sc := range pending {
		got := p.got[sc.name]
		t.Errorf("%s, %s: not the same, or not at the same time, in any of %d tries:\n%s",
			sc.name, p.version, tries, strings.Join(append(got.differs, got.late()...), "\n"))
	}
}

// stage plays all that is staged once, so many scenarios side by side.
func (p *pair) stage(ctx context.Context, t *testing.T, order []scenario, staged map[string]scenario, atOnce int) error {
	var stages [2]map[string]stage
	for i, player := range p.players {
		var err error
		if stages[i], err = player.prepare(ctx, staged); err != nil {
			return err
		}
	}
	names := slices.SortedFunc(maps.Keys(staged), func(a, b string) int {
		place := func(name string) int {
			return slices.IndexFunc(order, func(sc scenario) bool { return sc.name == staged[name].name })
		}
		return place(a) - place(b)
	})
	tickets := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for _, name := range names {
		tickets <- struct{}{}
		wg.Go(func() {
			p.both(ctx, t, name, staged[name], stages[0][name], stages[1][name])
			<-tickets
		})
	}
	wg.Wait()
	return nil
}

// both plays one scenario under both at the same time, and compares.
func (p *pair) both(ctx context.Context, t *testing.T, name string, sc scenario, systemd, run stage) {
	began := time.Now()
	var plays [2]*play
	var seen [2]map[string]observation
	var errs [2]error
	var wg sync.WaitGroup
	for i, stage := range []stage{systemd, run} {
		plays[i] = &play{scenario: sc, stage: stage, staged: name, answers: make(chan string, 1)}
		wg.Go(func() { seen[i], errs[i] = plays[i].whole(ctx) })
	}
	wg.Wait()
	c := comparing(p.machine.slowest(began))
	for i, who := range []string{"systemd", "svcgen run"} {
		if errs[i] != nil {
			c.differ("under %s: %v", who, errs[i])
		}
	}
	got := outcome{systemd: map[string]observation{}}
	if len(c.differs) == 0 {
		rules, err := p.rules(sc.file(name, "/dir", "/bin/true"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, svc := range sc.services {
			unit := svc.unit(name)
			got.systemd[svc.suffix] = seen[0][unit]
			c.compare(unit, svc.suffix, rules[unit], seen[0][unit], seen[1][unit])
		}
		c.together(*plays[0], *plays[1], seen[0], seen[1])
	}
	if len(c.differs) > 0 {
		tell := t.Errorf
		if c.unsure() {
			tell = t.Logf
		}
		tell("%s, on a machine that was late by %v\n%s\nsystemd:\n%s\nsvcgen run:\n%s",
			name, c.behind, strings.Join(c.differs, "\n"), systemd.Log(ctx), run.Log(ctx))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, again := p.got[sc.name]; again {
		got.comparison = before.comparison
		got.merge(c)
	} else {
		got.comparison = c
	}
	p.got[sc.name] = got
}

// rules are the restart arithmetic of each unit of a policy file.
func (p *pair) rules(file string) (map[string]unitgen.Restarts, error) {
	policies, err := unitgen.Read("policy.yaml", []byte(file))
	if err != nil {
		return nil, err
	}
	rules := map[string]unitgen.Restarts{}
	for _, one := range policies {
		derived, _, err := unitgen.Derive(one, p.target)
		if err != nil {
			return nil, err
		}
		rules[one.Unit()] = derived.Restarts
	}
	return rules, nil
}

// whole plays a scenario to its end, and tells what became of its services.
func (p *play) whole(ctx context.Context) (map[string]observation, error) {
	defer p.Close()
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cueBound)
	defer cancel()
	seen, err := p.Observe(ctx)
	if err != nil {
		return nil, err
	}
	for _, svc := range p.services {
		o := seen[svc.unit(p.staged)]
		o.acts = p.acts
		if o.lines, err = readRecord(p.Dir(), svc.record()); err != nil {
			return nil, err
		}
		seen[svc.unit(p.staged)] = o
	}
	return seen, nil
}
