package main

import (
	"fmt"
	"math"
)

// limit is a goal: the most that svcrun's own figure, or ratio, may be. The
// zero value is none.
type limit struct {
	most float64
	set  bool
}

func atMost(most float64) limit { return limit{most: most, set: true} }

// met says whether the goal is; without a figure it is not.
func (l limit) met(figure float64) bool { return figure <= l.most }

// judge is what the table says of the goal.
func (l limit) judge(figure float64) string {
	word := "missed"
	switch {
	case !l.set:
		return ""
	case math.IsNaN(figure):
		word = "not judged"
	case l.met(figure):
		word = "met"
	}
	return fmt.Sprintf("≤ %v %s", l.most, word)
}

// missed names the goals that there are figures for and that are not met, as
// they are read: "exit: 2.40 ÷ C floor, at most 2.2".
func missed(s samples, metrics []metric) (all []string) {
	for _, m := range metrics {
		own := s.median(m.key, ours)
		if m.limit.set && own > m.limit.most {
			all = append(all, fmt.Sprintf("%s: %s, at most %v", m.name, figure(own), m.limit.most))
		}
		for _, r := range m.ratios {
			if ratio := own / s.median(r.reference(m), r.to); r.limit.set && ratio > r.limit.most {
				all = append(all, fmt.Sprintf("%s: %s ÷ %s, at most %v", m.name, figure(ratio), r.to, r.limit.most))
			}
		}
	}
	return all
}
