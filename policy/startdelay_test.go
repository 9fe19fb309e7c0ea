package policy

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
)

// noRandom fails a test that draws where there is nothing to draw.
func noRandom(int64) int64 { panic("random drawn without jitter") }

func mustStartDelay(t testing.TB, s string) StartDelay {
	t.Helper()
	d, err := ParseStartDelay(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStartIsHeldBackAfterFailedRunsOnly(t *testing.T) {
	const now = 1000 * time.Second
	full := "base=1s,cap=8s,steps=3,storm=5/30s/60s"
	burst := func(n int) Series { return Series{Failures: n, EndedAt: now, Score: whole(n)} }
	for _, test := range []struct {
		name, spec   string
		series       Series
		random       Random
		pause, delay time.Duration
		why          string
	}{
		{"nothing has failed", full, Series{}, noRandom, 0, 0, "not held back"},
		{"after a clean end an old moment says nothing", full, Series{EndedAt: now}, noRandom, 0, 0, "not held back"},
		{"the first restart waits base", full, burst(1), noRandom, 0, time.Second, "restart 1: 1s"},
		{"the fourth is at the cap", full, burst(4), noRandom, 0, 8 * time.Second, "restart 4: 8s"},
		{"what the manager has waited counts", full, Series{Failures: 4, EndedAt: now - 100*time.Millisecond}, noRandom,
			0, 7900 * time.Millisecond, "restart 4: 8s, of which 100ms have passed"},
		{"all of it", full, Series{Failures: 4, EndedAt: now - 9*time.Second}, noRandom, 0, 0, "restart 4: 8s, all of it passed"},
		{"the clock went backwards", full, Series{Failures: 4, EndedAt: now + time.Hour}, noRandom, 0, 8 * time.Second, "restart 4: 8s"},
		{"the storm's pause comes on top", full, burst(5), noRandom, time.Minute, 8 * time.Second,
			"storm: failure score 5 of 5, pause 1min; restart 5: 8s"},
		{"a pause is not shortened by what has passed", full, Series{Failures: 9, EndedAt: now - 2*time.Second, Score: 5.456 * trillion}, noRandom,
			time.Minute, 6 * time.Second, "storm: failure score 5.45 of 5, pause 1min; restart 9: 8s, of which 2s have passed"},
		{"a score just short", full, Series{Failures: 9, EndedAt: now, Score: whole(4)}, noRandom, 0, 8 * time.Second, "restart 9: 8s"},
		{"a storm alone", "storm=5/30s/60s", burst(5), noRandom, time.Minute, 0, "storm: failure score 5 of 5, pause 1min"},
		{"a storm alone, calm", "storm=5/30s/60s", burst(4), noRandom, 0, 0, "not held back"},
		{"at most a quarter more", "base=8s,jitter=25%,storm=1/1s/60s", burst(1), Most, 75 * time.Second, 10 * time.Second,
			"storm: failure score 1 of 1, pause 1min 15s with 25% jitter; restart 1: 10s with 25% jitter"},
		{"at least nothing more", "base=8s,jitter=25%,storm=1/1s/60s", burst(1), Least, time.Minute, 8 * time.Second,
			"storm: failure score 1 of 1, pause 1min with 25% jitter; restart 1: 8s with 25% jitter"},
		{"full: all of it", "base=8s,jitter=full,storm=1/1s/60s", burst(1), Most, time.Minute, 8 * time.Second,
			"storm: failure score 1 of 1, pause 1min with full jitter; restart 1: 8s with full jitter"},
		{"full: nothing at all", "base=8s,jitter=full,storm=1/1s/60s", burst(1), Least, 0, 0,
			"storm: failure score 1 of 1, pause 0 with full jitter"},
		{"full is drawn of the whole wait, then time counts", "base=8s,jitter=full", Series{Failures: 1, EndedAt: now - time.Second}, Most,
			0, 7 * time.Second, "restart 1: 8s with full jitter, of which 1s have passed"},
		{"a wait of microseconds is told whole", "base=1ms,jitter=full", burst(1), func(int64) int64 { return 7 }, 0, 7 * time.Microsecond,
			"restart 1: 7us with full jitter"},
	} {
		held, _ := mustStartDelay(t, test.spec).Hold(test.series, now, test.random)
		if held.Pause != test.pause || held.Delay != test.delay || held.Total() != test.pause+test.delay || held.String() != test.why {
			t.Errorf("%s: pause %s, delay %s (%s)\nwant pause %s, delay %s (%s)",
				test.name, held.Pause, held.Delay, held, test.pause, test.delay, test.why)
		}
	}
}

func TestPauseResetsTheScoreAndNothingElse(t *testing.T) {
	d := mustStartDelay(t, "base=1s,storm=5/30s/60s")
	series := Series{Failures: 7, EndedAt: time.Hour, Score: whole(6)}
	_, after := d.Hold(series, time.Hour, noRandom)
	if want := (Series{Failures: 7, EndedAt: time.Hour}); after != want {
		t.Errorf("after a pause %+v is left, want %+v", after, want)
	}
	series.Score = whole(4)
	if _, after := d.Hold(series, time.Hour, noRandom); after != series {
		t.Errorf("without a pause %+v is left, want %+v", after, series)
	}
}

// startDelays draws start delays within the bounds of the flag.
func startDelays(t *rapid.T) StartDelay {
	span := func(name string) time.Duration {
		return usec(rapid.Int64Range(minSpan.Microseconds(), maxSpan.Microseconds()).Draw(t, name))
	}
	var d StartDelay
	if rapid.Bool().Draw(t, "ladder") {
		base := span("base")
		d.Ladder = Ladder{base, max(base, span("cap")), rapid.IntRange(0, 60).Draw(t, "steps")}
	}
	if d.Ladder.Base == 0 || rapid.Bool().Draw(t, "storm") {
		d.Storm = Storm{rapid.IntRange(1, maxStormFailures).Draw(t, "failures"), span("half-life"), span("pause")}
	}
	d.Jitter = Jitter(rapid.IntRange(int(NoJitter), int(FullJitter)).Draw(t, "jitter"))
	return d
}

func TestHoldKeepsWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := startDelays(t)
		series := Series{
			Failures: rapid.IntRange(1, 100).Draw(t, "failures in a row"),
			EndedAt:  usec(rapid.Int64Range(0, 1e12).Draw(t, "ended")),
			Score:    Score(rapid.Int64Range(0, int64(maxScore)).Draw(t, "score")),
		}
		now := series.EndedAt + usec(rapid.Int64Range(-1e12, 1e12).Draw(t, "passed"))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)).Int64N
		held, after := d.Hold(series, now, random)

		wait := d.Ladder.Delay(series.Failures)
		within := func(name string, got, nominal time.Duration) {
			low, high := nominal, nominal
			switch d.Jitter {
			case NoJitter:
			case QuarterJitter:
				high += nominal / 4
			case FullJitter:
				low = 0
			}
			if got < low || got > high || got%time.Microsecond != 0 {
				t.Fatalf("%s is %s, want %s to %s", name, got, low, high)
			}
		}
		within("wait", held.Wait, wait)
		if held.Threshold > 0 {
			within("pause", held.Pause, d.Storm.Pause)
		} else if held.Pause != 0 || after.Score != series.Score {
			t.Fatalf("no storm, but a pause of %s and a score from %s to %s", held.Pause, series.Score, after.Score)
		}
		if want := max(0, held.Wait-max(0, now-series.EndedAt)); held.Delay != want {
			t.Fatalf("delay %s, want %s", held.Delay, want)
		}
		if held.Total() > d.Longest() {
			t.Fatalf("held back %s, which is more than %s", held.Total(), d.Longest())
		}
	})
}

func TestMoreFailuresNeverWaitLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := startDelays(t)
		last := time.Duration(0)
		for k := 1; k <= d.Ladder.Steps+2; k++ {
			held, _ := d.Hold(Series{Failures: k}, 0, Most)
			if held.Wait < last {
				t.Fatalf("restart %d waits %s, the one before %s", k, held.Wait, last)
			}
			last = held.Wait
		}
	})
}

// TestLongestIsReached holds both parts of the longest delay at once.
func TestLongestIsReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := startDelays(t)
		held, _ := d.Hold(Series{Failures: maxFailures, Score: maxScore}, 0, Most)
		if held.Total() != d.Longest() {
			t.Fatalf("held back %s at most, Longest says %s", held.Total(), d.Longest())
		}
	})
}

func TestQuarterJitterIsExactlyAQuarterAndFullIsAll(t *testing.T) {
	for us := int64(0); us < 2000; us++ {
		wait := usec(us)
		if got := QuarterJitter.of(wait, Most); got != usec(us+us/4) {
			t.Fatalf("%s with a quarter is %s at most", wait, got)
		}
		if got := FullJitter.of(wait, Most); got != wait {
			t.Fatalf("full jitter of %s is %s at most", wait, got)
		}
		if NoJitter.of(wait, noRandom) != wait || QuarterJitter.of(wait, Least) != wait || FullJitter.of(wait, Least) != 0 {
			t.Fatalf("the least of %s is wrong", wait)
		}
	}
}

