package watchdog

import (
	"slices"
	"testing"
	"time"
)

// What the service says of itself, as a check.

func TestChildsReadyHoldsTheNotifyReadyCheckUntilTheNextReload(t *testing.T) {
	m := watch([]Check{spoken(time.Second), probed("h:1")}, []Check{spoken(time.Second)})
	m.ChildReady()
	if m.Ready() {
		t.Error("ready by the child's word alone, though a probe is wanted too")
	}
	answer(t, m, at(10*time.Millisecond), 1, "")
	if !m.Ready() {
		t.Fatal("not ready with both")
	}
	answer(t, m, at(20*time.Millisecond), 1, "refused")
	answer(t, m, at(40*time.Millisecond), 1, "")
	if !m.Ready() {
		t.Error("the child's word was forgotten")
	}
	m.Served(at(time.Second))
	m.Again(at(time.Minute))
	answer(t, m, at(time.Minute+10*time.Millisecond), 1, "")
	if m.Ready() {
		t.Error("the child's word from before the reload counted")
	}
	m.ChildReady()
	if !m.Ready() {
		t.Error("the child's word after the reload did not count")
	}
}

func TestChildsHeartbeatIsNoReadiness(t *testing.T) {
	m := watch([]Check{spoken(time.Second)}, nil)
	m.ChildAlive(t0)
	if m.Ready() {
		t.Error("WATCHDOG=1 counted as READY=1")
	}
}

func TestNotifyChecksAreNeverProbed(t *testing.T) {
	m := watch([]Check{spoken(time.Second)}, []Check{spoken(time.Second)})
	if due := m.Due(at(time.Hour)); due != nil {
		t.Errorf("%v are due", due)
	}
	m.Served(t0)
	if due := m.Due(at(time.Hour)); due != nil {
		t.Errorf("%v are due while serving", due)
	}
}

func TestSilenceOfAWholeTimeoutIsAFailure(t *testing.T) {
	c := spoken(5 * time.Second)
	c.Failures = 2
	m := serve(c)
	for _, step := range []struct {
		at        time.Duration
		alive     bool
		unhealthy bool
	}{
		{4 * time.Second, true, false},
		{9*time.Second - 1, false, false},
		{9 * time.Second, false, false}, // the first failure
		{9 * time.Second, false, false}, // is counted once
		{10 * time.Second, true, false}, // takes it back
		{15 * time.Second, false, false},
		{20 * time.Second, false, true},
		{25 * time.Second, false, false}, // told once
	} {
		if step.alive {
			m.ChildAlive(at(step.at))
		}
		if got := m.Silent(at(step.at)); (got != nil) != step.unhealthy {
			t.Errorf("at %v unhealthy is %v; want %v", step.at, got, step.unhealthy)
		}
	}
	if times, said := m.Failure(0); times != 3 || said != "no WATCHDOG=1 within 5s" {
		t.Errorf("told of %d failures, %q", times, said)
	}
}

func TestSilenceIsAskedForWhenItIsDue(t *testing.T) {
	m := serve(spoken(5 * time.Second))
	if next, ok := m.Next(); !ok || next != at(5*time.Second) {
		t.Errorf("next is %v, %v; want after the timeout", next.Sub(t0), ok)
	}
	m.ChildAlive(at(3 * time.Second))
	if next, _ := m.Next(); next != at(8*time.Second) {
		t.Errorf("next is %v; want a timeout after the heartbeat", next.Sub(t0))
	}
}

func TestSilenceBeforeReadinessIsNotAskedFor(t *testing.T) {
	m := watch(nil, []Check{spoken(time.Second)})
	if next, ok := m.Next(); ok {
		t.Errorf("something is due at %v", next.Sub(t0))
	}
	m.Silent(at(time.Hour))
	if times, _ := m.Failure(0); times != 0 {
		t.Errorf("%d failures before readiness", times)
	}
}

