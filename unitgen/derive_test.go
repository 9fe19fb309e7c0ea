package unitgen

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/watchdog"
)

// profile is a target by its name.
func profile(t interface {
	Helper()
	Fatal(...any)
}, name string) Target {
	t.Helper()
	target, err := LookupTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestDerivedNumbers(t *testing.T) {
	p := mustRead(t, `
name: x
exec: /bin/x
ready: {start_timeout: 1min}
live:
  checks:
    - {tcp: "127.0.0.1:1", interval: 10s, timeout: 2s, failures: 3}
    - {tcp: "127.0.0.1:2", interval: 4s, timeout: 1s, failures: 5, on_unhealthy: abort}
    - {tcp: "127.0.0.1:3", interval: 60s, timeout: 9s, failures: 9, on_unhealthy: report}
restart: {base: 2s, cap: 32s}
drain: {pre_stop: /bin/hook, pre_stop_timeout: 7s, delay: 3s, steps: [INT@11s, TERM@13s], kill_wait: 4s}
`)
	d, warnings, err := Derive(p, profile(t, "debian13"))
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	for what, span := range map[string][2]time.Duration{
		"TimeoutStartSec: start timeout, steps, twice the kill wait, margin": {d.Start, (60 + 24 + 8 + 5) * time.Second},
		"TimeoutStopSec: hook, delay, steps, twice the kill wait, margin":    {d.Stop, (7 + 3 + 24 + 8 + 5) * time.Second},
		"TimeoutAbortSec: core, kill wait, margin":                           {d.Abort, (10 + 4 + 5) * time.Second},
		"WatchdogSec: most failures and one, of the slowest":                 {d.Watchdog, 10 * 69 * time.Second},
		"notice: the slowest that stops the service":                         {d.Hang.Notice, 32 * time.Second},
		"gone: notice, hook, steps, twice the kill wait, but no delay":       {d.Hang.Gone, (32 + 7 + 24 + 8) * time.Second},
		"first restart: base and a late timer":                               {d.Hang.First, (71+2)*time.Second + policy.TimerSlack},
		"last restart: cap and a late timer":                                 {d.Hang.Last, (71+32)*time.Second + policy.TimerSlack},
	} {
		if span[0] != span[1] {
			t.Errorf("%s: got %s, want %s", what, span[0], span[1])
		}
	}
	if want := (policy.Ladder{Base: 2 * time.Second, Cap: 32 * time.Second, Steps: 4}); d.Restarts.Ladder != want {
		t.Errorf("ladder %+v, want %+v", d.Restarts.Ladder, want)
	}
}

func TestWithoutLiveChecksNoHeartbeatIsOwed(t *testing.T) {
	d, _, err := Derive(mustRead(t, "name: x\nexec: /bin/x\n"), profile(t, "debian13"))
	if err != nil || d.Watchdog != 0 || d.Hang.Notice != 0 {
		t.Errorf("got %+v, %v", d, err)
	}
}

// drawChecks draws live checks that all see a hang.
func drawChecks(t *rapid.T) []watchdog.Check {
	var checks []watchdog.Check
	for i := range rapid.IntRange(1, 3).Draw(t, "checks") {
		interval := time.Duration(rapid.IntRange(10, 300).Draw(t, "interval")) * time.Millisecond
		kind := rapid.SampledFrom([]watchdog.Kind{watchdog.TCP, watchdog.Notify}).Draw(t, "kind")
		check := watchdog.Check{
			Kind: kind, Interval: interval, Successes: 1,
			Timeout:  time.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(interval)).Draw(t, "timeout")).Truncate(time.Millisecond),
			Failures: rapid.IntRange(1, 4).Draw(t, "failures"),
		}
		if kind == watchdog.TCP {
			check.Target = fmt.Sprintf("127.0.0.1:%d", i+1)
		}
		checks = append(checks, check)
	}
	return checks
}

// hangingService plays a service against the real monitor: probes pass after
// a short while until the service hangs, and run into their timeout from then
// on. It returns when the last check became unhealthy, and the longest time
// between two moments of fresh evidence.
func hangingService(checks []watchdog.Check, hangs time.Duration, until time.Duration) (unhealthy, stale time.Duration) {
	start := time.Unix(0, 0)
	m := watchdog.NewMonitor(nil, checks)
	m.Start(start)
	m.Served(start)
	ends := map[watchdog.ID]time.Duration{}
	fails := map[watchdog.ID]bool{}
	lastFresh := time.Duration(0)
	const tick = time.Millisecond
	for at := time.Duration(0); at <= until; at += tick {
		now := start.Add(at)
		if at < hangs {
			m.ChildAlive(now)
		}
		for id, end := range ends {
			if at >= end {
				delete(ends, id)
				failure := ""
				if fails[id] {
					failure = "timeout"
				}
				if m.Done(now, id, failure) {
					unhealthy = at
				}
			}
		}
		for _, id := range m.Due(now) {
			took := tick
			if fails[id] = at+took > hangs; fails[id] {
				took = m.Check(id).Timeout
			}
			ends[id] = at + took
		}
		if len(m.Silent(now)) > 0 {
			unhealthy = at
		}
		if m.Fresh(now) {
			lastFresh = at
		}
		stale = max(stale, at-lastFresh)
	}
	return unhealthy, stale
}

