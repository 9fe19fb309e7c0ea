package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
)

const (
	maxLine   = 1 << 20  // bytes of one entry
	maxStderr = 16 << 10 // bytes of what journalctl says beside
)

// Query says which entries to read.
type Query struct {
	Unit  string    // the unit's full name
	User  string    // the UID whose manager has it; "" for the system's
	Since time.Time // the zero time means from the first
}

// Report is what came up while reading.
type Report struct {
	Skipped  int      // lines that were oversized or malformed
	Warnings []string // what journalctl said, by lines
	Cut      bool     // an export ends in the middle of an entry, which is left out
}

// PermissionError says that the journal has entries that this user may not read.
type PermissionError struct {
	Groups string // who may, in journalctl's words
}

func (e *PermissionError) Error() string {
	return "no permission to read the system journal; root may, and so may the groups " + e.Groups
}

// Reader reads the journal of this machine.
type Reader struct {
	Journalctl string // the program; journalctl on the PATH where empty
}

// Read hands every entry of the query's to visit, in the journal's order; what
// it has handed over before an error is good. Of the run that was on, or had
// last ended, at Since it reads all: without its begin nobody could tell how
// long it was up, nor without its end why the next began.
func (r Reader) Read(ctx context.Context, q Query, visit func(history.Entry)) (Report, error) {
	var total Report
	if !q.Since.IsZero() {
		var head string
		before := part{unit: q.Unit, user: q.User, until: q.Since.Add(-time.Microsecond)}
		before.last = true
		if err := r.read(ctx, before, &total, func(e history.Entry) { head = e.Invocation + e.UserInvocation }); err != nil {
			return total, err
		}
		if before.last, before.invocation = false, head; head != "" {
			if err := r.read(ctx, before, &total, visit); err != nil {
				return total, err
			}
		}
	}
	err := r.read(ctx, part{unit: q.Unit, user: q.User, since: q.Since}, &total, visit)
	return total, err
}

// Tail is the last n of a run's lines, the oldest first. What is oversized is an
// empty line. Where the time tells of the run, some that have no ID may be among
// those that are asked for, and are of none.
func (r Reader) Tail(ctx context.Context, q Query, of history.Lines, n int) ([]string, error) {
	asked := n
	if of.ByTime() {
		asked = 2 * n
	}
	var report Report
	var lines []string
	err := r.read(ctx, part{unit: q.Unit, user: q.User, own: of, tail: asked}, &report, func(e history.Entry) {
		if !of.ByTime() || of.Has(e.OwnInvocation, e.Time) {
			lines = append(lines, e.Message)
		}
	})
	return lines[max(0, len(lines)-n):], err
}

// read runs journalctl once.
func (r Reader) read(ctx context.Context, p part, total *Report, visit func(history.Entry)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	program := r.Journalctl
	if program == "" {
		program = "journalctl"
	}
	stderr := &bounded{left: maxStderr}
	cmd := exec.CommandContext(ctx, program, p.arguments()...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "SYSTEMD_COLORS=0")
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", program, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot run %s: %w", program, err)
	}
	skipped, readErr := scan(bufio.NewReaderSize(stdout, 64<<10), p.wanted(), visit)
	total.Skipped += skipped
	if readErr != nil {
		cancel() // or it would wait for a reader
	}
	err = errors.Join(readErr, cmd.Wait())
	return total.finish(program, stderr.String(), err)
}

// scan decodes line by line what may be of interest.
func scan(reader *bufio.Reader, wanted func(line []byte) bool, visit func(history.Entry)) (skipped int, err error) {
	for {
		line, oversized, err := readLine(reader)
		switch {
		case errors.Is(err, io.EOF):
			return skipped, nil
		case err != nil:
			return skipped, fmt.Errorf("cannot read the journal: %w", err)
		case oversized:
			skipped++
		case !wanted(line):
		default:
			entry, err := Decode(line)
			if err != nil {
				skipped++
				continue
			}
			visit(entry)
		}
	}
}

// readLine reads up to the next newline. Of an oversized line it reads all
// and returns nothing.
func readLine(reader *bufio.Reader) (line []byte, oversized bool, err error) {
	chunk, err := reader.ReadSlice('\n')
	if err == nil {
		return bytes.TrimSuffix(chunk, []byte{'\n'}), false, nil
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		if oversized = oversized || len(line)+len(chunk) > maxLine; oversized {
			line = nil
		} else {
			line = append(line, chunk...)
		}
		chunk, err = reader.ReadSlice('\n')
	}
	if errors.Is(err, io.EOF) && len(line)+len(chunk) == 0 && !oversized {
		return nil, false, io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	line = append(line, bytes.TrimSuffix(chunk, []byte{'\n'})...)
	return line, oversized || len(line) > maxLine, nil
}

// groups finds in journalctl's hint who may read the journal.
var groups = regexp.MustCompile(`Users in (?:the )?groups? (.*?) can see`)

// finish makes of what journalctl said warnings, or the error that it ended with.
func (rep *Report) finish(program, stderr string, err error) error {
	if strings.Contains(stderr, "insufficient permissions") || strings.Contains(stderr, "not seeing messages") {
		who := "systemd-journal and adm"
		if m := groups.FindStringSubmatch(strings.Join(strings.Fields(stderr), " ")); m != nil {
			who = strings.ReplaceAll(m[1], "'", "")
		}
		return &PermissionError{Groups: who}
	}
	var said []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" {
			said = append(said, line)
		}
	}
	if err == nil {
		rep.Warnings = append(rep.Warnings, said...)
		return nil
	}
	if len(said) > 0 {
		return fmt.Errorf("%s failed: %s (%w)", program, strings.Join(said, "; "), err)
	}
	return fmt.Errorf("%s failed: %w", program, err)
}

// bounded keeps the first bytes written to it and swallows the rest.
type bounded struct {
	strings.Builder
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := p[:min(len(p), b.left)]
	b.left -= len(keep)
	b.Builder.Write(keep)
	return len(p), nil
}
