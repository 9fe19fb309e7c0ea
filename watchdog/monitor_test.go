package watchdog

import (
	"slices"
	"testing"
	"time"
)

// These tests ask one question each of a Monitor; monitor_property_test.go has
// what holds under any sequence.

// t0 is when every test's service is started.
var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return t0.Add(d) }

// probed is a check that is probed, with the defaults.
func probed(target string) Check {
	return Check{
		Kind: TCP, Target: target, Interval: DefaultInterval, Timeout: DefaultTimeout,
		Failures: DefaultFailures, Successes: DefaultSuccesses,
	}
}

// spoken is a check that the service itself answers.
func spoken(timeout time.Duration) Check {
	return Check{Kind: Notify, Interval: DefaultInterval, Timeout: timeout, Failures: 1, Successes: 1}
}

// watch is a Monitor of a service started at t0.
func watch(ready, live []Check) *Monitor {
	m := NewMonitor(ready, live)
	m.Start(t0)
	return m
}

// serve is a Monitor of a service that is ready at t0, whose only live check is c.
func serve(c Check) *Monitor {
	m := watch(nil, []Check{c})
	m.Served(t0)
	return m
}

// answer begins a probe of check id at now and answers it at once; it says
// whether the check is now unhealthy.
func answer(t *testing.T, m *Monitor, now time.Time, id ID, failure string) bool {
	t.Helper()
	if !slices.Contains(m.Due(now), id) {
		t.Fatalf("check %d is not due at %v", id, now.Sub(t0))
	}
	return m.Done(now, id, failure)
}

func TestNothingIsDueBeforeTheStart(t *testing.T) {
	m := NewMonitor([]Check{probed("h:1")}, []Check{probed("h:2"), spoken(time.Second)})
	if due := m.Due(at(time.Hour)); due != nil {
		t.Errorf("%v are due", due)
	}
	if silent := m.Silent(at(time.Hour)); silent != nil {
		t.Errorf("%v are silent", silent)
	}
	if next, ok := m.Next(); ok {
		t.Errorf("something is due at %v", next)
	}
}

// starts are when the first n probes of a starting service's only check begin.
func starts(t *testing.T, m *Monitor, n int) []time.Duration {
	t.Helper()
	var begun []time.Duration
	for range n {
		next, ok := m.Next()
		if !ok {
			t.Fatal("nothing is due any more")
		}
		answer(t, m, next, 0, "refused")
		begun = append(begun, next.Sub(t0))
	}
	return begun
}

func TestLiveChecksBeginAt10msAndDoubleUpToTheInterval(t *testing.T) {
	want := []time.Duration{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240, 20240, 30240}
	for i := range want {
		want[i] *= time.Millisecond
	}
	if got := starts(t, watch(nil, []Check{probed("h:1")}), len(want)); !slices.Equal(got, want) {
		t.Errorf("probes began at %v; want %v", got, want)
	}
}

func TestReadyComesAtMostATwelfthLaterThanItCould(t *testing.T) {
	got := starts(t, watch([]Check{probed("h:1")}, nil), 120)
	if got[0] != firstProbe {
		t.Errorf("the first probe began at %v; want %v", got[0], firstProbe)
	}
	for i := 1; i < len(got); i++ {
		// An endpoint that comes up right after probe i-1 is found by probe i.
		if gap, most := got[i]-got[i-1], min(max(got[i-1]/12, firstProbe), DefaultInterval); gap != most {
			t.Errorf("probe %d began %v after the one at %v; want %v", i, gap, got[i-1], most)
		}
	}
	if last := got[len(got)-1] - got[len(got)-2]; last != DefaultInterval {
		t.Errorf("probes end up %v apart; want the interval", last)
	}
}

func TestAnIntervalBelow10msIsKeptFromTheFirstProbeOn(t *testing.T) {
	c := probed("h:1")
	c.Interval, c.Timeout = 4*time.Millisecond, time.Millisecond
	m := watch([]Check{c}, nil)
	for i := range 5 {
		next, _ := m.Next()
		if want := time.Duration(i+1) * c.Interval; next.Sub(t0) != want {
			t.Errorf("probe %d is due at %v; want %v", i, next.Sub(t0), want)
		}
		answer(t, m, next, 0, "")
	}
}