// TestHangIsNoticedWithinTheBound holds the bound against the monitor that
// svcrun runs: derived here, measured there.
func TestHangIsNoticedWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checks := drawChecks(t)
		p := Policy{Live: Live{Checks: checks, OnUnhealthy: watchdog.Drain}}
		bound := hang(p).Notice
		hangs := time.Duration(rapid.IntRange(1, 600).Draw(t, "hangs")) * time.Millisecond
		const rounding = 10 * time.Millisecond // of the simulation's steps
		unhealthy, stale := hangingService(checks, hangs, hangs+bound+rounding)
		if unhealthy == 0 || unhealthy > hangs+bound+rounding {
			t.Fatalf("hung at %s, noticed at %s, which is later than %s after it", hangs, unhealthy, bound)
		}
		if period := watchdogPeriod(checks); stale > period/2 {
			t.Fatalf("no fresh evidence for %s, and WatchdogSec= is %s: svcrun's heart would stop before the checks decide", stale, period)
		}
	})
}

func TestGivingUp(t *testing.T) {
	for _, test := range []struct {
		name, restart, target string
		want                  policy.Limit
	}{
		{"never", "{}", "debian13", policy.Limit{}},
		{"as given", "{give_up: {starts: 5, within: 10m}}", "debian13", policy.Limit{Starts: 5, Within: 10 * time.Minute}},
		{"for ever", "{give_up: {starts: 5, within: infinity}}", "debian13", policy.Limit{Starts: 5, Within: syntax.Infinity}},
		{"the smallest window", "{base: 1s, cap: 8s, give_up: {starts: 4, within: 16s}}", "debian13", policy.Limit{Starts: 4, Within: 16 * time.Second}},
		// 1+2+4+8 s of waiting, 4 x 250 ms, 4 x (90 s + 40 s of steps and kill waits)
		{"derived", "{base: 1s, cap: 8s, give_up: {starts: 4}}", "debian13", policy.Limit{Starts: 4, Within: 536 * time.Second}},
		// starts at 0 1 3 7 15 23 s, then 6 x 130 s, 1+2+4+8+8+8 s of waiting, 1.5 s, rounded up
		{"after", "{base: 1s, cap: 8s, give_up: {after: 30s}}", "debian13", policy.Limit{Starts: 6, Within: 813 * time.Second}},
		// 1+2+4 s by svcrun, and once more 100 ms and a late timer of the manager's, 4 x 130 s
		{"derived, without a ladder", "{base: 1s, cap: 8s, give_up: {starts: 4}}", "debian12", policy.Limit{Starts: 4, Within: 528 * time.Second}},
		{"after, without a ladder", "{base: 1s, cap: 8s, give_up: {after: 30s}}", "debian12", policy.Limit{Starts: 6, Within: 804 * time.Second}},
		// 1.25 and 2.5 s with what svcrun adds, 4 s and a late timer by the manager, 3 x 130 s
		{"derived, with jitter", "{base: 1s, cap: 4s, jitter: 25%, give_up: {starts: 3}}", "debian13", policy.Limit{Starts: 3, Within: 398 * time.Second}},
		// five waits of 2 s and late timers, two pauses of 60 s, 5 x 130 s
		{"derived, with storms", "{base: 2s, cap: 2s, storm: {failures: 2, half_life: 5min, pause: 60s}, give_up: {starts: 5}}", "debian13", policy.Limit{Starts: 5, Within: 782 * time.Second}},
		// 2.5 s and a late timer each
		{"native jitter", "{base: 2s, cap: 2s, jitter: 25%, give_up: {starts: 4}}", "v262", policy.Limit{Starts: 4, Within: 531 * time.Second}},
	} {
		p := mustRead(t, "name: x\nexec: /bin/x\nrestart: "+test.restart+"\n")
		d, _, err := Derive(p, profile(t, test.target))
		if err != nil || d.Restarts.Limit != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", test.name, d.Restarts.Limit, err, test.want)
		}
	}
}

