package e2e

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen"
)

// busy is what a busy machine adds to the slack of timers: to end svcrun and
// start it again, and to tell of it.
const busy = 800 * time.Millisecond

// startsInAStep is how many times the start and the end of a process may be on
// the way from one moment of a scenario to the next: of the service, of svcrun,
// of the manager's child before it, and of what asks the manager for something.
const startsInAStep = 4

// keeping is how late a machine may be that keeps the times of the scenarios, of
// which the shortest are a bit longer.
const keeping = 200 * time.Millisecond

// tick is what the clocks of processes may differ by, when they note one after
// the other what happened at once.
const tick = 5 * time.Millisecond

// comparison is what came of holding svcgen run against a systemd.
type comparison struct {
	behind  time.Duration            // how late the machine itself was meanwhile, from one moment to the next
	differs []string                 // in what happened
	apart   map[string]time.Duration // by how much times differ beyond that, by what they are the times of
}

// comparing begins a comparison of what happened while the slowest process took
// so long.
func comparing(slowest time.Duration) comparison {
	return comparison{behind: startsInAStep * slowest, apart: map[string]time.Duration{}}
}

func (c *comparison) differ(format string, args ...any) {
	c.differs = append(c.differs, fmt.Sprintf(format, args...))
}

// unsure says whether what differs may be the machine's doing: it was too busy
// for a service to be as far as the scenario has it when the next thing happens.
func (c *comparison) unsure() bool { return len(c.differs) > 0 && c.behind > keeping }

// merge takes what came of the same scenario once more, which is all that counts
// where it could not be told before. A difference in time that is not there every
// time was the machine's, which is busy.
func (c *comparison) merge(again comparison) {
	if len(c.differs) > 0 {
		*c = again
		return
	}
	c.behind, c.differs = again.behind, again.differs
	for what, difference := range again.apart {
		if before, known := c.apart[what]; known {
			difference = min(difference, before)
		}
		c.apart[what] = difference
	}
}

// late are the differences in time that are beyond the slack.
func (c *comparison) late() []string {
	var late []string
	for what, difference := range c.apart {
		if difference > policy.TimerSlack+busy {
			late = append(late, fmt.Sprintf("%s: apart by %v", what, difference))
		}
	}
	slices.Sort(late)
	return late
}

// largest is the largest of the differences in time.
func (c *comparison) largest() time.Duration {
	var largest time.Duration
	for _, difference := range c.apart {
		largest = max(largest, difference)
	}
	return largest
}

// compare compares what became of a service under each.
func (c *comparison) compare(unit, suffix string, rule unitgen.Restarts, systemd, run observation) {
	if systemd.final != run.final {
		c.differ("%s: in the end systemd has it %s, svcgen run %s", unit, systemd.final, run.final)
	}
	for i := range max(len(systemd.runs), len(run.runs)) {
		theirs, ours := systemd.told(i, rule.Rules), run.told(i, rule.Rules)
		if theirs != ours {
			c.differ("%s: run %d\n  systemd:    %s\n  svcgen run: %s", unit, i+1, theirs, ours)
		}
	}
	if len(c.differs) > 0 {
		return
	}
	for i := range systemd.runs {
		c.times(fmt.Sprintf("run %d%s", i+1, suffix), rule, systemd, run, i)
	}
}

// told is all that is known of run i, but for the times.
func (o observation) told(i int, rules policy.Rules) string {
	if i >= len(o.runs) {
		return "none"
	}
	return o.runs[i].text(rules) + " [" + o.lived(i) + "]"
}