func TestAProbeThatIsOutIsNeverBegunAgain(t *testing.T) {
	m := watch([]Check{probed("h:1"), probed("h:2")}, nil)
	if due := m.Due(at(10 * time.Millisecond)); !slices.Equal(due, []ID{0, 1}) {
		t.Fatalf("%v are due; want both", due)
	}
	if due := m.Due(at(time.Hour)); due != nil {
		t.Errorf("%v are due while their probes are out", due)
	}
	if next, ok := m.Next(); ok {
		t.Errorf("something is due at %v while every probe is out", next.Sub(t0))
	}
	m.Done(at(time.Hour), 1, "")
	if due := m.Due(at(time.Hour)); !slices.Equal(due, []ID{1}) {
		t.Errorf("%v are due after the answer of 1; want 1 at once", due)
	}
}

func TestASlowProbeIsFollowedAtItsIntervalFromItsStart(t *testing.T) {
	m := serve(probed("h:1"))
	m.Due(t0)
	m.Done(at(2*time.Second), 0, "timeout")
	if next, _ := m.Next(); next != at(10*time.Second) {
		t.Errorf("the next probe is due at %v; want 10s after the start of the last", next.Sub(t0))
	}
}

func TestAProbeThatTookTooLongIsFollowedAtOnce(t *testing.T) {
	m := serve(probed("h:1"))
	m.Due(t0)
	now := at(time.Hour) // the host stood still
	m.Done(now, 0, "timeout")
	if next, _ := m.Next(); next != now {
		t.Errorf("the next probe is due at %v; want at the answer, %v", next.Sub(t0), now.Sub(t0))
	}
}

func TestACheckHoldsAfterItsSuccessesInARow(t *testing.T) {
	c := probed("h:1")
	c.Successes = 3
	m := watch([]Check{c}, nil)
	for i, step := range []struct {
		failure string
		ready   bool
	}{
		{"", false}, {"", false}, {"refused", false}, // begins anew
		{"", false}, {"", false}, {"", true}, {"", true},
		{"refused", false}, // one failure is enough to hold no more
		{"", false}, {"", false}, {"", true},
	} {
		next, _ := m.Next()
		if answer(t, m, next, 0, step.failure) {
			t.Errorf("answer %d made a ready check unhealthy", i)
		}
		if m.Ready() != step.ready {
			t.Errorf("after answer %d ready is %v; want %v", i, m.Ready(), step.ready)
		}
	}
}

func TestReadyChecksHaveToHoldAtOnce(t *testing.T) {
	m := watch([]Check{probed("h:1"), probed("h:2")}, nil)
	now := at(10 * time.Millisecond)
	m.Due(now)
	m.Done(now, 0, "")
	if m.Ready() {
		t.Error("ready with one of two")
	}
	m.Done(now, 1, "refused")
	now = at(20 * time.Millisecond)
	m.Due(now)
	m.Done(now, 0, "refused")
	m.Done(now, 1, "")
	if m.Ready() {
		t.Error("ready with each of two, but never both")
	}
	if label, said := m.Pending(); label != "tcp:h:1" || said != "refused" {
		t.Errorf("pending is %q, %q", label, said)
	}
	now = at(40 * time.Millisecond)
	m.Due(now)
	m.Done(now, 0, "")
	if label, _ := m.Pending(); !m.Ready() || label != "" {
		t.Errorf("ready is %v, pending %q with both", m.Ready(), label)
	}
}

func TestWithoutReadyChecksAServiceIsReady(t *testing.T) {
	if !watch(nil, []Check{probed("h:1")}).Ready() {
		t.Error("a live check is no condition of readiness")
	}
}

func TestReadyChecksRestWhileTheServiceServes(t *testing.T) {
	m := watch([]Check{probed("h:1")}, []Check{probed("h:2")})
	now := at(10 * time.Millisecond)
	m.Due(now)
	m.Done(now, 0, "")
	m.Done(now, 1, "")
	m.Served(now)
	for range 10 {
		next, _ := m.Next()
		if due := m.Due(next); !slices.Equal(due, []ID{1}) {
			t.Fatalf("%v are due; want the live check alone", due)
		}
		m.Done(next, 1, "")
	}
}

func TestALateAnswerOfAReadyCheckIsNoIllHealth(t *testing.T) {
	c := probed("h:1")
	c.Failures = 1
	m := watch([]Check{c}, nil)
	answer(t, m, at(10*time.Millisecond), 0, "")
	m.Due(at(20 * time.Millisecond))
	m.Served(at(20 * time.Millisecond))
	if m.Done(at(21*time.Millisecond), 0, "refused") {
		t.Error("a ready check made a service that serves unhealthy")
	}
}

