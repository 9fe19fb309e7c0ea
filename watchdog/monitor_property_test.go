package watchdog

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is a Monitor's promises computed a second way: it keeps every answer
// and looks at all of them each time.
type model struct {
	ready, live []Check
	serving     bool
	servedAt    time.Time
	out         map[ID]bool
	void        map[ID]bool        // the probe that is out is from before a reload
	answers     map[ID][]string    // since the start, the last Served or Again that began anew
	begun       map[ID][]time.Time // when probes began
	completed   map[ID]time.Time
	heard       map[ID]time.Time // of notify live checks: when silence began
}

func newModel(ready, live []Check) *model {
	return &model{
		ready: ready, live: live,
		out: map[ID]bool{}, void: map[ID]bool{}, answers: map[ID][]string{}, begun: map[ID][]time.Time{},
		completed: map[ID]time.Time{}, heard: map[ID]time.Time{},
	}
}

func (m *model) check(id ID) Check {
	return append(slices.Clone(m.ready), m.live...)[id]
}

func (m *model) isReady(id ID) bool { return int(id) < len(m.ready) }

// tail counts the answers at the end that are all passes, or all failures.
func (m *model) tail(id ID, passes bool) int {
	n := 0
	for _, a := range slices.Backward(m.answers[id]) {
		if (a == "") != passes {
			break
		}
		n++
	}
	return n
}

// holds says whether every ready check holds: its answers end in enough passes.
func (m *model) holds() bool {
	for id := range m.ready {
		if m.tail(ID(id), true) < m.ready[id].Successes {
			return false
		}
	}
	return true
}

// done takes an answer, and says whether it makes a live check unhealthy.
func (m *model) done(now time.Time, id ID, failure string) bool {
	void := m.void[id] || m.late(now, id)
	m.out[id], m.void[id], m.completed[id] = false, false, now
	if void {
		return false
	}
	m.answers[id] = append(m.answers[id], failure)
	return !m.isReady(id) && m.serving && m.tail(id, false) == m.check(id).Failures
}

// late says whether the answer to the last probe is later than a host that
// gives the process its turn lets it be.
func (m *model) late(now time.Time, id ID) bool {
	begun, timeout := m.begun[id], m.check(id).Timeout
	latest := begun[len(begun)-1].Add(timeout + timeout/4)
	if timeout < time.Second {
		latest = begun[len(begun)-1].Add(timeout + 250*time.Millisecond)
	}
	return now.After(latest)
}

// fresh says whether a heartbeat may go out.
func (m *model) fresh(now time.Time) bool {
	for i, c := range m.live {
		last := m.servedAt
		if t := m.completed[ID(len(m.ready)+i)]; t.After(last) {
			last = t
		}
		if c.Kind != Notify && now.After(last.Add(c.Interval+c.Timeout)) {
			return false
		}
	}
	return true
}

// checks draws a few checks that are probed.
func checks(label string) *rapid.Generator[[]Check] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Check {
		interval := time.Duration(rapid.IntRange(10, 3000).Draw(t, "interval, ms")) * time.Millisecond
		timeout := time.Duration(rapid.IntRange(1, int(interval/time.Millisecond)).Draw(t, "timeout, ms")) * time.Millisecond
		return Check{
			Kind: TCP, Target: label + ":1", Interval: interval, Timeout: timeout,
			Failures: rapid.IntRange(1, 4).Draw(t, "failures"), Successes: rapid.IntRange(1, 4).Draw(t, "successes"),
		}
	}), 0, 3)
}

// pair is a Monitor and its model under the same clock.
type pair struct {
	real  *Monitor
	model *model
	now   time.Time
}

func (p *pair) agree(t *rapid.T) {
	if got, want := p.real.Ready(), p.model.holds(); got != want {
		t.Fatalf("ready is %v; the answers %v say %v", got, p.model.answers, want)
	}
	if got, want := p.real.Fresh(p.now), p.model.fresh(p.now); got != want {
		t.Fatalf("fresh is %v; the completed probes say %v", got, want)
	}
}

// due begins what is due, and checks that each may begin now.
func (p *pair) due(t *rapid.T) {
	next, ok := p.real.Next()
	due := p.real.Due(p.now)
	if early := ok && p.now.Before(next); (!ok || early) && len(due) > 0 {
		t.Fatalf("%v are due before Next said so", due)
	}
	if ok && !p.now.Before(next) && len(due) == 0 {
		t.Fatalf("next was %v, and nothing is due at %v", next.Sub(t0), p.now.Sub(t0))
	}
	for _, id := range due {
		p.begin(t, id)
	}
	if again := p.real.Due(p.now); len(again) > 0 {
		t.Fatalf("%v are due twice at once", again)
	}
	if next, ok := p.real.Next(); ok && !next.After(p.now) {
		t.Fatalf("next is %v, not after the Due of %v", next.Sub(t0), p.now.Sub(t0))
	}
}

func (p *pair) begin(t *rapid.T, id ID) {
	switch {
	case p.model.out[id]:
		t.Fatalf("check %d is probed while its probe is out", id)
	case p.model.isReady(id) && p.model.serving:
		t.Fatalf("ready check %d is probed while the service serves", id)
	}
	begun := p.model.begun[id]
	if n := len(begun); n > 0 && p.model.serving {
		if gap := p.now.Sub(begun[n-1]); gap < p.model.check(id).Interval {
			t.Fatalf("check %d is probed %v after the last, within its interval", id, gap)
		}
	}
	p.model.out[id] = true
	p.model.begun[id] = append(begun, p.now)
}

