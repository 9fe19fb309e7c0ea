package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// known are figures of three contenders, one of which could not do one thing.
func known() (samples, []metric) {
	s := samples{}
	for metric, figures := range map[string]map[string][]float64{
		"start": {ours: {3, 1, 2}, tini: {1}, cFloor: {0.5}},
		"grace": {ours: {9}, cFloor: {4}},
	} {
		for name, all := range figures {
			for _, f := range all {
				s.add(metric, name, f)
			}
		}
	}
	return s, []metric{
		{key: "start", name: "start, ms", explain: "from → to", ratios: []ratio{{to: tini, limit: atMost(2)}, {to: s6, limit: atMost(1)}}},
		{key: "grace", name: "KILL, µs", explain: "later", limit: atMost(8.5), ratios: []ratio{{to: tini, in: "start"}}},
		{key: "exit", name: "never measured", explain: "-", limit: atMost(1)},
	}
}

func TestTableSetsEveryFigureBesideItsReference(t *testing.T) {
	s, metrics := known()
	var out strings.Builder
	writeTable(&out, comparison(s, metrics, []string{cFloor, tini, ours}))
	want := strings.TrimPrefix(`
                  C floor  tini  svcrun            goal
start, ms            0.50  1.00    2.00
  ÷ tini             0.50  1.00    2.00         ≤ 2 met
  ÷ s6-supervise        –     –       –  ≤ 1 not judged
KILL, µs             4.00     –    9.00    ≤ 8.5 missed
  ÷ tini             4.00     –    9.00
`, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyWhatWasMeasuredIsExplained(t *testing.T) {
	s, metrics := known()
	var out strings.Builder
	writeExplanations(&out, s, metrics)
	if diff := cmp.Diff("start, ms  from → to\nKILL, µs   later\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestGoalsWithoutAFigureAreNotMissed(t *testing.T) {
	s, metrics := known()
	if diff := cmp.Diff([]string{"KILL, µs: 9.00, at most 8.5"}, missed(s, metrics)); diff != "" {
		t.Error(diff)
	}
	metrics[0].ratios[0].limit = atMost(1.9)
	want := []string{"start, ms: 2.00 ÷ tini, at most 1.9", "KILL, µs: 9.00, at most 8.5"}
	if diff := cmp.Diff(want, missed(s, metrics)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryMetricIsExplainedAndComparedOrCounted(t *testing.T) {
	for _, m := range wrapperMetrics() {
		if m.explain == "" {
			t.Errorf("%s is not explained", m.key)
		}
		if len(m.ratios) == 0 && !m.limit.set {
			t.Errorf("%s stands beside nothing", m.key)
		}
	}
}