func TestFailuresBeforeReadinessDoNotCount(t *testing.T) {
	m := watch(nil, []Check{probed("h:1")})
	for range 20 {
		next, _ := m.Next()
		if answer(t, m, next, 0, "refused") {
			t.Fatal("unhealthy before readiness")
		}
	}
	next, _ := m.Next()
	m.Served(next)
	if times, said := m.Failure(0); times != 0 || said != "" {
		t.Errorf("%d failures (%q) are left over from the start", times, said)
	}
	for i := range DefaultFailures {
		next, _ = m.Next()
		if got, want := answer(t, m, next, 0, "refused"), i == DefaultFailures-1; got != want {
			t.Errorf("failure %d of %d: unhealthy is %v", i+1, DefaultFailures, got)
		}
	}
}

func TestLiveChecksKeepTheirIntervalFromReadinessOn(t *testing.T) {
	m := watch(nil, []Check{probed("h:1")})
	answer(t, m, at(10*time.Millisecond), 0, "")
	m.Served(at(15 * time.Millisecond))
	if next, _ := m.Next(); next != at(10*time.Second+10*time.Millisecond) {
		t.Errorf("the next probe is due at %v; want one interval after the last began", next.Sub(t0))
	}
	answer(t, m, at(10*time.Second+10*time.Millisecond), 0, "")
	if next, _ := m.Next(); next != at(20*time.Second+10*time.Millisecond) {
		t.Errorf("the next probe is due at %v; want another interval later", next.Sub(t0))
	}
}

func TestALiveCheckNeverProbedIsDueAtReadiness(t *testing.T) {
	if next, ok := serve(probed("h:1")).Next(); !ok || next != t0 {
		t.Errorf("due at %v, %v; want at once", next.Sub(t0), ok)
	}
}

func TestACheckBecomesUnhealthyOnceForEachTimeItsThresholdIsReached(t *testing.T) {
	m := serve(probed("h:1"))
	var unhealthy []int
	for i, failure := range []string{"a", "b", "", "c", "d", "e", "f", "g", "h", "", "i", "j", "k"} {
		next, _ := m.Next()
		if answer(t, m, next, 0, failure) {
			unhealthy = append(unhealthy, i)
			if times, said := m.Failure(0); times != DefaultFailures || said != failure {
				t.Errorf("told of %d failures, the last %q; want %d, %q", times, said, DefaultFailures, failure)
			}
		}
	}
	if !slices.Equal(unhealthy, []int{5, 12}) {
		t.Errorf("unhealthy at answers %v; want at the third failure in a row, 5 and 12", unhealthy)
	}
}

func TestAHeartbeatNeedsACompletedProbeOfEveryLiveCheck(t *testing.T) {
	const limit = DefaultInterval + DefaultTimeout
	m := watch([]Check{probed("h:0")}, []Check{probed("h:1"), probed("h:2"), spoken(time.Second)})
	m.Served(t0)
	if !m.Fresh(at(limit)) || m.Fresh(at(limit+1)) {
		t.Error("readiness itself is evidence for one interval and timeout")
	}
	m.Due(t0)
	m.Done(at(time.Second), 1, "")
	m.Done(at(2*time.Second), 2, "refused") // completed, though it failed
	if !m.Fresh(at(limit+time.Second)) || m.Fresh(at(limit+time.Second+1)) {
		t.Error("the oldest evidence decides")
	}
	now := at(limit + 1)
	m.Due(now)
	m.Done(now, 1, "")
	if !m.Fresh(at(limit+2*time.Second)) || m.Fresh(at(limit+2*time.Second+1)) {
		t.Error("the other check has become the oldest")
	}
}

func TestWithoutLiveChecksAHeartbeatNeedsNoEvidence(t *testing.T) {
	m := watch([]Check{probed("h:1")}, nil)
	m.Served(t0)
	if !m.Fresh(at(1000 * time.Hour)) {
		t.Error("nothing to be fresh, yet not fresh")
	}
}

func TestReloadWantsAFreshProbeOfEveryReadyCheck(t *testing.T) {
	m := watch([]Check{probed("h:1")}, nil)
	answer(t, m, at(10*time.Millisecond), 0, "")
	m.Served(at(10 * time.Millisecond))
	now := at(time.Minute)
	m.Again(now)
	if m.Ready() {
		t.Error("ready by a probe from before the reload")
	}
	if next, _ := m.Next(); next != now.Add(10*time.Millisecond) {
		t.Errorf("the first fresh probe is due %v after the reload; want 10ms", next.Sub(now))
	}
	answer(t, m, now.Add(10*time.Millisecond), 0, "")
	if !m.Ready() {
		t.Error("not ready by a fresh probe")
	}
}

