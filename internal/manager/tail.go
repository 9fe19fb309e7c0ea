package manager

const (
	maxTailLines = 80
	maxTailBytes = 2 << 10
)

// tail is the last lines of a run, within both bounds.
type tail struct {
	lines []string
	bytes int
}

// add adds a line. Of one that is too long by itself the end is kept.
func (t *tail) add(line string) {
	if len(line) > maxTailBytes {
		line = line[len(line)-maxTailBytes:]
	}
	t.lines = append(t.lines, line)
	t.bytes += len(line)
	drop := 0
	for len(t.lines)-drop > maxTailLines || t.bytes > maxTailBytes {
		t.bytes -= len(t.lines[drop])
		drop++
	}
	if drop > 0 {
		t.lines = append(t.lines[:0:0], t.lines[drop:]...)
	}
}