// times compares how long the parts of run i took, up to the next one.
func (c *comparison) times(where string, rule unitgen.Restarts, systemd, run observation, i int) {
	ready := func(o observation) span { return exactly(between(o.executed(i), o.runs[i].ready)) }
	c.hold(where+" was ready after", ready(systemd), ready(run))
	theirs, ours := systemd.moments(i), run.moments(i)
	for n := 1; n < min(len(theirs), len(ours)); n++ {
		what := fmt.Sprintf("%s, from %s to %s", where, theirs[n-1].what, theirs[n].what)
		c.hold(what, systemd.step(theirs, n), run.step(ours, n))
	}
	if i+1 == len(systemd.runs) || systemd.runs[i+1].start != history.Automatic {
		return
	}
	least, jitter := waits(rule, systemd.runs[i+1])
	// A manager counts from when it began to look, which systemd does not tell;
	// the service's own last word came before that.
	theirLeast := between(theirs[max(0, len(theirs)-2)].at, systemd.executed(i+1))
	theirWait, ourWait := between(systemd.runs[i].ended, systemd.executed(i+1)), between(run.runs[i].ended, run.executed(i+1))
	for _, wait := range []time.Duration{theirLeast, ourWait} {
		if wait < least-tick {
			c.differ("%s: the next one came after %v, the policy has %v", where, wait, least)
		}
	}
	c.hold(where+", the wait after it", span{max(0, theirWait-jitter), theirWait}, span{max(0, ourWait-jitter), ourWait})
}

// moment is something that happens to a service in a run.
type moment struct {
	at   time.Time
	what string
}

// moments are what happens in run i, from when it is executed to its end.
func (o observation) moments(i int) []moment {
	var all []moment
	for _, l := range o.within(i) {
		all = append(all, moment{l.at, l.word})
	}
	if len(all) == 0 {
		all = append(all, moment{o.runs[i].began, "begin"})
	}
	if !o.runs[i].ended.IsZero() {
		all = append(all, moment{o.runs[i].ended, "end"})
	}
	return all
}

// span is a time that is not known any better than from the least to the most.
type span struct{ least, most time.Duration }

func exactly(d time.Duration) span { return span{d, d} }

// step is how long it took from one moment to the next. What was done from
// outside in between is what the time counts from.
func (o observation) step(moments []moment, n int) span {
	from, to := moments[n-1].at, moments[n].at
	length := exactly(between(from, to))
	for _, a := range o.acts {
		if a.begun.After(from) && a.begun.Before(to) {
			length = span{max(0, to.Sub(a.done)), to.Sub(a.begun)}
		}
	}
	return length
}

// hold holds against each other two spans of time that ought to be the same.
func (c *comparison) hold(what string, systemd, run span) {
	c.apart[what] = max(0, systemd.least-run.most-c.behind, run.least-systemd.most-c.behind)
}

// between is the time from one moment to another, if both are known.
func between(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return to.Sub(from)
}

// waits are the least that there is before a start by the policy, and how much
// jitter may make of that. Of a start that is refused the part that is svcrun's
// never comes; where svcrun has the ladder, it counts otherwise than the manager.
func waits(rule unitgen.Restarts, next run) (least, jitter time.Duration) {
	least = rule.Ladder.Delay(next.restarts)
	if next.cause.Refused() {
		return least, rule.Randomized
	}
	wait := rule.Waits.Delay(next.restarts)
	if rule.StartDelay.Ladder == (policy.Ladder{}) {
		least = wait
	}
	switch rule.StartDelay.Jitter {
	case policy.FullJitter:
		return least, wait
	case policy.QuarterJitter:
		return least, wait/4 + rule.Randomized
	}
	return least, rule.Randomized
}

// together compares what the services lived through one beside the other, and
// what they answered.
func (c *comparison) together(systemd, run play, theirs, ours map[string]observation) {
	if systemd.heard != run.heard {
		c.differ("%s: a client got %q under systemd and %q under svcgen run", systemd.staged, systemd.heard, run.heard)
	}
	if !systemd.inOrder {
		return
	}
	if theirs, ours := steps(systemd, theirs), steps(run, ours); theirs != ours {
		c.differ("%s: the order of all\n  systemd:    %s\n  svcgen run: %s", systemd.staged, theirs, ours)
	}
}

// steps are what all services of a scenario lived through.
func steps(p play, seen map[string]observation) string {
	type step struct {
		at   time.Time
		text string
	}
	var all []step
	for _, svc := range p.services {
		for _, l := range seen[svc.unit(p.staged)].lines {
			all = append(all, step{l.at, strings.TrimPrefix(svc.suffix, "-") + ":" + l.word})
		}
	}
	slices.SortStableFunc(all, func(a, b step) int { return a.at.Compare(b.at) })
	var words []string
	for _, s := range all {
		words = append(words, s.text)
	}
	return strings.Join(words, " ")
}
