package syntax

import "strings"

// Nearest finds the known word that a mistyped one most likely meant: the only
// one that it is the beginning of, else the one that differs least. It answers no
// rather than guess wildly: at most a third of the letters may differ, or one of a
// short word, and a tie goes to the first.
func Nearest(word string, known []string) (string, bool) {
	if len(word) > maxWord {
		return "", false
	}
	if whole, ok := completed(word, known); ok {
		return whole, true
	}
	best, distance := "", len(word)/3+2
	for _, candidate := range known {
		if candidate == "" {
			continue
		}
		if d := edits(word, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	if distance >= len(word) || distance > max(1, len(word)/3) {
		return "", false
	}
	return best, best != ""
}

// minBeginning is how much of a word has to be there, in bytes, to be taken for an
// abbreviation of it.
const minBeginning = 3

// completed finds the only known word that begins so.
func completed(beginning string, known []string) (whole string, ok bool) {
	if len(beginning) < minBeginning {
		return "", false
	}
	for _, candidate := range known {
		switch {
		case !strings.HasPrefix(candidate, beginning) || candidate == whole:
		case ok:
			return "", false
		default:
			whole, ok = candidate, true
		}
	}
	return whole, ok
}

// maxWord bounds the work for one word, in bytes; no word of ours is longer.
const maxWord = 64

// edits is the optimal string alignment distance: insertions, deletions,
// substitutions, and swaps of neighbours, which is how people mistype.
func edits(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