// TestJitterTakesEveryMicrosecondAlike draws until each of few values has come
// up often, and none twice as often as it should.
func TestJitterTakesEveryMicrosecondAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)).Int64N
	counts := make([]int, 11)
	const draws = 110_000
	for range draws {
		counts[FullJitter.of(usec(10), random).Microseconds()]++
	}
	for value, n := range counts {
		if want := draws / len(counts); n < want*9/10 || n > want*11/10 {
			t.Errorf("%dus came up %d times of %d, want about %d", value, n, draws, want)
		}
	}
}

func TestScoreHalvesWithEachHalfLife(t *testing.T) {
	for halves := range 20 {
		if got, want := whole(1024).after(time.Duration(halves)*30*time.Second, 30*time.Second), Score(1024*trillion)>>halves; got != want {
			t.Errorf("after %d half-lives 1024 is %s, want %s", halves, got, want)
		}
	}
	if got := maxScore.after(syntax.Infinity, time.Millisecond); got != 0 {
		t.Errorf("after all time the score is still %s", got)
	}
}

func TestElapsedTimeIsNeverNegative(t *testing.T) {
	const first, last = time.Duration(math.MinInt64), time.Duration(math.MaxInt64)
	for _, test := range []struct{ from, to, want time.Duration }{
		{0, 0, 0},
		{0, 1999, 1000},
		{time.Hour, 0, 0},
		{-time.Second, time.Second, 2 * time.Second},
		{first, last, syntax.Infinity},
		{-1, last, syntax.Infinity},
		{last, first, 0},
		{first, 0, syntax.Infinity},
	} {
		if got := elapsed(test.from, test.to); got != test.want {
			t.Errorf("from %d to %d there are %d, want %d", test.from, test.to, got, test.want)
		}
	}
}

// powerOfTwo is 2^x for x <= 0 in 200 bits, by the series of e^y.
func powerOfTwo(x *big.Rat) *big.Float {
	const enough = 200
	ln2, _, _ := big.ParseFloat("0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687", 10, enough, big.ToNearestEven)
	y := new(big.Float).SetPrec(enough).SetRat(x)
	y.Mul(y, ln2)
	y.Quo(y, big.NewFloat(1<<20)) // small enough for the series, squared back below
	sum, term := big.NewFloat(1).SetPrec(enough), big.NewFloat(1).SetPrec(enough)
	for i := 1; i < 20; i++ {
		term.Mul(term, y)
		term.Quo(term, big.NewFloat(float64(i)))
		sum.Add(sum, term)
	}
	for range 20 {
		sum.Mul(sum, sum)
	}
	return sum
}