func TestAProbeFromBeforeAReloadSaysNothingOfIt(t *testing.T) {
	for _, failure := range []string{"", "refused"} {
		m := watch([]Check{probed("h:1"), spoken(time.Second)}, nil)
		m.Due(at(10 * time.Millisecond))
		m.Served(at(11 * time.Millisecond)) // while the probe is out
		m.Again(at(12 * time.Millisecond))
		m.Again(at(13 * time.Millisecond)) // a second one changes nothing
		m.ChildReady()
		if m.Done(at(time.Second), 0, failure) || m.Ready() {
			t.Errorf("a stale answer %q counted", failure)
		}
		if _, said := m.Failure(0); said != "" {
			t.Errorf("a stale answer is told: %q", said)
		}
		answer(t, m, at(time.Second), 0, "")
		if !m.Ready() {
			t.Error("the fresh probe after a stale one did not count")
		}
	}
}

func TestFailuresOfLiveChecksDoNotCountDuringAReload(t *testing.T) {
	m := watch([]Check{spoken(time.Second)}, []Check{probed("h:1"), spoken(time.Second)})
	m.Served(t0)
	m.Again(t0)
	now := t0
	for range 10 {
		now = now.Add(DefaultInterval)
		if answer(t, m, now, 1, "refused") {
			t.Fatal("unhealthy during a reload")
		}
		if silent := m.Silent(now); silent != nil {
			t.Fatalf("%v are silent during a reload", silent)
		}
	}
	m.Served(now)
	if times, _ := m.Failure(1); times != 0 {
		t.Errorf("%d failures are left over from the reload", times)
	}
	if silent := m.Silent(now.Add(time.Second - 1)); silent != nil {
		t.Errorf("%v are silent before a whole timeout since the reload", silent)
	}
}

func TestStopEndsTheWatch(t *testing.T) {
	m := watch([]Check{probed("h:1")}, []Check{probed("h:2"), spoken(time.Second)})
	m.Served(t0)
	m.Due(t0)
	m.Stop()
	m.Done(at(time.Second), 1, "refused") // the answer that was on its way
	if due, silent := m.Due(at(time.Hour)), m.Silent(at(time.Hour)); due != nil || silent != nil {
		t.Errorf("%v due, %v silent after the stop", due, silent)
	}
	if next, ok := m.Next(); ok {
		t.Errorf("something is due at %v after the stop", next.Sub(t0))
	}
}

func TestChecksAreNamedReadyOnesFirst(t *testing.T) {
	m := NewMonitor([]Check{probed("h:1"), probed("h:2")}, []Check{probed("h:3")})
	for id, want := range []string{"h:1", "h:2", "h:3"} {
		if got := m.Check(ID(id)).Target; got != want {
			t.Errorf("check %d is %s; want %s", id, got, want)
		}
	}
}

func TestWhatCannotBeKnownCountsNeitherWayOnceTheServiceServes(t *testing.T) {
	c := probed("h:1")
	c.Failures = 2
	m := serve(c)
	for i := range 10 {
		now := at(time.Duration(i) * c.Interval)
		m.Due(now)
		m.Unknown(now, 0, "cannot attribute")
	}
	if times, said := m.Failure(0); times != 0 || said != "cannot attribute" {
		t.Errorf("%d failures, %q; want none, and the reason", times, said)
	}
	if now := at(95 * time.Second); !m.Fresh(now) {
		t.Error("a probe that ended is evidence that probing goes on")
	}
	if now := at(100 * time.Second); answer(t, m, now, 0, "refused") {
		t.Error("unhealthy at the first failure of two")
	}
}

func TestWhatCannotBeKnownIsNoReadiness(t *testing.T) {
	m := watch([]Check{probed("h:1")}, nil)
	m.Due(at(firstProbe))
	if m.Unknown(at(firstProbe), 0, "cannot attribute"); m.Ready() {
		t.Error("ready by a check that could not be answered")
	}
	if _, said := m.Pending(); said != "cannot attribute" {
		t.Errorf("waiting for %q; want the reason", said)
	}
}

func TestHealthIsThatOfTheWorstLiveCheck(t *testing.T) {
	live := Check{Kind: TCP, Interval: time.Second, Timeout: time.Second, Failures: 2, Successes: 1}
	m := NewMonitor([]Check{live}, []Check{live, live})
	now := time.Unix(0, 0)
	m.Start(now)
	m.Served(now)
	for _, step := range []struct {
		id      ID
		failure string
		want    Health
	}{
		{0, "no", Passing}, {1, "no", Failing}, {2, "", Failing}, {1, "", Passing},
		{2, "no", Failing}, {2, "no", Broken}, {1, "", Broken}, {2, "", Passing},
	} {
		m.Done(now, step.id, step.failure)
		if got := m.Health(); got != step.want {
			t.Errorf("after check %d said %q the health is %d, want %d", step.id, step.failure, got, step.want)
		}
	}
}
