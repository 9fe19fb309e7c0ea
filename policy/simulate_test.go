package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
)

// fails is a run that ends with code 1 after a while.
func fails(lasts time.Duration) Run {
	return Run{lasts, End{Result: ExitCode, Main: Exit{How: Exited, Code: 1}}}
}

// exits is a run that ends with a code.
func exits(lasts time.Duration, code int) Run {
	main := Exit{How: Exited, Code: code}
	return Run{lasts, End{Result: Rules{}.Result(main), Main: main}}
}

// told writes starts as a person would note them: when each was attempted, how
// long svcrun held it back, and what came after it.
func told(starts []Start) string {
	var lines []string
	for _, s := range starts {
		line := fmt.Sprintf("%d at %s", s.Number, about(s.At))
		switch {
		case !s.Verdict.Allowed():
			line += ": " + s.Verdict.String()
		default:
			if s.Held.Total() > 0 {
				line += fmt.Sprintf(" held %s", about(s.Held.Total()))
			}
			line += fmt.Sprintf(", ended at %s", about(s.Ended))
			if s.Next.Restart {
				line += fmt.Sprintf(", waits %s", about(s.Wait))
			} else {
				line += ", no restart: " + s.Next.Why
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestSimulationTellsTheStory(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	onFailure := Rules{Restart: RestartOnFailure, Prevent: Statuses{Codes: []int{78}}}
	ladder := Ladder{s, 8 * s, 3}
	svcrun := StartDelay{Ladder: ladder}
	for _, test := range []struct {
		name     string
		restarts Restarts
		script   []Run
		want     string
	}{
		{
			"the ladder up to the limit, which refuses the start after",
			Restarts{Rules: onFailure, Ladder: ladder, Limit: Limit{3, time.Hour}},
			[]Run{fails(0), fails(0), fails(0), fails(0), fails(0)},
			`1 at 0, ended at 0, waits 1s
2 at 1s, ended at 1s, waits 2s
3 at 3s, ended at 3s, waits 4s
4 at 7s: start limit hit`,
		},
		{
			"svcrun's ladder: the attempt comes before its wait, in which the manager's counts",
			Restarts{Rules: onFailure, Ladder: Flat(100 * ms), Limit: Limit{4, time.Hour}, StartDelay: svcrun},
			[]Run{fails(0), fails(0), fails(0), fails(0), fails(0)},
			`1 at 0, ended at 0, waits 100ms
2 at 100ms held 900ms, ended at 1s, waits 100ms
3 at 1s 100ms held 1s 900ms, ended at 3s, waits 100ms
4 at 3s 100ms held 3s 900ms, ended at 7s, waits 100ms
5 at 7s 100ms: start limit hit`,
		},
		{
			"a storm's pause comes on top, once",
			Restarts{Rules: onFailure, Ladder: Flat(100 * ms), StartDelay: StartDelay{Storm: Storm{3, 7 * 24 * time.Hour, time.Minute}}},
			[]Run{fails(0), fails(0), fails(0), fails(0), exits(s, 0)},
			`1 at 0, ended at 0, waits 100ms
2 at 100ms, ended at 100ms, waits 100ms
3 at 200ms, ended at 200ms, waits 100ms
4 at 300ms held 1min, ended at 1min 300ms, waits 100ms
5 at 1min 400ms, ended at 1min 1s 400ms, no restart: Restart=on-failure, result success`,
		},
		{
			"an exit code that prevents",
			Restarts{Rules: onFailure, Ladder: Flat(s)},
			[]Run{fails(0), exits(0, 78), fails(0)},
			`1 at 0, ended at 0, waits 1s
2 at 1s, ended at 1s, no restart: RestartPreventExitStatus= has exit code 78`,
		},
		{
			"without stable_after a long run forgets nothing",
			Restarts{Rules: onFailure, Ladder: ladder},
			[]Run{fails(0), fails(0), fails(time.Hour), fails(0)},
			`1 at 0, ended at 0, waits 1s
2 at 1s, ended at 1s, waits 2s
3 at 3s, ended at 1h 3s, waits 4s
4 at 1h 7s, ended at 1h 7s, waits 8s`,
		},
		{
			"RESTART_RESET forgets the restarts, not the window",
			Restarts{Rules: onFailure, Ladder: ladder, Limit: Limit{3, 24 * time.Hour}, Stable: Stable{10 * time.Minute, RestartReset}},
			[]Run{fails(0), fails(0), fails(10 * time.Minute), fails(0), fails(0)},
			`1 at 0, ended at 0, waits 1s
2 at 1s, ended at 1s, waits 2s
3 at 3s, ended at 10min 3s, waits 1s
4 at 10min 4s: start limit hit`,
		},
		{
			"reset-failed forgets both",
			Restarts{Rules: onFailure, Ladder: ladder, Limit: Limit{3, 24 * time.Hour}, Stable: Stable{10 * time.Minute, ResetFailed}},
			[]Run{fails(0), fails(0), fails(10 * time.Minute), fails(0), fails(0), fails(0), fails(0)},
			`1 at 0, ended at 0, waits 1s
2 at 1s, ended at 1s, waits 2s
3 at 3s, ended at 10min 3s, waits 1s
4 at 10min 4s, ended at 10min 4s, waits 2s
5 at 10min 6s, ended at 10min 6s, waits 4s
6 at 10min 10s, ended at 10min 10s, waits 8s
7 at 10min 18s: start limit hit`,
		},
		{
			"just short of stable is not stable; svcrun's own memory is cleared without the manager's",
			Restarts{Rules: onFailure, Ladder: Flat(100 * ms), StartDelay: svcrun, Stable: Stable{After: 10 * s}},
			[]Run{fails(0), fails(10*s - 1), fails(10 * s), fails(0)},
			`1 at 0, ended at 0, waits 100ms
2 at 100ms held 900ms, ended at 11s, waits 100ms
3 at 11s 100ms held 1s 900ms, ended at 23s, waits 100ms
4 at 23s 100ms held 900ms, ended at 24s, waits 100ms`,
		},
		{
			"a clean end clears svcrun's memory, and counts in the manager's ladder",
			Restarts{Rules: Rules{Restart: RestartAlways}, Ladder: ladder, StartDelay: StartDelay{Ladder: Flat(5 * s)}},
			[]Run{fails(0), exits(0, 0), exits(0, 0)},
			`1 at 0, ended at 0, waits 1s
2 at 1s held 4s, ended at 5s, waits 2s
3 at 7s, ended at 7s, waits 4s`,
		},
		{
			"a stop ends it",
			Restarts{Rules: Rules{Restart: RestartAlways}, Ladder: ladder},
			[]Run{{s, End{Result: Success, Stopped: true}}, fails(0)},
			`1 at 0, ended at 1s, no restart: a stop was asked for`,
		},
		{
			"RestartSec=infinity parks it",
			Restarts{Rules: onFailure, Ladder: Flat(syntax.Infinity)},
			[]Run{fails(0), fails(0)},
			`1 at 0, ended at 0, waits infinity`,
		},
	} {
		got := told(slices.Collect(test.restarts.Simulate(slices.Values(test.script), Conditions{})))
		if got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, test.want)
		}
	}
}

func TestLateTimersAndJitterAddUpToTheirBounds(t *testing.T) {
	r := Restarts{
		Rules:  Rules{Restart: RestartAlways},
		Ladder: Ladder{time.Second, 8 * time.Second, 3}, Randomized: 4 * time.Second,
	}
	for k, start := range slices.Collect(r.Simulate(slices.Values(slices.Repeat([]Run{fails(0)}, 6)), Conditions{Most, Most})) {
		if want := r.Ladder.Delay(k+1) + 4*time.Second - time.Microsecond + TimerSlack; start.Wait != want {
			t.Errorf("restart %d waits %s, want %s", k+1, start.Wait, want)
		}
	}
}

func TestSimulationEndsWhenNobodyListens(t *testing.T) {
	r := Restarts{Rules: Rules{Restart: RestartAlways}, Ladder: Flat(time.Second)}
	n := 0
	for range r.Simulate(Always(fails(0)), Conditions{}) {
		if n++; n == 10 {
			break
		}
	}
	if n != 10 {
		t.Errorf("%d starts, want 10", n)
	}
}

// restartsDrawn draws a service that always fails alike, small enough for each
// kind of outlook to come up.
func restartsDrawn(t *rapid.T) (Restarts, Run) {
	ms := func(name string, from, to int64) time.Duration {
		return time.Duration(rapid.Int64Range(from, to).Draw(t, name)) * time.Millisecond
	}
	base := ms("base", 1, 3000)
	r := Restarts{
		Rules:  Rules{Restart: RestartOnFailure},
		Ladder: Ladder{base, base + ms("more", 0, 10000), rapid.IntRange(0, 5).Draw(t, "steps")},
		Limit:  Limit{Starts: rapid.IntRange(1, 8).Draw(t, "starts")},
	}
	if rapid.Bool().Draw(t, "randomized") {
		r.Randomized = ms("randomized by", 1, 300)
	}
	if rapid.Bool().Draw(t, "start delay") {
		r.StartDelay = StartDelay{r.Ladder, Jitter(rapid.IntRange(0, 2).Draw(t, "jitter")), Storm{}}
		r.Ladder = Flat(100 * time.Millisecond)
		if rapid.Bool().Draw(t, "storm") {
			r.StartDelay.Storm = Storm{rapid.IntRange(1, 4).Draw(t, "failures"), ms("half-life", 1, 5000), ms("pause", 1, 5000)}
		}
	}
	if rapid.Bool().Draw(t, "stable") {
		r.Stable = Stable{ms("stable after", 1, 2000), Forget(rapid.IntRange(0, 2).Draw(t, "forget"))}
	}
	run := fails(ms("run", 0, 2000))
	// Most windows are near to what the starts take, where it matters.
	r.Limit.Within = time.Duration(float64(r.Ladder.Sum(r.Limit.Starts)+time.Duration(r.Limit.Starts)*run.Lasts) *
		rapid.Float64Range(0.8, 1.5).Draw(t, "window"))
	return r, run
}

// TestOutlookHoldsWhateverTheTimersDo runs each service under random timers
// and jitter: a sure limit trips at its start each time, an impossible one
// never, and of a doubtful one both ends are shown where they are exact.
func TestOutlookHoldsWhateverTheTimersDo(t *testing.T) {
	seen := map[Odds]int{}
	rapid.Check(t, func(t *rapid.T) {
		r, run := restartsDrawn(t)
		outlook := r.Outlook(run)
		seen[outlook.Odds]++
		refused := func(c Conditions, starts int) int {
			for start := range r.Simulate(Always(run), c) {
				switch {
				case !start.Verdict.Allowed():
					return start.Number
				case start.Number == starts:
					return 0
				}
			}
			return 0
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		chance := func(n int64) int64 { // the ends come up often
			return min(n-1, max(0, random.Int64N(3*n)-n))
		}
		for _, c := range []Conditions{{Least, Least}, {Most, Most}, {Least, Most}, {Most, Least}, {chance, chance}, {chance, Least}, {chance, chance}} {
			got := refused(c, 4*r.Limit.Starts)
			switch {
			case outlook.Odds == Trips && got != outlook.Start, outlook.Odds == NeverTrips && got != 0,
				outlook.Odds == MayTrip && got != 0 && got < outlook.Start:
				t.Fatalf("start %d is refused; the outlook: %+v", got, outlook)
			}
		}
		if outlook.Odds == MayTrip && !r.StartDelay.Storm.Enabled() {
			first, last := refused(Conditions{Least, Least}, outlook.Start), refused(Conditions{Most, Most}, outlook.Start)
			if first != outlook.Start || last != 0 {
				t.Fatalf("in doubt, but at the earliest start %d is refused, at the latest %d; the outlook: %+v", first, last, outlook)
			}
		}
	})
	for _, odds := range []Odds{NeverTrips, MayTrip, Trips} {
		if seen[odds] == 0 {
			t.Errorf("odds %d never came up: %v", odds, seen)
		}
	}
}

// TestFarStartsAreReckonedAsTheyAreSimulated compares with the simulation of
// every start up to it.
func TestFarStartsAreReckonedAsTheyAreSimulated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, run := restartsDrawn(t)
		r.Limit, r.StartDelay.Storm = Never(), Storm{}
		number := rapid.IntRange(1, 60).Draw(t, "start")
		for _, c := range []Conditions{{Least, Least}, {Most, Most}} {
			for start := range r.Simulate(Always(run), c) {
				if start.Number == number {
					if got := r.attempt(number, run, c); got != start.At {
						t.Fatalf("start %d comes at %s, reckoned at %s", number, start.At, got)
					}
					break
				}
			}
		}
	})
}

