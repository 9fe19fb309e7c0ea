package unitgen

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

func TestSpansInWords(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0us": 0, "1us": time.Microsecond, "999us": 999 * time.Microsecond, "1.5ms": 1500 * time.Microsecond,
		"250ms": 250 * time.Millisecond, "1s": time.Second, "1.98s": 1978602 * time.Microsecond, "32s": 31999999 * time.Microsecond,
		"10s": 10 * time.Second, "15.3s": 15326 * time.Millisecond, "100s": 100 * time.Second, "119.9s": 119900 * time.Millisecond,
		"2min": 2 * time.Minute, "2min 3s": 123250 * time.Millisecond, "1h 30min": 90 * time.Minute, "infinity": syntax.Infinity,
	} {
		if got := about(d); got != want {
			t.Errorf("%s is written %s, want %s", d, got, want)
		}
	}
}

func TestABoundIsNeverRoundedDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(10*time.Hour)).Draw(t, "d"))
		told, err := syntax.ParseDuration(atMost(d))
		if err != nil || told < d || told > d+time.Second {
			t.Fatalf("%s is told as %s, %v", d, atMost(d), err)
		}
	})
}

func TestLaddersInWords(t *testing.T) {
	s := time.Second
	for want, l := range map[string]policy.Ladder{
		"3s each": policy.Flat(3 * s),
		"1s, 1.98s, 3.91s, 7.75s, 15.3s, 30.3s, then 60s": {Base: s, Cap: 60 * s, Steps: 6},
		"1s, then 60s": {Base: s, Cap: 60 * s, Steps: 1},
		"1s, 2s, 4s, 8s, 16s, 32s, 64s, 2min 8s, 4min 16s, 8min 32s, ... (12 in all), then 1h 8min 16s": {Base: s, Cap: 4096 * s, Steps: 12},
	} {
		if got := ladderText(l); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