func TestLimitsThatCannotBeReachedAreErrors(t *testing.T) {
	for _, test := range []struct{ restart, target, want string }{
		{"{base: 1s, cap: 8s, give_up: {starts: 4, within: 15s}}", "debian13",
			"3:59 restart.give_up.within 15s may never be reached: the first 4 restarts wait 15s, and each of systemd's timers may be 250ms late; write 16s or more"},
		{"{base: 1s, cap: 1s, give_up: {starts: 1, within: 1s}}", "debian13", "the first restart waits 1s"},
		{"{base: 20s, give_up: {after: 10s}}", "debian13", "3:39 restart.give_up.after 10s is over before the first restart, which waits 20s; write at least 20s"},
		{"{base: 1ms, cap: 1ms, give_up: {after: 7d}}", "debian13", "the ladder makes more than 100000 starts in that time"},
		{"{base: 1s, cap: 8s, give_up: {starts: 4, within: 7s}}", "debian12", "write 8s or more"},
		{"{base: 1s, cap: 8s, jitter: full, give_up: {starts: 4, within: 7s}}", "v262", "write 8s or more"},
	} {
		p := mustRead(t, "name: x\nexec: /bin/x\nrestart: "+test.restart+"\n")
		_, err := Generate(p, profile(t, test.target), Options{})
		var errs Errors
		if !errors.As(err, &errs) || len(errs) != 1 || !strings.Contains(fmt.Sprintf("%d:%d %s", errs[0].Line, errs[0].Column, errs[0].Message), test.want) {
			t.Errorf("%s: got %v, want %s", test.restart, err, test.want)
		}
	}
}

// TestDerivedLimitIsReachedByTheSlowestFailure starts a service whose every
// run takes as long as one may, and whose every restart is late.
func TestDerivedLimitIsReachedByTheSlowestFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.IntRange(1, 60_000).Draw(t, "base")) * time.Millisecond
		p := defaults()
		p.Name, p.Exec = "x", []string{"/bin/x"}
		p.Live.Checks = drawChecks(t)
		p.Restart.Ladder = policy.Ladder{Base: base, Cap: base * time.Duration(rapid.IntRange(1, 100).Draw(t, "times")), Steps: rapid.IntRange(1, 20).Draw(t, "steps")}
		p.Restart.Jitter = rapid.SampledFrom([]policy.Jitter{policy.NoJitter, policy.QuarterJitter, policy.FullJitter}).Draw(t, "jitter")
		p.Restart.GiveUp.Starts = rapid.IntRange(1, 20).Draw(t, "starts")
		if rapid.Bool().Draw(t, "storm") {
			p.Restart.Storm = policy.Storm{Failures: rapid.IntRange(1, 5).Draw(t, "failures"), HalfLife: time.Hour, Pause: time.Minute}
		}
		for _, target := range Targets() {
			d, _, err := Derive(p, target)
			if err != nil {
				t.Fatal(err)
			}
			run := policy.Run{Lasts: p.Ready.StartTimeout + d.Hang.Gone, End: atOnce.End}
			last := 0
			for start := range d.Restarts.Simulate(policy.Always(run), policy.Conditions{Late: policy.Most, Jitter: policy.Most}) {
				if last = start.Number; last > p.Restart.GiveUp.Starts {
					break
				}
			}
			if last != p.Restart.GiveUp.Starts+1 {
				t.Fatalf("%s: start %d is refused, want %d", target, last, p.Restart.GiveUp.Starts+1)
			}
		}
	})
}

func TestWarnings(t *testing.T) {
	const live = "live: {checks: ['tcp:127.0.0.1:80']}\n"
	for _, test := range []struct{ text, target, want string }{
		{"", "debian13", ""},
		{"", "debian12", ""},
		{"restart: {storm: {failures: 5, half_life: 30s, pause: 60s}}\n", "debian12", ""},
		{"restart: {storm: {failures: 6, half_life: 30s, pause: 60s}}\n", "debian12", "x.yaml:3:18: restart.storm never pauses: with these waits not even failing at once makes a storm of 6"},
		{"restart: {stable_after: 5min}\n", "debian13", ""},
		{"restart: {base: 10s, cap: 10s, stable_after: 5min}\n", "v258", ""},
		{"restart: {base: 10s, cap: 10s, stable_after: 5min}\n", "debian13", "x.yaml:3:46: restart.stable_after has nothing to make forgotten"},
		{"restart: {base: 10s, cap: 10s}\n", "debian12", ""},
		{"restart: {base: 10s, cap: 10s}\n", "debian13", ""},
		{"restart: {base: 9s, cap: 9s}\n", "debian13", "x.yaml:3:17: a service that never gives up restarts every 9s for ever when it is broken; let cap exceed base"},
		{"restart: {base: 1s, cap: 29s}\n", "debian13", "x.yaml:3:26: a service that never gives up restarts every 29s for ever"},
		{"restart: {base: 1s, cap: 29s, give_up: {starts: 3}}\n", "debian13", ""},
		{"restart: {base: 1s, cap: 30s}\n", "debian13", ""},
		{"restart: {when: on-success}\n" + live, "debian13", "x.yaml:3:17: restart.when on-success does not start the service again after the watchdog has aborted it"},
		{"restart: {when: on-abort}\n", "debian13", ""},
		{"restart: {when: no}\n", "debian12", ""},
	} {
		p := mustRead(t, "name: x\nexec: /bin/x\n"+test.text)
		_, warnings, err := Derive(p, profile(t, test.target))
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, w := range warnings {
			said = append(said, w.String())
		}
		got := strings.Join(said, "\n")
		if len(said) > 1 || test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%q for %s: got %q, want %q", test.text, test.target, got, test.want)
		}
	}
}
