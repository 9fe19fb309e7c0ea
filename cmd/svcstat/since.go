package main

import (
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/internal/verbs"
)

// sinceLayouts are the forms of a point in time, as systemd.time(7) has them.
var sinceLayouts = []string{
	time.RFC3339, "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02",
}

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
	for _, layout := range sinceLayouts {
		if t, err := time.ParseInLocation(layout, word, now.Location()); err == nil {
			return t, nil
		}
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