// TestPauseComesAtThePredictedFailure fails in a regular rhythm and compares
// with the sum of the geometric series: after n failures with a gap of g, the
// score is (1-q^n)/(1-q), where q = 2^(-g/half-life).
func TestPauseComesAtThePredictedFailure(t *testing.T) {
	reached, never := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		halfLife := rapid.Int64Range(1000, 1e11).Draw(t, "half-life")
		gap := int64(rapid.Float64Range(0.001, 2).Draw(t, "gap in half-lives") * float64(halfLife))
		storm := Storm{rapid.IntRange(1, 40).Draw(t, "failures"), usec(halfLife), time.Minute}
		d := StartDelay{Storm: storm}

		q := powerOfTwo(big.NewRat(-gap, halfLife))
		score, threshold := big.NewFloat(0).SetPrec(200), big.NewFloat(float64(storm.Failures-1))
		var series Series
		for n := 1; n <= 200; n++ {
			score.Add(score.Mul(score, q), big.NewFloat(1))
			series = series.Failed(usec(int64(n)*gap), storm)
			var held Held
			held, series = d.Hold(series, usec(int64(n)*gap), noRandom)
			over, _ := new(big.Float).Sub(score, threshold).Float64()
			if math.Abs(over) < float64(n)*2e-12 && over != 0 {
				t.Skip("too near to call")
			}
			if paused := held.Pause > 0; paused != (over > 0) {
				t.Fatalf("failure %d: paused %v, the score is %g over the threshold", n, paused, over)
			}
			if over > 0 {
				reached++
				return
			}
		}
		never++
	})
	if reached == 0 || never == 0 {
		t.Errorf("%d rhythms led to a pause, %d did not: one of the two was not tried", reached, never)
	}
}

func TestStormTable(t *testing.T) {
	for _, test := range []struct {
		name string
		spec string
		gap  time.Duration
		want int // the failure that brings the pause; 0 for none
	}{
		{"five at once", "storm=5/30s/60s", 0, 5},
		{"a second apart", "storm=5/30s/60s", time.Second, 5},
		{"ten seconds apart, the eighth", "storm=5/30s/60s", 10 * time.Second, 8},
		{"a half-life apart, never quite two", "storm=3/30s/60s", 30 * time.Second, 0},
		{"a microsecond less than a half-life", "storm=3/1s/60s", time.Second - time.Microsecond, 21},
		{"every one", "storm=1/30s/60s", time.Hour, 1},
	} {
		d := mustStartDelay(t, test.spec)
		var series Series
		got := 0
		for n := 1; n <= 1000 && got == 0; n++ {
			at := time.Duration(n) * test.gap
			var held Held
			if held, series = d.Hold(series.Failed(at, d.Storm), at, noRandom); held.Pause > 0 {
				got = n
			}
		}
		if got != test.want {
			t.Errorf("%s: the pause comes at failure %d, want %d", test.name, got, test.want)
		}
	}
}

// FuzzSeries takes whatever a file may hold: nothing overflows, nothing is
// negative, and what comes out survives JSON.
func FuzzSeries(f *testing.F) {
	f.Add("base=1s,cap=60s,steps=6,jitter=25%,storm=5/30s/60s", 3, int64(5e9), int64(2e12), int64(6e9))
	f.Add("base=7d,jitter=full,storm=1000/1ms/7d", math.MaxInt, int64(math.MinInt64), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Add("storm=1000/7d/7d", math.MaxInt, int64(0), int64(math.MaxInt64), int64(0))
	f.Add("storm=1/7d/7d", math.MinInt, int64(math.MaxInt64), int64(math.MinInt64), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, spec string, failures int, ended, score, now int64) {
		d, err := ParseStartDelay(spec)
		if err != nil {
			t.Skip()
		}
		series := Series{failures, time.Duration(ended), Score(score)}
		for range 3 {
			series = series.Failed(time.Duration(now), d.Storm)
			if series.Failures < 1 || series.Score < 0 || series.Score > maxScore {
				t.Fatalf("after a failure: %+v", series)
			}
			var held Held
			held, series = d.Hold(series, time.Duration(now), Most)
			if held.Pause < 0 || held.Delay < 0 || held.Wait < held.Delay || held.Total() > d.Longest() {
				t.Fatalf("%+v", held)
			}
			_ = held.String()
			text, err := json.Marshal(series)
			if err != nil {
				t.Fatal(err)
			}
			var back Series
			if err := json.Unmarshal(text, &back); err != nil || back != series {
				t.Fatalf("%+v is written %s and read back as %+v, %v", series, text, back, err)
			}
		}
	})
}
