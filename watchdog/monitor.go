package watchdog

import (
	"fmt"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

const (
	// firstProbe is when a starting service is probed first.
	firstProbe = 10 * time.Millisecond

	// readyShare is the part of the time waited so far after which a ready check
	// is probed again: READY=1 comes at most a twelfth later than it could. Live
	// checks, which count for nothing yet, are probed again after all of it.
	readyShare = 12
)

// leastStarved is how much later than asked a busy host may run a timer.
const leastStarved = 250 * time.Millisecond

// ID names a check within its Monitor: the ready checks in their order, then
// the live ones.
type ID int

// Monitor holds what is known of every check. It is not safe for use by
// several goroutines: the loop that owns the service owns it.
type Monitor struct {
	checks   []*state
	serving  bool      // from readiness on: ready checks rest, failures of live ones count
	servedAt time.Time // meaningful while serving
	stopped  bool
}

// state is what is known of one check.
type state struct {
	Check
	ready bool // a ready check; otherwise a live one

	out     bool      // a probe is out (never of a kind that is spoken)
	stale   bool      // the probe that is out was begun before Again: its answer is void
	since   time.Time // when the wait for readiness began
	started time.Time // when the last probe began
	due     time.Time // when the next may begin; of Kind Notify, when its silence is a failure

	holding   bool      // successes reached their threshold, and no failure since
	successes int       // in a row
	failures  int       // in a row
	failure   string    // what the last failed probe said; "" after one that passed
	completed time.Time // when a probe last ended, passed or failed
}

// NewMonitor prepares to watch; nothing is due before Start.
func NewMonitor(ready, live []Check) *Monitor {
	m := &Monitor{stopped: true}
	for _, c := range ready {
		m.checks = append(m.checks, &state{Check: c, ready: true})
	}
	for _, c := range live {
		m.checks = append(m.checks, &state{Check: c})
	}
	return m
}

// Start begins to watch a service that has just been started.
func (m *Monitor) Start(now time.Time) {
	m.stopped = false
	for _, s := range m.checks {
		s.since, s.due = now, now.Add(min(firstProbe, s.Interval))
		if s.Kind == Notify {
			s.due = now.Add(s.Timeout)
		}
	}
}

// Served says that the service is ready: the ready checks rest, and from now
// on failures of live checks count.
func (m *Monitor) Served(now time.Time) {
	m.serving, m.servedAt = true, now
	for _, s := range m.checks {
		s.failures, s.failure = 0, ""
		if s.ready {
			continue
		}
		if s.Kind == Notify {
			s.due = now.Add(s.Timeout)
			continue
		}
		s.due = later(now, s.started.Add(s.Interval))
	}
}

// Again asks the ready checks anew: a reload is over when each has passed a
// fresh probe. What was written to a descriptor is written once and holds on.
func (m *Monitor) Again(now time.Time) {
	m.serving = false
	for _, s := range m.checks {
		if s.ready && s.Kind != FD {
			s.holding, s.successes, s.stale = false, 0, s.out
			s.since, s.due = now, now.Add(min(firstProbe, s.Interval))
		}
	}
}

// Stop ends the watch: nothing is due any more.
func (m *Monitor) Stop() { m.stopped = true }

// Due returns the checks whose probe begins now, and takes them for begun.
func (m *Monitor) Due(now time.Time) []ID {
	var due []ID
	for id, s := range m.checks {
		if !m.probes(s) || s.out || now.Before(s.due) {
			continue
		}
		s.out, s.started = true, now
		s.due = now.Add(m.pace(s, now))
		due = append(due, ID(id))
	}
	return due
}

// pace is the time between the starts of a check's probe that begins now and
// its next one.
func (m *Monitor) pace(s *state, now time.Time) time.Duration {
	waited := now.Sub(s.since)
	switch {
	case s.ready:
		waited /= readyShare
	case m.serving:
		return s.Interval
	}
	return min(max(waited, firstProbe), s.Interval)
}

// probes says whether a check is one that is probed at present.
func (m *Monitor) probes(s *state) bool {
	return !m.stopped && !s.Kind.Spoken() && (!s.ready || !m.serving)
}

// listens says whether silence of the child counts against a check now.
func (m *Monitor) listens(s *state) bool {
	return !m.stopped && s.Kind == Notify && !s.ready && m.serving
}

// Next is when Due or Silent have something to say again, if ever.
func (m *Monitor) Next() (time.Time, bool) {
	var next time.Time
	for _, s := range m.checks {
		waits := m.probes(s) && !s.out || m.listens(s)
		if waits && (next.IsZero() || s.due.Before(next)) {
			next = s.due
		}
	}
	return next, !next.IsZero()
}

// Done takes a probe's answer: failure is empty where the check holds, else
// what to tell of it. It returns true when the answer made a live check
// unhealthy; once per threshold reached.
func (m *Monitor) Done(now time.Time, id ID, failure string) bool {
	s := m.checks[id]
	void := s.stale || s.out && starved(now.Sub(s.started), s.Timeout)
	s.out, s.stale, s.completed = false, false, now
	s.due = later(s.due, now)
	return !void && m.count(s, failure)
}

// Unknown takes an answer that says nothing of the service, only that nobody can
// know. Before readiness the check does not hold; of a service that serves it
// counts neither way: what svcrun may not see must not be the end of it.
func (m *Monitor) Unknown(now time.Time, id ID, said string) {
	s := m.checks[id]
	failures := s.failures
	m.Done(now, id, said)
	if m.serving && !s.ready {
		s.failures = failures
	}
}

// starved says whether what was to take asked at most has taken so much more
// that the host cannot have given this process, nor then the service, its
// turn. Such an answer tells of the host and counts neither way.
func starved(took, asked time.Duration) bool {
	return took-asked > max(leastStarved, asked/4)
}

// count applies the thresholds.
func (m *Monitor) count(s *state, failure string) bool {
	s.failure = failure
	if failure == "" {
		s.failures = 0
		s.successes++
		s.holding = s.successes >= s.Successes
		return false
	}
	s.successes, s.holding = 0, false
	s.failures++
	return !s.ready && m.serving && s.failures == s.Failures
}

// Silent counts the live notify checks whose child has kept silent for the
// whole of their timeout, and returns those that thereby became unhealthy.
// Asked far too late it counts nothing: when the whole host stood still, the
// child could not speak either.
func (m *Monitor) Silent(now time.Time) []ID {
	var unhealthy []ID
	for id, s := range m.checks {
		if !m.listens(s) || now.Before(s.due) {
			continue
		}
		late := now.Sub(s.due)
		s.completed, s.due = now, now.Add(s.Timeout)
		if starved(s.Timeout+late, s.Timeout) {
			continue
		}
		if m.count(s, "no WATCHDOG=1 within "+syntax.FormatDuration(s.Timeout)) {
			unhealthy = append(unhealthy, ID(id))
		}
	}
	return unhealthy
}

// ChildReady takes the child's READY=1 for the notify ready checks.
func (m *Monitor) ChildReady() {
	for _, s := range m.checks {
		if s.Kind == Notify && s.ready {
			s.holding = true
		}
	}
}

// ChildReadyOn takes the newline that the child wrote to a descriptor for the
// fd ready checks.
func (m *Monitor) ChildReadyOn(descriptor int) {
	for _, s := range m.checks {
		if fd, err := s.Descriptor(); s.Kind == FD && err == nil && fd == descriptor {
			s.holding = true
		}
	}
}

// ChildClosed takes the end of a descriptor to which no newline was written, for
// the fd ready checks: they can hold no more.
func (m *Monitor) ChildClosed(descriptor int) {
	for _, s := range m.checks {
		if fd, err := s.Descriptor(); s.Kind == FD && err == nil && fd == descriptor && !s.holding {
			s.failures, s.failure = 1, fmt.Sprintf("closed descriptor %d without a newline", descriptor)
		}
	}
}

// ChildAlive takes the child's WATCHDOG=1 for the notify live checks.
func (m *Monitor) ChildAlive(now time.Time) {
	for _, s := range m.checks {
		if s.Kind == Notify && !s.ready {
			s.completed, s.due = now, now.Add(s.Timeout)
			m.count(s, "")
		}
	}
}

// SetChildTimeout takes the child's WATCHDOG_USEC= for the notify live checks.
// It is bounded below as an interval is: to wait for microseconds would keep
// svcrun busy with nothing else.
func (m *Monitor) SetChildTimeout(now time.Time, timeout time.Duration) {
	if timeout <= 0 {
		return
	}
	timeout = max(timeout, minInterval)
	for _, s := range m.checks {
		if s.Kind == Notify && !s.ready {
			s.Timeout, s.due = timeout, now.Add(timeout)
		}
	}
}

// Ready says whether every ready check holds at once.
func (m *Monitor) Ready() bool {
	for _, s := range m.checks {
		if s.ready && !s.holding {
			return false
		}
	}
	return true
}

// Health is what the live checks say together.
type Health int

// What they can say.
const (
	Passing Health = iota // none has failed when it was last asked
	Failing               // one has, and none to its threshold
	Broken                // one has failed to its threshold
)

// Health is that of the check that is worst off.
func (m *Monitor) Health() Health {
	health := Passing
	for _, s := range m.checks {
		switch {
		case s.ready || s.failures == 0:
		case s.failures >= s.Failures:
			return Broken
		default:
			health = Failing
		}
	}
	return health
}

// Fresh says whether a heartbeat may go out: every live check has completed a
// probe within its interval and timeout. What a failed probe means is decided
// at the threshold, not here.
func (m *Monitor) Fresh(now time.Time) bool {
	for _, s := range m.checks {
		if s.ready || s.Kind.Spoken() {
			continue
		}
		if now.Sub(later(m.servedAt, s.completed)) > s.Interval+s.Timeout {
			return false
		}
	}
	return true
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
