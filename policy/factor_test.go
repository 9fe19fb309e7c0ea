package policy

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestStepsForLandsOnExactPowers(t *testing.T) {
	for _, test := range []struct {
		base, top time.Duration
		factor    string
		want      int
	}{
		{time.Second, 64 * time.Second, "2", 6},
		{time.Second, 60 * time.Second, "2", 6},
		{time.Second, 65 * time.Second, "2", 7},
		{time.Second, time.Second, "2", 0},
		{time.Second, time.Second + time.Microsecond, "2", 1},
		{time.Second, 1210 * time.Millisecond, "1.1", 2},
		{time.Second, 2890 * time.Millisecond, "1.7", 2},
		{time.Second, 1331 * time.Millisecond, "1.1", 3},
		{100 * time.Millisecond, 100 * time.Second, "10", 3},
		{time.Second, 243 * time.Second, "3", 5},
		{time.Second, time.Hour, "1000", 2},
		{time.Microsecond, 365 * 24 * time.Hour, "1.01", 3124},
	} {
		factor, err := ParseFactor(test.factor)
		if err != nil {
			t.Fatal(err)
		}
		if got := StepsFor(test.base, test.top, factor); got != test.want {
			t.Errorf("from %s to %s by %s: %d steps, want %d", test.base, test.top, test.factor, got, test.want)
		}
	}
}

func TestStepsForEqualsTheLogarithm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(1, 1e9).Draw(t, "base")
		top := base + rapid.Int64Range(0, 1e12).Draw(t, "more")
		factor := Factor(rapid.IntRange(int(minFactor), 20_000).Draw(t, "factor"))
		exact := math.Log(float64(top)/float64(base)) / math.Log(float64(factor)/1000)
		got := StepsFor(usec(base), usec(top), factor)
		near := math.Abs(exact-math.Round(exact)) < 1e-9
		if want := int(math.Ceil(exact)); got != want && !(near && got == int(math.Round(exact))) {
			t.Fatalf("%d steps, want %d (%g)", got, want, exact)
		}
	})
}

func TestNoWaitExceedsTheLastByMoreThanTheFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(1e5, 1e8).Draw(t, "base")
		top := base + rapid.Int64Range(0, 1e11).Draw(t, "more")
		factor := Factor(rapid.IntRange(1100, 10_000).Draw(t, "factor"))
		l := Ladder{usec(base), usec(top), StepsFor(usec(base), usec(top), factor)}
		for k := 1; k <= l.Steps; k++ {
			ratio := float64(l.Delay(k+1)) / float64(l.Delay(k))
			if ratio > float64(factor)/1000*(1+1e-4) {
				t.Fatalf("restart %d waits %s, the next %s: more than %s times", k, l.Delay(k), l.Delay(k+1), factor)
			}
		}
	})
}

func TestFactorIsReadBackUnchanged(t *testing.T) {
	for f := minFactor; f <= maxFactor; f += 7 {
		if got, err := ParseFactor(f.String()); err != nil || got != f {
			t.Fatalf("%d is written %s and read back as %d, %v", int(f), f, int(got), err)
		}
	}
}

func TestBadFactorsAreRefusedWithTheCure(t *testing.T) {
	for text, want := range map[string]string{
		"": "write a number such as 2", "x": "write a number", "2x": "write a number", "1.": "write a number",
		".5": "write a number", "-2": "write a number", "+2": "write a number", "1e3": "write a number",
		"2.0001": "three digits", "1": "out of range", "0": "out of range", "1.001": "out of range",
		"1000.001": "out of range", "99999999999999999999": "write a number", "1.5.5": "write a number",
	} {
		if f, err := ParseFactor(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("factor %q: got %v, %v; want an error with %q", text, f, err, want)
		}
	}
}
