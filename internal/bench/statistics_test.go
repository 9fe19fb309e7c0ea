package main

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The percentile by its definition: the smallest sample that so many percent of
// all are not above.
func TestPercentileIsTheSmallestThatCoversItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 30).Draw(t, "samples")
		percent := rapid.IntRange(1, 100).Draw(t, "percent")
		covered := func(most int) bool {
			n := 0
			for _, s := range all {
				if s <= most {
					n++
				}
			}
			return n*100 >= percent*len(all)
		}
		got, ok := percentile(all, percent)
		if !ok || !slices.Contains(all, got) || !covered(got) {
			t.Fatalf("percentile(%v, %d) = %d, %v", all, percent, got, ok)
		}
		for _, s := range all {
			if s < got && covered(s) {
				t.Fatalf("percentile(%v, %d) = %d, but %d covers that share too", all, percent, got, s)
			}
		}
	})
}

func TestNoSamplesHaveNoMedian(t *testing.T) {
	if m := median(nil); !math.IsNaN(m) {
		t.Errorf("the median of nothing is %v", m)
	}
	if m := (samples{}).median("start", "tini"); !math.IsNaN(m) {
		t.Errorf("the median of what was not measured is %v", m)
	}
}

func TestFiguresHaveThreeDigitsThatCount(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 0.004: "0.00", 0.1234: "0.12", 9.994: "9.99", 9.996: "10.0", 99.94: "99.9", 99.96: "100", 1234.5: "1234",
		math.Inf(1): "–",
	} {
		if got := figure(f); got != want {
			t.Errorf("figure(%v) = %q, want %q", f, got, want)
		}
	}
	if got := figure(math.NaN()); got != "–" {
		t.Errorf("no figure is %q", got)
	}
}
