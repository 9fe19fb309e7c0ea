package watchdog

import (
	"fmt"
	"testing"
	"time"
)

// What a host that gives nobody a turn makes of checks.

// latest is the longest that an answer may take and still count.
var latest = map[time.Duration]time.Duration{
	time.Millisecond:       251 * time.Millisecond,
	100 * time.Millisecond: 350 * time.Millisecond,
	time.Second:            1250 * time.Millisecond,
	2 * time.Second:        2500 * time.Millisecond,
	10 * time.Second:       12500 * time.Millisecond,
}

func TestAnswerOfAStarvedProbeCountsNeitherWay(t *testing.T) {
	for timeout, last := range latest {
		for _, failure := range []string{"", "timeout"} {
			t.Run(fmt.Sprintf("%v %q", timeout, failure), func(t *testing.T) {
				c := probed("h:1")
				c.Interval, c.Timeout, c.Failures = time.Hour, timeout, 1
				for took, counts := range map[time.Duration]bool{timeout: true, last: true, last + 1: false, 30 * time.Minute: false} {
					m := serve(c)
					m.Due(t0)
					if got := m.Done(at(took), 0, failure); got != (counts && failure != "") {
						t.Errorf("after %v: unhealthy is %v", took, got)
					}
					if times, _ := m.Failure(0); (times == 1) != (counts && failure != "") {
						t.Errorf("after %v: %d failures", took, times)
					}
					ready := watch([]Check{c}, nil)
					ready.Due(at(10 * time.Millisecond))
					ready.Done(at(10*time.Millisecond+took), 0, failure)
					if got := ready.Ready(); got != (counts && failure == "") {
						t.Errorf("after %v: ready is %v", took, got)
					}
				}
			})
		}
	}
}

func TestStarvedProbeTakesNothingBack(t *testing.T) {
	m := serve(probed("h:1"))
	answer(t, m, t0, 0, "refused")
	answer(t, m, at(10*time.Second), 0, "refused")
	m.Due(at(20 * time.Second))
	m.Done(at(time.Minute), 0, "")
	if times, said := m.Failure(0); times != 2 || said != "refused" {
		t.Errorf("%d failures, the last %q; want the 2 from before", times, said)
	}
	if !answer(t, m, at(time.Minute), 0, "refused") {
		t.Error("the third failure was not told")
	}
}

func TestStarvedProbeIsStillEvidenceThatProbingGoesOn(t *testing.T) {
	m := serve(probed("h:1"))
	m.Due(t0)
	m.Done(at(time.Minute), 0, "timeout")
	if !m.Fresh(at(time.Minute + DefaultInterval)) {
		t.Error("not fresh, though a probe has just completed")
	}
}

func TestAPauseOfTheWholeHostIsNoSilenceOfTheChild(t *testing.T) {
	for timeout, last := range latest {
		c := spoken(timeout)
		for late, counts := range map[time.Duration]bool{timeout: true, last: true, last + 1: false, time.Hour: false} {
			m := serve(c)
			now := at(late) // what the child said may still be in the socket
			if unhealthy := m.Silent(now); (unhealthy != nil) != counts {
				t.Errorf("timeout %v, asked after %v: %v are unhealthy", timeout, late, unhealthy)
			}
			if next, _ := m.Next(); next != now.Add(timeout) {
				t.Errorf("the next failure is due %v later; want a whole timeout", next.Sub(now))
			}
		}
	}
}

func TestNewlineOnADescriptorHoldsItsCheckThroughReloads(t *testing.T) {
	fd := Check{Kind: FD, Target: "4", Interval: DefaultInterval, Timeout: DefaultTimeout, Failures: 1, Successes: 1}
	m := watch([]Check{fd, probed("h:1")}, nil)
	m.ChildReadyOn(3)
	answer(t, m, at(10*time.Millisecond), 1, "")
	if label, _ := m.Pending(); label != "fd:4" || m.Ready() {
		t.Errorf("%q is pending; want fd:4", label)
	}
	if got := m.Summary(); got != "ready 1/2, waiting for the service's newline on descriptor 4" {
		t.Errorf("summary is %q", got)
	}
	m.ChildReadyOn(4)
	if !m.Ready() {
		t.Error("not ready after the newline")
	}
	m.Served(at(time.Second))
	m.Again(at(time.Minute))
	answer(t, m, at(time.Minute+10*time.Millisecond), 1, "")
	if !m.Ready() {
		t.Error("a reload waits for a second newline, which never comes")
	}
}

func TestDescriptorClosedWithoutANewlineIsAFailureThatSaysSo(t *testing.T) {
	fd := Check{Kind: FD, Target: "4", Interval: DefaultInterval, Timeout: DefaultTimeout, Failures: 1, Successes: 1}
	m := watch([]Check{fd}, nil)
	m.ChildClosed(3)
	if _, said := m.Pending(); said != "" {
		t.Errorf("the end of another descriptor is %q", said)
	}
	m.ChildClosed(4)
	if label, said := m.Pending(); label != "fd:4" || said != "closed descriptor 4 without a newline" || m.Ready() {
		t.Errorf("pending is %s, %q", label, said)
	}
	if got := m.Summary(); got != "ready 0/1, waiting for fd:4 (closed descriptor 4 without a newline)" {
		t.Errorf("summary is %q", got)
	}
	m = watch([]Check{fd}, nil)
	m.ChildReadyOn(4)
	m.ChildClosed(4)
	if !m.Ready() {
		t.Error("the end after the newline counts")
	}
}