// answer ends one of the probes that are out.
func (p *pair) answer(t *rapid.T) {
	var out []ID
	for id, is := range p.model.out {
		if is {
			out = append(out, id)
		}
	}
	if len(out) == 0 {
		t.Skip("nothing is out")
	}
	slices.Sort(out)
	id := rapid.SampledFrom(out).Draw(t, "check")
	failure := rapid.SampledFrom([]string{"", "", "refused"}).Draw(t, "failure")
	got, want := p.real.Done(p.now, id, failure), p.model.done(p.now, id, failure)
	if got != want {
		t.Fatalf("unhealthy is %v after %v; want %v", got, p.model.answers[id], want)
	}
}

// served makes the service ready, as the machine does: only when it is.
func (p *pair) served(t *rapid.T) {
	if p.model.serving || !p.model.holds() {
		t.Skip("not ready")
	}
	p.real.Served(p.now)
	p.model.serving, p.model.servedAt = true, p.now
	for i := range p.model.live {
		id := ID(len(p.model.ready) + i)
		p.model.answers[id] = nil
	}
}

func (p *pair) again(t *rapid.T) {
	if !p.model.serving {
		t.Skip("not serving")
	}
	p.real.Again(p.now)
	p.model.serving = false
	for id := range p.model.ready {
		p.model.answers[ID(id)] = nil
		p.model.void[ID(id)] = p.model.out[ID(id)]
	}
}

func TestMonitorKeepsItsPromisesUnderAnyAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ready, live := checks("ready").Draw(t, "ready"), checks("live").Draw(t, "live")
		p := &pair{real: NewMonitor(ready, live), model: newModel(ready, live), now: t0}
		p.real.Start(p.now)
		t.Repeat(map[string]func(*rapid.T){
			"": p.agree,
			"time passes": func(t *rapid.T) {
				p.now = p.now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			},
			"next comes": func(t *rapid.T) {
				if next, ok := p.real.Next(); ok && next.After(p.now) {
					p.now = next
				}
				p.due(t)
			},
			"due":    p.due,
			"answer": p.answer,
			"served": p.served,
			"again":  p.again,
		})
	})
}

// A loop that comes when Next says so, and gets each answer after some time,
// probes every check at least once in an interval and a timeout, and never
// loses a heartbeat.
func TestACheckIsProbedOnceAnIntervalAndTheEvidenceStaysFresh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := checks("live").Draw(t, "live")
		m := NewMonitor(nil, live)
		m.Start(t0)
		m.Served(t0)
		var now time.Time
		answers := map[ID]time.Time{}
		began := map[ID]time.Time{}
		for range 300 {
			next, ok := m.Next()
			for _, at := range answers {
				if !ok || at.Before(next) {
					next, ok = at, true
				}
			}
			if !ok {
				return // no checks
			}
			now = next
			if !m.Fresh(now) {
				t.Fatalf("not fresh at %v, though every probe ends in its time", now.Sub(t0))
			}
			for id, at := range answers {
				if !at.After(now) {
					delete(answers, id)
					m.Done(now, id, "")
				}
			}
			for _, id := range m.Due(now) {
				if last, ok := began[id]; ok && now.Sub(last) != live[id].Interval {
					t.Fatalf("check %d is probed %v after the last; its interval is %v", id, now.Sub(last), live[id].Interval)
				}
				began[id] = now
				took := time.Duration(rapid.Int64Range(0, int64(live[id].Timeout)).Draw(t, "took"))
				answers[id] = now.Add(took)
			}
		}
	})
}

// The silence of a child, computed from the times at which it spoke.
func TestSilenceIsCountedFromTheLastWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timeout := time.Duration(rapid.IntRange(10, 500).Draw(t, "timeout, ms")) * time.Millisecond
		failures := rapid.IntRange(1, 3).Draw(t, "failures")
		c := spoken(timeout)
		c.Failures = failures
		m := serve(c)
		spoke, now, count := t0, t0, 0
		for range 60 {
			next, ok := m.Next()
			if !ok {
				t.Fatal("nothing is waited for")
			}
			if gap := time.Duration(rapid.IntRange(0, 1500).Draw(t, "gap, ms")) * time.Millisecond; now.Add(gap).Before(next) {
				now = now.Add(gap)
				m.ChildAlive(now)
				spoke, count = now, 0
				continue
			}
			now, count = next, count+1
			if want := spoke.Add(time.Duration(count) * timeout); now != want {
				t.Fatalf("failure %d is due at %v; want %v", count, now.Sub(t0), want.Sub(t0))
			}
			if got, want := m.Silent(now) != nil, count == failures; got != want {
				t.Fatalf("unhealthy is %v at failure %d of %d", got, count, failures)
			}
		}
	})
}

// Every check is in one of Summary's two counts, and what fails is named.
func TestSummaryCountsEveryCheckOfItsPhase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ready, live := checks("ready").Draw(t, "ready"), checks("live").Draw(t, "live")
		m := NewMonitor(ready, live)
		m.Start(t0)
		failing := 0
		now := at(10 * time.Millisecond)
		serving := rapid.Bool().Draw(t, "serving")
		if serving {
			m.Served(t0)
		}
		for _, id := range m.Due(now) {
			failure := rapid.SampledFrom([]string{"", "refused"}).Draw(t, "failure")
			m.Done(now, id, failure)
			phase := (int(id) >= len(ready)) == serving
			holds := failure == "" && (serving || m.Check(id).Successes == 1)
			if phase && !holds {
				failing++
			}
		}
		word, total := "ready", len(ready)
		if serving {
			word, total = "live", len(live)
		}
		want := fmt.Sprintf("%s %d/%d", word, total-failing, total)
		if total == 0 {
			want = ""
		}
		if got := m.Summary(); got != want && (failing == 0 || len(got) <= len(want) || got[:len(want)] != want) {
			t.Fatalf("summary is %q; want %q and what fails", got, want)
		}
	})
}
