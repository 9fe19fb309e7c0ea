package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Infinity is the time span that systemd writes as "infinity".
const Infinity time.Duration = math.MaxInt64

// units maps the unit words of systemd.time(7) to their length. Weeks and
// days are there because systemd has them; months and years are refused, as
// nobody means 2629800 seconds, and "M" is one slip away from "m".
var units = map[string]time.Duration{
	"us": time.Microsecond, "usec": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "msec": time.Millisecond,
	"s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// ParseDuration reads a time span as systemd.time(7) writes it ("90s",
// "1h 30min", a bare number is seconds, "infinity") or as Go does ("1h30m").
// The result is exact to the microsecond, never negative, and Infinity only
// for the word itself.
func ParseDuration(s string) (time.Duration, error) {
	rest := strings.TrimSpace(s)
	switch {
	case rest == "":
		return 0, fmt.Errorf("empty duration; write for example 90s or 1min 30s")
	case rest == "infinity":
		return Infinity, nil
	case rest[0] == '-':
		return 0, fmt.Errorf("negative duration %q; a time span is 0 or more", s)
	}
	var total time.Duration
	for rest != "" {
		number, tail := cutWhile(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		if number == "" {
			return 0, fmt.Errorf("bad duration %q: a number is missing before %q; write for example 90s or 1min 30s", s, rest)
		}
		unit, tail := cutWhile(strings.TrimLeft(tail, " \t"), func(r rune) bool {
			return r != ' ' && r != '\t' && (r < '0' || r > '9') && r != '.'
		})
		part, err := span(number, unit)
		if err != nil {
			return 0, fmt.Errorf("bad duration %q: %w", s, err)
		}
		if total > math.MaxInt64-part-1 {
			return 0, fmt.Errorf("duration %q is too long; the longest is about 292 years, or write infinity", s)
		}
		total += part
		rest = strings.TrimLeft(tail, " \t")
	}
	return total, nil
}

// span is the length of one number with its unit. Like systemd it counts in
// whole microseconds, also the tenth, the hundredth and so on of the unit
// (systemd: src/basic/time-util.c, parse_time).
func span(number, unit string) (time.Duration, error) {
	length, ok := units[unit]
	switch {
	case ok:
	case unit == "":
		length = time.Second
	case unit == "M" || strings.HasPrefix(unit, "month"):
		return 0, fmt.Errorf("a month? write 1m or 30d")
	case unit == "y" || strings.HasPrefix(unit, "year"):
		return 0, fmt.Errorf("a year? write 365d")
	case unit == "ns" || unit == "nsec":
		return 0, fmt.Errorf("nanoseconds are finer than systemd's clocks; the smallest unit is us")
	default:
		return 0, fmt.Errorf("unknown unit %q; use us, ms, s, m (or min), h, d or w", unit)
	}
	whole, fraction, hasPoint := strings.Cut(number, ".")
	if hasPoint && fraction == "" || strings.Contains(fraction, ".") {
		return 0, fmt.Errorf("%q is not a number", number)
	}
	if whole == "" {
		whole = "0"
	}
	tooLong := fmt.Errorf("%s is too long; the longest is about 292 years, or write infinity", number+unit)
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > int64(math.MaxInt64/length) {
		return 0, tooLong
	}
	total := time.Duration(n) * length
	for _, digit := range fraction {
		length = (length / 10).Truncate(time.Microsecond)
		part := time.Duration(digit-'0') * length
		if total > math.MaxInt64-part-1 {
			return 0, tooLong
		}
		total += part
	}
	return total, nil
}

// cutWhile splits s where keep first says no.
func cutWhile(s string, keep func(rune) bool) (head, tail string) {
	for i, r := range s {
		if !keep(r) {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// FormatDuration writes d as systemd reads it and a person likes it:
// "1min 30s", "250ms", "infinity". It is exact to the microsecond.
func FormatDuration(d time.Duration) string {
	if d == Infinity {
		return "infinity"
	}
	if d < time.Microsecond {
		return "0"
	}
	var parts []string
	for _, u := range []struct {
		name   string
		length time.Duration
	}{
		{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute},
		{"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond},
	} {
		if n := d / u.length; n > 0 {
			parts = append(parts, strconv.FormatInt(int64(n), 10)+u.name)
			d -= n * u.length
		}
	}
	return strings.Join(parts, " ")
}
