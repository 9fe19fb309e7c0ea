package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// percentile is the smallest sample that is not below that share of all; NaN
// without samples.
func percentile[T cmp.Ordered](samples []T, percent int) (zero T, _ bool) {
	if len(samples) == 0 {
		return zero, false
	}
	sorted := slices.Sorted(slices.Values(samples))
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1], true
}

// median is NaN without samples.
func median(samples []float64) float64 {
	m, ok := percentile(samples, 50)
	if !ok {
		return math.NaN()
	}
	return m
}

// samples are the figures by metric and contender.
type samples map[string]map[string][]float64

func (s samples) add(metric, contender string, figure float64) {
	if s[metric] == nil {
		s[metric] = map[string][]float64{}
	}
	s[metric][contender] = append(s[metric][contender], figure)
}

func (s samples) median(metric, contender string) float64 { return median(s[metric][contender]) }

// figure is a number with three digits that count, or – where there is none.
func figure(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "–"
	case f == 0:
		return "0"
	case math.Abs(f) >= 99.95:
		return fmt.Sprintf("%.0f", f)
	case math.Abs(f) >= 9.995:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
