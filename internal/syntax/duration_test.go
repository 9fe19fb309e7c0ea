package syntax

import (
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDurationsOfBothGrammarsAreRead(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0":              0,
		"90":             90 * time.Second,
		"90s":            90 * time.Second,
		" 90s ":          90 * time.Second,
		"1min 30s":       90 * time.Second,
		"1min30s":        90 * time.Second,
		"1m30s":          90 * time.Second,
		"1 h\t30 min":    90 * time.Minute,
		"1h30m":          90 * time.Minute,
		"5 5":            10 * time.Second,
		"1.5s":           1500 * time.Millisecond,
		".5s":            500 * time.Millisecond,
		"250ms":          250 * time.Millisecond,
		"1us 1usec 1µs":  3 * time.Microsecond,
		"1μs":            time.Microsecond, // the Greek letter, not the sign
		"0.0000019s":     time.Microsecond,
		"1.999999999h":   7199999991 * time.Microsecond, // as systemd-analyze says
		"1d 1hr":         25 * time.Hour,
		"2weeks":         14 * 24 * time.Hour,
		"106751d 23h":    (106751*24 + 23) * time.Hour,
		"infinity":       Infinity,
		"00012s":         12 * time.Second,
		"9223372036s":    9223372036 * time.Second,
		"1second 2hours": 2*time.Hour + time.Second,
	} {
		got, err := ParseDuration(text)
		if err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestBadDurationsAreRefusedWithTheCure(t *testing.T) {
	for text, want := range map[string]string{
		"":            `empty duration; write for example 90s or 1min 30s`,
		"  ":          `empty duration; write for example 90s or 1min 30s`,
		"-5s":         `negative duration "-5s"; a time span is 0 or more`,
		"1M":          `bad duration "1M": a month? write 1m or 30d`,
		"2months":     `bad duration "2months": a month? write 1m or 30d`,
		"1y":          `bad duration "1y": a year? write 365d`,
		"5ns":         `bad duration "5ns": nanoseconds are finer than systemd's clocks; the smallest unit is us`,
		"5x":          `bad duration "5x": unknown unit "x"; use us, ms, s, m (or min), h, d or w`,
		"5S":          `bad duration "5S": unknown unit "S"; use us, ms, s, m (or min), h, d or w`,
		"s":           `bad duration "s": a number is missing before "s"; write for example 90s or 1min 30s`,
		"5s -1s":      `bad duration "5s -1s": a number is missing before "-1s"; write for example 90s or 1min 30s`,
		"1.2.3":       `bad duration "1.2.3": "1.2.3" is not a number`,
		"5.":          `bad duration "5.": "5." is not a number`,
		".":           `bad duration ".": "." is not a number`,
		"300y":        `bad duration "300y": a year? write 365d`,
		"106752d":     `bad duration "106752d": 106752d is too long; the longest is about 292 years, or write infinity`,
		"106751.999d": `bad duration "106751.999d": 106751.999d is too long; the longest is about 292 years, or write infinity`,
		"106751d 24h": `duration "106751d 24h" is too long; the longest is about 292 years, or write infinity`,
		"1infinity":   `bad duration "1infinity": unknown unit "infinity"; use us, ms, s, m (or min), h, d or w`,
	} {
		if _, err := ParseDuration(text); err == nil || err.Error() != want {
			t.Errorf("ParseDuration(%q):\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestDurationsArePrintedForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                          "0",
		time.Nanosecond:            "0",
		-time.Second:               "0",
		time.Microsecond:           "1us",
		250 * time.Millisecond:     "250ms",
		1500 * time.Millisecond:    "1s 500ms",
		90 * time.Second:           "1min 30s",
		25*time.Hour + time.Second: "1d 1h 1s",
		Infinity:                   "infinity",
		Infinity - 1:               "106751d 23h 47min 16s 854ms 775us",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", int64(d), got, want)
		}
	}
}

// anyDuration draws from all magnitudes, not only the huge ones.
func anyDuration(t *rapid.T) time.Duration {
	bits := rapid.IntRange(1, 63).Draw(t, "bits")
	d := time.Duration(rapid.Int64Range(0, math.MaxInt64>>(63-bits)).Draw(t, "ns"))
	return d.Truncate(time.Microsecond)
}

func TestWhatFormatDurationPrintsIsReadBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDuration(t)
		for _, text := range []string{FormatDuration(d), strings.ReplaceAll(FormatDuration(d), " ", "")} {
			if got, err := ParseDuration(text); err != nil || got != d {
				t.Fatalf("%d printed as %q is read as %d, %v", d, text, got, err)
			}
		}
	})
}

func TestGoDurationsAreReadAsGoReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyDuration(t)
		if got, err := ParseDuration(d.String()); err != nil || got != d {
			t.Fatalf("%q is read as %v, %v", d.String(), got, err)
		}
	})
}

// spans draws a time span as people write them, of units that both we and
// systemd read.
func spans(t *rapid.T) string {
	number := rapid.StringMatching(`[0-9]{1,4}(\.[0-9]{1,9})?`)
	unit := rapid.SampledFrom([]string{
		"", "us", "usec", "µs", "ms", "msec", "s", "sec", "second", "seconds", "m", "min", "minute",
		"minutes", "h", "hr", "hour", "hours", "d", "day", "days", "w", "week", "weeks",
	})
	var parts []string
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		blank := rapid.SampledFrom([]string{"", " "}).Draw(t, "blank")
		parts = append(parts, number.Draw(t, "number")+blank+unit.Draw(t, "unit"))
	}
	return strings.Join(parts, " ")
}

func TestDurationsAreReadAsSystemdReadsThem(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here: durations are not compared with systemd's own parser")
	}
	var texts []string
	for seed := range 300 {
		texts = append(texts, rapid.Custom(spans).Example(seed))
	}
	out, err := exec.Command(analyze, append([]string{"timespan", "--"}, texts...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("systemd-analyze timespan: %v\n%s", err, out)
	}
	answers := regexp.MustCompile(`(?m)^ *[μu]s: (\d+)$`).FindAllSubmatch(out, -1)
	if len(answers) != len(texts) {
		t.Fatalf("%d answers to %d spans", len(answers), len(texts))
	}
	for i, text := range texts {
		want, err := strconv.ParseInt(string(answers[i][1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseDuration(text); err != nil || got.Microseconds() != want {
			t.Errorf("ParseDuration(%q) = %dus, %v; systemd says %dus", text, got.Microseconds(), err, want)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"90s", "1h 30min", "1h30m", "infinity", "1M", ".5s", "5.", "106751d 23h 47min 16s 854ms 775us", "-1", "1µs"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			checkError(t, err)
			return
		}
		if d < 0 || d != Infinity && d%time.Microsecond != 0 {
			t.Fatalf("%q is read as %d", text, d)
		}
		if again, err := ParseDuration(FormatDuration(d)); err != nil || again != d {
			t.Fatalf("%q is read as %v, then as %v, %v", text, d, again, err)
		}
	})
}

// checkError holds an error to the house's form: lower case, no full stop.
func checkError(t *testing.T, err error) {
	t.Helper()
	text := err.Error()
	if text == "" || strings.HasSuffix(text, ".") || text[0] >= 'A' && text[0] <= 'Z' {
		t.Fatalf("the error is not in the form of the house: %s", fmt.Sprintf("%q", text))
	}
}
