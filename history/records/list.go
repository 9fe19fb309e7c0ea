package records

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/statefile"
)

const (
	// maxNames bounds the names that are looked at in a directory.
	maxNames = 200_000

	// maxRun bounds what counts as a run's number.
	maxRun = 999_999_999

	extension = ".json"
)

// fileName is the name of a run's record, such that names sort as runs do.
func fileName(run int) string { return fmt.Sprintf("%08d%s", run, extension) }

// runOf is the run whose record has that name; no where it is not a record's.
func runOf(name string) (int, bool) {
	run, err := strconv.Atoi(strings.TrimSuffix(name, extension))
	return run, err == nil && run >= 1 && run <= maxRun && name == fileName(run)
}

// file is the path of a run's record.
func (d *directory) file(run int) string { return filepath.Join(d.path, fileName(run)) }

// listing is what a directory holds, by the numbers of runs in rising order.
type listing struct {
	runs    []int
	corrupt []int // set aside
}

// list lists the directory; with an error, as much of it as could be seen.
func (d *directory) list() (listing, error) {
	var l listing
	err := statefile.Names(d.path, maxNames, func(name string) {
		if run, ok := runOf(name); ok {
			l.runs = append(l.runs, run)
		} else if run, ok := runOf(strings.TrimSuffix(name, statefile.Corrupt)); ok {
			l.corrupt = append(l.corrupt, run)
		}
	})
	slices.Sort(l.runs)
	slices.Sort(l.corrupt)
	return l, err
}

// last is the highest number that is taken, 0 for none.
func (l listing) last() int {
	last := 0
	for _, run := range slices.Concat(l.runs, l.corrupt) {
		last = max(last, run)
	}
	return last
}

// setAside moves a run from one list to the other.
func (l *listing) setAside(run int) {
	l.runs = slices.DeleteFunc(l.runs, func(n int) bool { return n == run })
	l.corrupt = append(l.corrupt, run)
	slices.Sort(l.corrupt)
}
