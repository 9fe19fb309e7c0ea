package manager

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/timeline"
)

// printed is a process's output without the process.
type printed struct {
	*output
	mu    sync.Mutex
	lines []string
}

func newPrinted(t *testing.T) *printed {
	t.Helper()
	p := &printed{}
	var err error
	p.output, err = newOutput(timeline.Event{Unit: "a.service"}, true, func(e timeline.Event) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lines = append(p.lines, e.Stream+" "+e.Text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ends are the process's ends of its streams, which stay open.
func (p *printed) ends(t *testing.T) (stdout, stderr *os.File) {
	t.Helper()
	files := make([]*os.File, 2)
	for i, s := range p.streams {
		files[i] = s.write
		s.write, _ = os.Open(os.DevNull) // which begin closes in its place
	}
	p.begin()
	t.Cleanup(func() {
		_ = files[0].Close()
		_ = files[1].Close()
	})
	return files[0], files[1]
}

func (p *printed) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "|")
}

func TestAllThatWasPrintedBeforeTheEndIsThereThoughTheStreamsStayOpen(t *testing.T) {
	p := newPrinted(t)
	out, _ := p.ends(t)
	var want []string
	for i := range 1000 {
		fmt.Fprintf(out, "line %d\n", i)
		want = append(want, fmt.Sprintf("stdout line %d", i))
	}
	fmt.Fprint(out, "no end")
	_, tail := p.finish()
	if got := p.text(); got != strings.Join(append(want, "stdout no end"), "|") {
		t.Errorf("%.200s…", got)
	}
	if len(tail) != maxTailLines || tail[maxTailLines-1] != "no end" {
		t.Errorf("tail of %d lines, the last %q", len(tail), tail[len(tail)-1])
	}
}

func TestATimeLineThatIsStuckHoldsAnEndUpForABoundedTimeOnly(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	p := &printed{}
	var err error
	if p.output, err = newOutput(timeline.Event{}, true, func(timeline.Event) { <-stuck }); err != nil {
		t.Fatal(err)
	}
	out, errs := p.ends(t)
	fmt.Fprintln(out, "a line")
	fmt.Fprintln(errs, "a line on the other stream")
	finished := make(chan struct{})
	go func() { p.finish(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(patience):
		t.Error("the end is held up")
	}
	close(stuck)
	<-finished
}

func TestTheLastLineOfStderrAloneIsSvcruns(t *testing.T) {
	const line = "svcrun: end cause=unhealthy check=x"
	for name, test := range map[string]struct {
		out, err string
		cause    string
		lines    string
	}{
		"the last line":        {"", "a\n" + line + "\n", "unhealthy", "stderr a"},
		"without its end":      {"", line, "unhealthy", ""},
		"one before another":   {"", line + "\nb\n", "", "stderr " + line + "|stderr b"},
		"twice":                {"", line + "\n" + line + "\n", "unhealthy", "stderr " + line},
		"on the wrong stream":  {line + "\n", "", "", "stdout " + line},
		"of an unknown cause":  {"", "svcrun: end cause=boredom\n", "", "stderr svcrun: end cause=boredom"},
		"nothing":              {"", "", "", ""},
		"an empty line before": {"", "\n" + line + "\n", "unhealthy", "stderr "},
	} {
		p := newPrinted(t)
		out, err := p.ends(t)
		fmt.Fprint(out, test.out)
		fmt.Fprint(err, test.err)
		end, tail := p.finish()
		cause := ""
		if end != nil {
			cause = string(end.Cause)
		}
		if got := p.text(); cause != test.cause || got != test.lines || len(tail) != len(p.lines) {
			t.Errorf("%s: cause %q, lines %q, tail %q; want %q, %q", name, cause, got, tail, test.cause, test.lines)
		}
	}
}

func TestTheTailKeepsBothBounds(t *testing.T) {
	for _, length := range []int{0, 1, 25, 26, 100, maxTailBytes, maxTailBytes + 1, maxLine} {
		var kept tail
		for i := range 3 * maxTailLines {
			kept.add(strings.Repeat(string(rune('a'+i%26)), length))
		}
		bytes := len(strings.Join(kept.lines, ""))
		if len(kept.lines) > maxTailLines || bytes > maxTailBytes || bytes != kept.bytes {
			t.Errorf("lines of %d bytes: %d lines with %d bytes are kept", length, len(kept.lines), bytes)
		}
		if full := len(kept.lines) == maxTailLines || bytes+length > maxTailBytes; !full {
			t.Errorf("lines of %d bytes: only %d lines with %d bytes are kept", length, len(kept.lines), bytes)
		}
	}
}
