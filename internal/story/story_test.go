package story_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/story"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

// noise is what a host adds to each measurement even when nothing else runs:
// the journal, and commands that ask.
const noise = 150 * time.Millisecond

// gauge finds out how starved the host is while a test measures: how late a
// timer of the test's own was at worst. What is charged to systemd's timers
// must not be the host's.
type gauge struct{ worst atomic.Int64 }

func newGauge(ctx context.Context) *gauge {
	g := &gauge{}
	go func() {
		const period = 5 * time.Millisecond
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for last := time.Now(); ; {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			now := time.Now()
			if late := int64(now.Sub(last) - period); late > g.worst.Load() {
				g.worst.Store(late)
			}
			last = now
		}
	}()
	return g
}

// allowance is what a measurement may be off by. A process of another kind
// that competes on the same two processors waits longer than a goroutine does.
func (g *gauge) allowance() time.Duration { return noise + 4*time.Duration(g.worst.Load()) }

// onEach runs a test on every suite's systemd. The machines mostly wait, so
// they do it side by side.
func onEach(t *testing.T, test func(ctx context.Context, t *testing.T, s *story.Stage)) {
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := machines.Get(t, suite)
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
			defer cancel()
			s, err := story.Open(ctx, m.Machine, story.Options{
				Bin: labtest.Programs(t), Policies: []string{"../../examples", "policies"},
				Tell: func(l story.Line) {
					if ctx.Err() == nil {
						t.Logf("%s %s: %s", l.At.Format("15:04:05.000"), l.Who, l.What)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			test(ctx, t, s)
		})
	}
}

// run is what the test reads of svcstat's history.
type run struct {
	Cause  string            `json:"cause"`
	Delay  *int64            `json:"delay_usec"`
	Start  string            `json:"start"`
	Detail map[string]string `json:"detail"`
}

// runs are the service's runs as svcstat tells them, oldest first.
func runs(ctx context.Context, t *testing.T, svc *story.Service) []run {
	t.Helper()
	text, document, err := svc.History(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("svcstat history %s\n%s", svc.Unit, text)
	var read struct {
		Schema int   `json:"schema"`
		Runs   []run `json:"runs"`
	}
	if err := json.Unmarshal([]byte(document), &read); err != nil || read.Schema != 1 {
		t.Fatalf("svcstat history --json: schema %d, %v\n%s", read.Schema, err, document)
	}
	return read.Runs
}

// causes are the causes of all runs.
func causes(runs []run) string {
	var out []string
	for _, r := range runs {
		out = append(out, r.Cause)
	}
	return strings.Join(out, " ")
}

// start deploys and starts a service, whose health check must have passed when
// systemctl returns, and whose status must say so.
func start(ctx context.Context, t *testing.T, svc *story.Service, err error, status string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	started, err := svc.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if started.Active != "active" || started.Status != status {
		t.Errorf("after systemctl start: %s, StatusText=%q; want active, %q", started.Active, started.Status, status)
	}
}

func TestRedisStartsByHealthCheckSurvivesAHangAndRestartsByItsLadder(t *testing.T) {
	t.Parallel()
	onEach(t, func(ctx context.Context, t *testing.T, s *story.Stage) {
		svc, err := s.Deploy(ctx, "redis")
		start(ctx, t, svc, err, "ready 1/1, live 1/1")
		hang(ctx, t, svc)
		crash(ctx, t, svc)
	})
}

// promise is what svcgen wrote into the unit about hangs.
var promise = regexp.MustCompile(`(?m)^# A hang is noticed and the stop begins within (.+), the restart follows within (.+?[a-z])(?: \(.*)?\.$`)

// hang holds a hang against the time that the unit names.
func hang(ctx context.Context, t *testing.T, svc *story.Service) {
	t.Helper()
	said := promise.FindStringSubmatch(svc.Text)
	if said == nil {
		t.Fatalf("the unit names no time for a hang:\n%s", svc.Text)
	}
	within, err := syntax.ParseDuration(said[2])
	if err != nil {
		t.Fatal(err)
	}
	host := newGauge(ctx)
	hung, err := svc.Hang(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if hung.ToRestart > within+host.allowance() {
		t.Errorf("active again %v after the hang; the unit promises %v, and the host added %v", hung.ToRestart, within, host.allowance())
	}
	all := runs(ctx, t, svc)
	if got := causes(all[:len(all)-1]); got != "unhealthy" || all[0].Detail["check"] != "exec:redis-cli+2" {
		t.Errorf("history tells %q by %q; want unhealthy by the live check", got, all[0].Detail["check"])
	}
}

// crash holds the delays between restarts against the ladder in the unit, and
// the end of the series against the policy's give_up.
func crash(ctx context.Context, t *testing.T, svc *story.Service) {
	t.Helper()
	const starts = 6 // restart.give_up in examples/redis.yaml
	host := newGauge(ctx)
	crashed, err := svc.Crash(ctx, story.CrashTimes)
	if err != nil {
		t.Fatal(err)
	}
	if crashed.Starts != starts || crashed.Active != "failed" {
		t.Errorf("%d starts happened, and then it was %s; the policy says that start %d is refused", crashed.Starts, crashed.Active, starts+1)
	}
	all := runs(ctx, t, svc)
	if got, want := causes(all), "unhealthy stop-requested"+strings.Repeat(" signal", starts)+" start-limit"; got != want {
		t.Fatalf("history tells %q; want %q", got, want)
	}
	ladder := ladder(ctx, t, svc)
	for i, r := range all[2 : 2+starts] {
		want := ladder.Delay(i + 1)
		if r.Delay == nil {
			t.Errorf("restart %d: the delay is unknown", i+1)
			continue
		}
		got := time.Duration(*r.Delay) * time.Microsecond
		// The manager writes the line that a delay is counted from when its timer
		// may be running.
		if got < want-host.allowance() || got > want+policy.TimerSlack+host.allowance() {
			t.Errorf("restart %d came after %v; the ladder says %v, a timer may be %v late, and the host added %v",
				i+1, got, want, policy.TimerSlack, host.allowance())
		}
	}
}

// ladder is the ladder that systemd has read from the unit. Before 254 it
// knows but one delay.
func ladder(ctx context.Context, t *testing.T, svc *story.Service) policy.Ladder {
	t.Helper()
	read := func(name string) int64 {
		value, err := svc.Property(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	base := time.Duration(read("RestartUSec")) * time.Microsecond
	if svc.Machine.Version() < 254 {
		return policy.Flat(base)
	}
	return policy.Ladder{
		Base: base, Steps: int(read("RestartSteps")),
		Cap: time.Duration(read("RestartMaxDelayUSec")) * time.Microsecond,
	}
}

func TestStopLetsARequestInFlightFinish(t *testing.T) {
	t.Parallel()
	onEach(t, func(ctx context.Context, t *testing.T, s *story.Stage) {
		svc, err := s.DeployNginx(ctx)
		start(ctx, t, svc, err, "ready 1/1, live 1/1")
		flight, err := svc.StopInFlight(ctx, story.SlowURL, "nginx: ", story.SlowBytes)
		if err != nil {
			t.Fatal(err)
		}
		if flight.Bytes != flight.Want || flight.Refused {
			t.Errorf("the client got %d of %d bytes, refused: %v", flight.Bytes, flight.Want, flight.Refused)
		}
		gone(t, flight.Stopped, "success")
		if got := causes(runs(ctx, t, svc)); got != "stop-requested" {
			t.Errorf("history tells %q; want stop-requested", got)
		}
	})
}

// gone checks that a stop left nothing of the service.
func gone(t *testing.T, s story.Stopped, result string) {
	t.Helper()
	if len(s.Alive) > 0 {
		t.Errorf("still alive: %q", s.Alive)
	}
	if s.Result != result {
		t.Errorf("Result=%s; want %s", s.Result, result)
	}
}

// bound is the stop's budget as svcgen wrote it into the unit.
var bound = regexp.MustCompile(`# A stop takes (\S+) at most`)

func TestStopIsBoundedAndLeavesNothingWhateverTheServiceDoes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ result, cause string }{
		"stubborn": {"signal", "stop-timeout"},
		"escape":   {"success", "stop-requested"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(ctx context.Context, t *testing.T, s *story.Stage) {
				host := newGauge(ctx)
				svc, err := s.Deploy(ctx, name)
				start(ctx, t, svc, err, "ready")
				stopped, err := svc.Stop(ctx, story.Markers[name])
				if err != nil {
					t.Fatal(err)
				}
				gone(t, stopped, want.result)
				said := bound.FindStringSubmatch(svc.Text)
				if said == nil {
					t.Fatalf("the unit names no bound for a stop:\n%s", svc.Text)
				}
				if within, err := syntax.ParseDuration(said[1]); err != nil || stopped.Took > within+host.allowance() {
					t.Errorf("the stop took %v; the unit promises %v, %v", stopped.Took, within, err)
				}
				if got := causes(runs(ctx, t, svc)); got != want.cause {
					t.Errorf("history tells %q; want %q", got, want.cause)
				}
			})
		})
	}
}
