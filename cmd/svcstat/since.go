package main

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/internal/verbs"
)

// sinceLayouts are the forms of a point in time, as systemd.time(7) has them.
var sinceLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02",
}

// zonedLayouts are those with a zone, which systemctl(1) prints with the weekday.
var zonedLayouts = []string{"2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST", "2006-01-02 MST"}

// parseSince reads --since: a time span before now ("2h", "-2h", "2h ago"), a
// point in time in the zone of now, or now, today and yesterday.
func parseSince(word string, now time.Time) (time.Time, error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch word {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if t, ok := parseMoment(word, now.Location()); ok {
		return t, nil
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, word); err == nil {
			return time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location()), nil
		}
	}
	span, ago := strings.CutPrefix(word, "-")
	if !ago {
		span, _ = strings.CutSuffix(word, " ago")
	}
	d, err := syntax.ParseDuration(span)
	if err != nil || d == syntax.Infinity {
		return time.Time{}, verbs.Usagef(
			"flag --since: %q is neither a time span (2h, 3d) nor a time (2026-01-31 15:04, 15:04, today, yesterday)", word)
	}
	return now.Add(-d), nil
}

// parseMoment reads a point in time: a date, maybe with its weekday before it, a
// time of day and a zone, or @ and the seconds since 1970.
func parseMoment(word string, zone *time.Location) (time.Time, bool) {
	if seconds, ok := strings.CutPrefix(word, "@"); ok {
		s, err := strconv.ParseFloat(seconds, 64)
		return time.UnixMicro(int64(math.Round(s * 1e6))), err == nil && 0 <= s && s < 1e11
	}
	if day, rest, _ := strings.Cut(word, " "); len(day) == len("Mon") {
		if _, err := time.Parse("Mon", day); err == nil {
			word = rest
		}
	}
	for _, layout := range sinceLayouts {
		if t, err := time.ParseInLocation(layout, word, zone); err == nil {
			return t, true
		}
	}
	for _, layout := range zonedLayouts {
		t, err := time.ParseInLocation(layout, word, zone)
		if err == nil && (t.Location() == zone || t.Location() == time.UTC) { // else Go knows no such zone, and makes one up
			return t, true
		}
	}
	return time.Time{}, false
}