func TestChildMaySayItsOwnTimeout(t *testing.T) {
	m := watch([]Check{spoken(time.Second)}, []Check{probed("h:1"), spoken(time.Minute)})
	m.Served(t0)
	m.Due(t0)
	m.SetChildTimeout(at(time.Second), 3*time.Second)
	if next, _ := m.Next(); next != at(4*time.Second) {
		t.Errorf("next is %v; want the new timeout from now on", next.Sub(t0))
	}
	m.ChildAlive(at(2 * time.Second))
	if unhealthy := m.Silent(at(5 * time.Second)); !slices.Equal(unhealthy, []ID{2}) {
		t.Errorf("%v are unhealthy; want 2", unhealthy)
	}
	if m.Check(0).Timeout != time.Second || m.Check(1).Timeout != DefaultTimeout {
		t.Error("the timeout of another check was changed")
	}
}

func TestATimeoutThatTheChildCannotMeanIsNotTaken(t *testing.T) {
	m := serve(spoken(time.Minute))
	for _, timeout := range []time.Duration{0, -time.Second} {
		m.SetChildTimeout(t0, timeout)
		if got := m.Check(0).Timeout; got != time.Minute {
			t.Errorf("%v became a timeout of %v", timeout, got)
		}
	}
	m.SetChildTimeout(t0, time.Microsecond) // would have svcrun do nothing else
	if got := m.Check(0).Timeout; got != minInterval {
		t.Errorf("1µs became a timeout of %v; want the shortest interval, %v", got, minInterval)
	}
}

func TestSummaryTellsWhatIsWaitedForAndWhatFails(t *testing.T) {
	m := watch(
		[]Check{spoken(time.Second), probed("h:1"), {Kind: Exec, Target: "/bin/x -p secret", Interval: time.Second, Timeout: time.Second, Successes: 2, Failures: 1}},
		[]Check{probed("h:2"), spoken(30 * time.Second)},
	)
	expect := func(want string) {
		t.Helper()
		if got := m.Summary(); got != want {
			t.Errorf("summary is %q\n            want %q", got, want)
		}
	}
	expect("ready 0/3, waiting for the service's own READY=1, tcp:h:1, exec:x+2")
	now := at(10 * time.Millisecond)
	m.Due(now)
	m.Done(now, 1, "connection refused")
	m.Done(now, 2, "")
	m.Done(now, 3, "refused") // counts for nothing yet, and is not told
	expect("ready 0/3, waiting for the service's own READY=1, tcp:h:1 (connection refused), exec:x+2")
	m.ChildReady()
	now = at(20 * time.Millisecond)
	m.Due(now)
	m.Done(now, 1, "")
	m.Done(now, 2, "")
	m.Done(now, 3, "refused")
	expect("ready 3/3")
	m.Served(now)
	expect("live 2/2")
	m.Silent(now.Add(30 * time.Second))
	m.Due(now.Add(30 * time.Second))
	m.Done(now.Add(30*time.Second), 3, "timeout after 2s")
	expect("live 0/2, failing: tcp:h:2 (timeout after 2s), notify (no WATCHDOG=1 within 30s)")
	m.ChildAlive(now.Add(31 * time.Second))
	expect("live 1/2, failing: tcp:h:2 (timeout after 2s)")
	m.Again(now.Add(32 * time.Second))
	expect("ready 0/3, waiting for the service's own READY=1, tcp:h:1, exec:x+2")
}

func TestSpansInTheSummaryAreWrittenAsEverywhere(t *testing.T) {
	m := serve(spoken(90 * time.Second))
	m.Silent(at(90 * time.Second))
	if got := m.Summary(); got != "live 0/1, failing: notify (no WATCHDOG=1 within 1min 30s)" {
		t.Errorf("summary is %q", got)
	}
}

func TestWithoutChecksThereIsNothingToSum(t *testing.T) {
	m := watch(nil, nil)
	if got := m.Summary(); got != "" {
		t.Errorf("summary is %q while starting", got)
	}
	m.Served(t0)
	if got := m.Summary(); got != "" {
		t.Errorf("summary is %q while serving", got)
	}
}
