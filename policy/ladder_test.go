package policy

import (
	"bufio"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
)

// usec writes expectations as systemd's own logs would: in microseconds.
func usec(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

func TestDelaysEqualTheManagers(t *testing.T) {
	ms := int64(1000)
	for _, test := range []struct {
		name   string
		ladder Ladder
		want   []int64
	}{
		{"1s to 60s in 5", Ladder{time.Second, time.Minute, 5},
			[]int64{1000 * ms, 2267933, 5143520, 11665161, 26455806, 60000 * ms, 60000 * ms}},
		{"100ms to 30s in 8", Ladder{100 * time.Millisecond, 30 * time.Second, 8},
			[]int64{100 * ms, 204004, 416179, 849024, 1732050, 3533464, 7208434, 14705544, 30000 * ms, 30000 * ms}},
		{"5s to 300s in 3", Ladder{5 * time.Second, 5 * time.Minute, 3},
			[]int64{5000 * ms, 19574338, 76630943, 300000 * ms, 300000 * ms}},
		{"1s to 8s in 3", Ladder{time.Second, 8 * time.Second, 3},
			[]int64{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 8000 * ms}},
		{"the fifth power of two falls short by the rounding of a long double", Ladder{time.Second, 64 * time.Second, 6},
			[]int64{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms, 31999999, 64000 * ms}},
		{"no steps", Ladder{time.Second, time.Minute, 0}, []int64{1000 * ms, 1000 * ms}},
		{"base at the cap", Ladder{time.Minute, time.Minute, 6}, []int64{60000 * ms, 60000 * ms}},
		{"base above the cap", Ladder{2 * time.Minute, time.Minute, 6}, []int64{120000 * ms, 120000 * ms}},
		{"base 0 turns the ladder off", Ladder{0, time.Minute, 6}, []int64{0, 0, 0}},
		{"no cap", Ladder{time.Second, syntax.Infinity, 6}, []int64{1000 * ms, 1000 * ms}},
		{"flat", Flat(3 * time.Second), []int64{3000 * ms, 3000 * ms}},
	} {
		for i, got := range test.ladder.Delays(len(test.want)) {
			if got != usec(test.want[i]) {
				t.Errorf("%s: restart %d waits %s, want %s", test.name, i+1, got, usec(test.want[i]))
			}
		}
	}
}

func TestDelaysEqualThoseOfGlibcsLongDoubles(t *testing.T) {
	file, err := os.Open("testdata/longdouble.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if strings.HasPrefix(scanner.Text(), "#") {
			continue
		}
		var base, top, want int64
		var steps, k int
		if _, err := fmt.Sscan(scanner.Text(), &base, &top, &steps, &k, &want); err != nil {
			t.Fatal(err)
		}
		lines++
		if got := (Ladder{usec(base), usec(top), steps}).Delay(k); got != usec(want) {
			t.Errorf("base %d cap %d steps %d: restart %d waits %s, want %s", base, top, steps, k, got, usec(want))
		}
	}
	if lines < 400 {
		t.Errorf("only %d lines read", lines)
	}
}

// ladders draws ladders as wide as the policy's bounds are.
func ladders(t *rapid.T) Ladder {
	base := rapid.Int64Range(1, 1e11).Draw(t, "base")
	top := base + rapid.Int64Range(0, 1e13).Draw(t, "more")
	return Ladder{usec(base), usec(top), rapid.IntRange(0, 60).Draw(t, "steps")}
}

// isRoot says whether a wait is the n-th root of base^(n-i) * cap^i without its
// fraction, in whole numbers: wait^n <= that < (wait+1)^n. Where the root is so
// near to a whole number that a long double cannot tell, both are right.
func isRoot(l Ladder, k int, wait time.Duration) bool {
	n, i := int64(l.Steps), int64(k-1)
	raised := func(d time.Duration, to int64) *big.Int {
		return new(big.Int).Exp(big.NewInt(d.Microseconds()), big.NewInt(to), nil)
	}
	power := new(big.Int).Mul(raised(l.Base, n-i), raised(l.Cap, i))
	// Five roundings to 64 bits, one of them of the exponent, are less than 2^-58.
	doubt := new(big.Int).Rsh(new(big.Int).Mul(power, big.NewInt(n)), 58)
	low, high := new(big.Int).Sub(power, doubt), new(big.Int).Add(power, doubt)
	return raised(wait, n).Cmp(high) <= 0 && raised(wait+time.Microsecond, n).Cmp(low) >= 0
}

func TestDelayIsTheTruncatedRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ladders(t)
		if !l.Grows() {
			t.Skip("flat")
		}
		k := rapid.IntRange(1, l.Steps).Draw(t, "k")
		if got := l.Delay(k); !isRoot(l, k, got) {
			t.Fatalf("restart %d waits %s, which is not the root", k, got)
		}
	})
}

func TestEveryDelayOfAThousandRandomLaddersIsTheTruncatedRoot(t *testing.T) {
	random := rand.New(rand.NewPCG(254, 262))
	for range 1000 {
		base := 1 + random.Int64N(1e9)
		l := Ladder{usec(base), usec(base + 1 + random.Int64N(1e12)), 1 + random.IntN(30)}
		for k := 1; k <= l.Steps+1; k++ {
			if got := l.Delay(k); !isRoot(l, k, got) {
				t.Errorf("%+v: restart %d waits %s, which is not the root", l, k, got)
			}
		}
	}
}

func TestLadderNeverGoesDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := ladders(t)
		var sum time.Duration
		for k := 1; k <= l.Steps+3; k++ {
			if l.Delay(k) > l.Delay(k+1) {
				t.Fatalf("restart %d waits %s, restart %d %s", k, l.Delay(k), k+1, l.Delay(k+1))
			}
			sum += l.Delay(k)
			if got := l.Sum(k); got != sum {
				t.Fatalf("Sum(%d) is %s, want %s", k, got, sum)
			}
		}
		if l.Longest() != l.Delay(l.Steps+1000) {
			t.Fatalf("Longest is %s, but restart %d waits %s", l.Longest(), l.Steps+1000, l.Delay(l.Steps+1000))
		}
	})
}

func TestSumSaturates(t *testing.T) {
	year := 365 * 24 * time.Hour
	if got := Flat(year).Sum(1_000_000); got != syntax.Infinity {
		t.Errorf("a million years are %s", got)
	}
	if got := (Ladder{year, 200 * year, 100}).Sum(100); got != syntax.Infinity {
		t.Errorf("a ladder of years sums up to %s", got)
	}
	if got := Flat(0).Sum(5); got != 0 {
		t.Errorf("no wait five times is %s", got)
	}
}

func BenchmarkDelay(b *testing.B) {
	for _, bench := range []struct {
		name   string
		ladder Ladder
	}{{"estimated", Ladder{time.Second, time.Minute, 6}}, {"exact", Ladder{time.Second, 64 * time.Second, 6}}} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				bench.ladder.Delay(4)
			}
		})
	}
}
