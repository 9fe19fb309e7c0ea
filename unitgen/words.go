package unitgen

import (
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen/unit"
)

// about writes a time span as people say it: three digits below two minutes,
// whole seconds above. It is for comments and messages, never for directives.
func about(d time.Duration) string {
	switch {
	case d == syntax.Infinity:
		return "infinity"
	case d < time.Millisecond:
		return strconv.FormatInt(d.Microseconds(), 10) + "us"
	case d < time.Second:
		return trimZeros(strconv.FormatFloat(d.Seconds()*1000, 'f', 1, 64)) + "ms"
	case d < 10*time.Second:
		return trimZeros(strconv.FormatFloat(d.Seconds(), 'f', 2, 64)) + "s"
	case d < 2*time.Minute:
		return trimZeros(strconv.FormatFloat(d.Seconds(), 'f', 1, 64)) + "s"
	}
	return syntax.FormatDuration(d.Round(time.Second))
}

// atMost writes a bound, rounded up so that it still is one.
func atMost(d time.Duration) string {
	if d < 2*time.Minute {
		return about(roundUp(d, 100*time.Millisecond))
	}
	return about(roundUp(d, time.Second))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// roundUp rounds up to a multiple of grain.
func roundUp(d, grain time.Duration) time.Duration {
	if d > syntax.Infinity-grain {
		return d
	}
	return (d + grain - 1) / grain * grain
}

// maxRungs is how many of a ladder's delays are written out.
const maxRungs = 10

// ladderText is the delays of a ladder: "1s, 2s, 4s, then 8s".
func ladderText(l policy.Ladder) string {
	if !l.Grows() {
		return about(l.Base) + " each"
	}
	var rungs []string
	for k := 1; k <= min(l.Steps, maxRungs); k++ {
		rungs = append(rungs, about(l.Delay(k)))
	}
	if l.Steps > maxRungs {
		rungs = append(rungs, "... ("+strconv.Itoa(l.Steps)+" in all)")
	}
	return strings.Join(rungs, ", ") + ", then " + about(l.Longest())
}

// plural is "1 restart" or "5 restarts".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// compact is a time span as a flag likes it: exact, without blanks.
func compact(d time.Duration) string {
	return strings.ReplaceAll(syntax.FormatDuration(d), " ", "")
}

// exact is a time span as a directive has it.
func exact(d time.Duration) unit.Value { return unit.Value(syntax.FormatDuration(d)) }
