package policy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// attempts judges a series of starts.
func attempts(l Limit, times []time.Duration) []Verdict {
	var w Window
	var verdicts []Verdict
	for _, at := range times {
		var v Verdict
		w, v = w.Attempt(l, at)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// seconds reads times as "0.2 8 9.5".
func seconds(t *testing.T, s string) []time.Duration {
	var times []time.Duration
	for _, word := range strings.Fields(s) {
		d, err := syntax.ParseDuration(word)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, d)
	}
	return times
}

func TestWindowIsFixedAtItsFirstStart(t *testing.T) {
	const o, c, r = Opened, Counted, Refused
	for _, test := range []struct {
		name   string
		limit  Limit
		starts string
		want   []Verdict
	}{
		{"a sliding window would refuse 11.2", Limit{3, 10 * time.Second},
			"0.2 8 9.5 10.6 11.2 11.6 12 12.5 20 20.8", []Verdict{o, c, c, o, c, c, r, r, r, o}},
		{"the end of the window belongs to it", Limit{1, 10 * time.Second}, "0 10 10.000001", []Verdict{o, r, o}},
		{"refused starts do not move it", Limit{1, 10 * time.Second}, "0 5 9 10.1", []Verdict{o, r, r, o}},
		{"a window without end", Limit{2, syntax.Infinity}, "0 1d 365d", []Verdict{o, c, r}},
		{"no burst", Limit{0, 10 * time.Second}, "0 0 0", []Verdict{Unlimited, Unlimited, Unlimited}},
		{"no interval", Limit{3, 0}, "0 0 0 0", []Verdict{Unlimited, Unlimited, Unlimited, Unlimited}},
		{"never", Never(), "0 0", []Verdict{Unlimited, Unlimited}},
	} {
		if got := attempts(test.limit, seconds(t, test.starts)); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// TestWindowOnEveryShortSeries judges every series of six starts with gaps of
// 0 to 3 a second way: a window is the run of starts up to Within after its
// first, and start number n of one is allowed if n <= Starts.
func TestWindowOnEveryShortSeries(t *testing.T) {
	series := 1 << (2 * 6)
	for code := range series {
		times := make([]time.Duration, 6)
		var at time.Duration
		for i := range times {
			at += time.Duration(code >> (2 * i) & 3)
			times[i] = at
		}
		for starts := 1; starts <= 3; starts++ {
			for within := time.Duration(1); within <= 5; within++ {
				got := attempts(Limit{starts, within}, times)
				first := 0
				for i := range times {
					if times[i] > times[first]+within {
						first = i
					}
					if want := i-first+1 <= starts; got[i].Allowed() != want {
						t.Fatalf("starts %d within %d, at %v: start %d %v, want allowed %v", starts, within, times, i, got[i], want)
					}
				}
			}
		}
	}
}

func TestEveryVerdictSaysWhy(t *testing.T) {
	seen := map[string]bool{}
	for v := Unlimited; v <= Refused; v++ {
		if seen[v.String()] || strings.HasPrefix(v.String(), "verdict") {
			t.Errorf("verdict %d has no words of its own: %s", int(v), v)
		}
		seen[v.String()] = true
	}
	if got := Verdict(99).String(); got != "verdict 99" {
		t.Errorf("an unknown verdict is %q", got)
	}
}