// TestOutlookAgreesWithTheSmallestWindow compares with what the generator
// derives windows from.
func TestOutlookAgreesWithTheSmallestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ladders(t)
		starts := rapid.IntRange(1, 40).Draw(t, "starts")
		outlook := func(within time.Duration) Odds {
			r := Restarts{Rules: Rules{Restart: RestartOnFailure}, Ladder: l, Limit: Limit{starts, within}}
			return r.Outlook(fails(0)).Odds
		}
		smallest, sum := l.SmallestWithin(starts), l.Sum(starts)
		if got := outlook(smallest); got != Trips {
			t.Fatalf("at the smallest window the odds are %d", got)
		}
		if got := outlook(smallest - time.Microsecond); got != MayTrip {
			t.Fatalf("below the smallest window the odds are %d", got)
		}
		if got := outlook(sum); got != MayTrip {
			t.Fatalf("in as much as the waits, the odds are %d", got)
		}
		if got := outlook(sum - time.Microsecond); got != NeverTrips {
			t.Fatalf("in less than the waits, the odds are %d", got)
		}
	})
}

func TestOutlookSaysWhy(t *testing.T) {
	onFailure := Rules{Restart: RestartOnFailure}
	storm := func(failures int) Storm { return Storm{failures, 7 * 24 * time.Hour, time.Minute} }
	for _, test := range []struct {
		name     string
		restarts Restarts
		run      Run
		odds     Odds
		start    int
		why      string
	}{
		{"systemd's defaults", Restarts{Rules: onFailure, Ladder: Flat(100 * time.Millisecond), Limit: Limit{5, 10 * time.Second}}, fails(0),
			Trips, 6, "5 restarts take 1s 750ms at most, within the window of 10s"},
		{"with RestartSec=2", Restarts{Rules: onFailure, Ladder: Flat(2 * time.Second), Limit: Limit{5, 10 * time.Second}}, fails(0),
			MayTrip, 6, "5 restarts take 10s to 11s 250ms, the window is 10s: late timers and jitter decide"},
		{"with RestartSec=2 and any run time", Restarts{Rules: onFailure, Ladder: Flat(2 * time.Second), Limit: Limit{5, 10 * time.Second}},
			fails(time.Millisecond), NeverTrips, 0, "5 restarts take 10s 5ms at least, more than the window of 10s"},
		{"no limit", Restarts{Rules: onFailure, Ladder: Flat(time.Second)}, fails(0), NeverTrips, 0, "no start limit"},
		{"a clean end", Restarts{Rules: onFailure, Ladder: Flat(time.Second), Limit: Limit{1, time.Hour}}, exits(0, 0),
			NeverTrips, 0, "no restart: Restart=on-failure, result success"},
		{"one restart", Restarts{Rules: onFailure, Ladder: Flat(time.Second), Limit: Limit{1, time.Hour}}, fails(0),
			Trips, 2, "1 restart takes 1s 250ms at most, within the window of 1h"},
		{"the window is emptied by each run",
			Restarts{Rules: onFailure, Ladder: Flat(time.Second), Limit: Limit{5, time.Hour}, Stable: Stable{time.Minute, ResetFailed}},
			fails(time.Minute), NeverTrips, 0, "each run lasts the 1min after which reset-failed empties the window"},
		{"RESTART_RESET leaves it",
			Restarts{Rules: onFailure, Ladder: Flat(time.Second), Limit: Limit{5, time.Hour}, Stable: Stable{time.Minute, RestartReset}},
			fails(time.Minute), Trips, 6, "5 restarts take 5min 6s 250ms at most, within the window of 1h"},
		{"parked", Restarts{Rules: onFailure, Ladder: Flat(syntax.Infinity), Limit: Limit{5, syntax.Infinity}}, fails(0),
			NeverTrips, 0, "the manager waits for ever before a restart"},
		{"a window without end", Restarts{Rules: onFailure, Ladder: Flat(time.Hour), Limit: Limit{5, syntax.Infinity}}, fails(0),
			Trips, 6, "5 restarts take 5h 1s 250ms at most, within the window of infinity"},
		{"svcrun's wait is after the attempt", Restarts{
			Rules: onFailure, Ladder: Flat(100 * time.Millisecond), Limit: Limit{2, 10 * time.Second}, StartDelay: StartDelay{Ladder: Flat(time.Minute)},
		}, fails(0), NeverTrips, 0, "2 restarts take 1min 100ms at least, more than the window of 10s"},
		{"of one restart it is not even a part", Restarts{
			Rules: onFailure, Ladder: Flat(100 * time.Millisecond), Limit: Limit{1, 10 * time.Second}, StartDelay: StartDelay{Ladder: Flat(time.Minute)},
		}, fails(0), Trips, 2, "1 restart takes 350ms at most, within the window of 10s"},
		{"a storm's pause may be left out", Restarts{
			Rules: onFailure, Ladder: Flat(100 * time.Millisecond), Limit: Limit{4, 30 * time.Second}, StartDelay: StartDelay{Storm: storm(2)},
		}, fails(0), MayTrip, 5, "4 restarts take 400ms to 1min 1s 400ms, the window is 30s: late timers and jitter decide"},
		{"the pause after the last attempt is none of it", Restarts{
			Rules: onFailure, Ladder: Flat(100 * time.Millisecond), Limit: Limit{3, 30 * time.Second}, StartDelay: StartDelay{Storm: storm(3)},
		}, fails(0), Trips, 4, "3 restarts take 1s 50ms at most, within the window of 30s"},
	} {
		got := test.restarts.Outlook(test.run)
		if got.Odds != test.odds || got.Start != test.start || got.Why != test.why {
			t.Errorf("%s: odds %d, start %d, %s\nwant odds %d, start %d, %s", test.name, got.Odds, got.Start, got.Why, test.odds, test.start, test.why)
		}
	}
}
