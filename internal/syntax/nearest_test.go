package syntax

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearestFindsWhatWasMeant(t *testing.T) {
	known := []string{"interval", "timeout", "failures", "successes", "http", "tcp"}
	for word, want := range map[string]string{
		"intervall":                    "interval",
		"intervla":                     "interval",
		"timout":                       "timeout",
		"failure":                      "failures",
		"htp":                          "http",
		"fail":                         "failures",
		"fa":                           "", // the beginning of one, and of too much else
		"tpc":                          "tcp",
		"interval":                     "interval",
		"x":                            "",
		"":                             "",
		"udp":                          "", // two of three letters
		"retries":                      "",
		"absolutely-something-else":    "",
		strings.Repeat("interval", 20): "",
	} {
		got, ok := Nearest(word, known)
		if got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", word, got, ok, want)
		}
	}
}

func TestNearestPrefersTheFirstOfEquals(t *testing.T) {
	if got, _ := Nearest("bar", []string{"bat", "", "car"}); got != "bat" {
		t.Errorf("got %q", got)
	}
	if got, ok := Nearest("bar", nil); ok || got != "" {
		t.Errorf("got %q out of nothing", got)
	}
}

func TestAnAbbreviationIsOfTheOnlyWordThatBeginsSo(t *testing.T) {
	if got, _ := Nearest("hist", []string{"list", "history"}); got != "history" {
		t.Errorf("got %q", got)
	}
	if got, _ := Nearest("hist", []string{"list", "history", "histogram"}); got != "list" {
		t.Errorf("got %q where two begin so", got)
	}
	if got, _ := Nearest("list", []string{"lists", "listen", "list"}); got != "list" {
		t.Errorf("got %q for a known word", got)
	}
}

// slowEdits is the distance by its definition.
func slowEdits(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	cost := 1
	if a[0] == b[0] {
		cost = 0
	}
	best := min(slowEdits(a[1:], b)+1, slowEdits(a, b[1:])+1, slowEdits(a[1:], b[1:])+cost)
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		best = min(best, slowEdits(a[2:], b[2:])+1)
	}
	return best
}

func TestEditDistanceIsThatOfItsDefinition(t *testing.T) {
	words := []string{""}
	for range 5 { // all words of up to five letters of two
		for _, word := range words {
			words = append(words, word+"a", word+"b")
		}
		words = unique(words)
	}
	for _, a := range words {
		for _, b := range words {
			if got, want := edits(a, b), slowEdits(a, b); got != want {
				t.Fatalf("edits(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func unique(words []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, word := range words {
		if !seen[word] && len(word) <= 5 {
			seen[word] = true
			out = append(out, word)
		}
	}
	return out
}

func TestEditDistanceIsSymmetric(t *testing.T) {
	word := rapid.StringMatching(`[a-e]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if edits(a, b) != edits(b, a) || (edits(a, b) == 0) != (a == b) {
			t.Fatalf("edits(%q, %q) = %d, the other way %d", a, b, edits(a, b), edits(b, a))
		}
	})
}
