package syntax

// Nearest finds the known word that a mistyped one most likely meant. It
// answers no rather than guess wildly: at most a third of the letters may
// differ, or one of a short word, and a tie goes to the first.
func Nearest(word string, known []string) (string, bool) {
	if len(word) > maxWord {
		return "", false
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
