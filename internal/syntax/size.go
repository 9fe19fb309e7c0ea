package syntax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the suffixes of systemd's sizes, the largest first. Each is
// 1024 times the next, whatever the disk makers say.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"E", 1 << 60}, {"P", 1 << 50}, {"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1},
}

// ParseSize reads a size in bytes as systemd.resource-control(5) writes it:
// "512M", "1.5G", "1G 512M", a bare number. A fraction of a byte is cut off
// (systemd: src/basic/parse-util.c, parse_size). What is relative ("10%") or
// no number ("infinity") is the caller's.
func ParseSize(s string) (int64, error) {
	rest := strings.TrimSpace(s)
	if rest == "" {
		return 0, fmt.Errorf("empty size; write for example 512M")
	}
	var total int64
	smallest := int64(math.MaxInt64) // the units come in falling order, each once
	for rest != "" {
		number, tail := cutWhile(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })
		if number == "" {
			return 0, fmt.Errorf("bad size %q: a number is missing before %q; write for example 512M", s, rest)
		}
		suffix, tail := cutWhile(strings.TrimLeft(tail, " \t"), func(r rune) bool {
			return r != ' ' && r != '\t' && (r < '0' || r > '9') && r != '.'
		})
		unit, err := sizeUnit(suffix)
		if err != nil {
			return 0, fmt.Errorf("bad size %q: %w", s, err)
		}
		if unit >= smallest {
			return 0, fmt.Errorf("bad size %q: the units come in falling order, each once, as in 1G 512M", s)
		}
		part, err := sizePart(number, unit)
		if err != nil {
			return 0, fmt.Errorf("bad size %q: %w", s, err)
		}
		if total > math.MaxInt64-part {
			return 0, fmt.Errorf("size %q is too large; the largest is below 8E", s)
		}
		total, smallest = total+part, unit
		rest = strings.TrimLeft(tail, " \t")
	}
	return total, nil
}

// sizeUnit is the length of a suffix.
func sizeUnit(suffix string) (int64, error) {
	if suffix == "" {
		return 1, nil
	}
	for _, u := range sizeUnits {
		if u.name == suffix {
			return u.bytes, nil
		}
	}
	plain := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(suffix), "B"), "I")
	for _, u := range sizeUnits {
		if u.name == plain {
			return 0, fmt.Errorf("unknown unit %q; systemd writes %s", suffix, u.name)
		}
	}
	return 0, fmt.Errorf("unknown unit %q; use B, K, M, G, T, P or E", suffix)
}

// sizePart is the size of one number with its unit.
func sizePart(number string, unit int64) (int64, error) {
	whole, fraction, hasPoint := strings.Cut(number, ".")
	if hasPoint && fraction == "" || whole == "" || strings.Contains(fraction, ".") {
		return 0, fmt.Errorf("%q is not a number", number)
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%s is too large; the largest is below 8E", number)
	}
	part := n * unit
	if hasPoint {
		f, err := strconv.ParseFloat("0."+fraction, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", number)
		}
		part += min(int64(f*float64(unit)), unit-1) // 0.99999999999999999 rounds up to 1
	}
	return part, nil
}

// FormatSize writes a size as ParseSize reads it, exactly: in the largest unit
// of which it is a whole number.
func FormatSize(n int64) string {
	for _, u := range sizeUnits {
		if n >= u.bytes && n%u.bytes == 0 && u.bytes > 1 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
