package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/svckit/svckit/history"
)

// ErrNoExport is an input that no journalctl has written.
var ErrNoExport = errors.New("no exported journal; journalctl -o export writes one, and so does journalctl -o json")

// File is a journal that was exported, by journalctl -o export or -o json, maybe
// on another machine. Who exports it chooses what of it is there: the fields that
// only journald sets are believed.
type File struct {
	In io.Reader

	// KeepLines is how many lines of each run's own output are kept for Tail, of
	// the newest runs that have any.
	KeepLines int

	tails tails
}

// Read hands over the entries that may tell of the query's unit. It reads all of
// the input, whatever Query.Since says: what has no index cannot be searched.
func (f *File) Read(ctx context.Context, q Query, visit func(history.Entry)) (Report, error) {
	in := &interruptible{ctx: ctx, in: f.In}
	reader := bufio.NewReaderSize(in, 64<<10)
	first, err := reader.Peek(1)
	switch {
	case errors.Is(err, io.EOF):
		return Report{}, nil
	case err != nil:
		return Report{}, fmt.Errorf("cannot read the exported journal: %w", err)
	}
	f.tails = tails{most: f.KeepLines}
	entries := 0 // that are a journal's, whether they are of interest or not
	take := func(e history.Entry) {
		entries++
		f.keepLine(q, e)
		visit(e)
	}
	var report Report
	if first[0] == '{' {
		var others int
		report, others, err = f.scanJSON(reader, q, take)
		entries += others
	} else {
		report.Skipped, err = scanExport(reader, func() bool { return in.last == '\n' }, take)
	}
	switch {
	case ctx.Err() != nil:
		return report, ctx.Err()
	case entries == 0:
		return Report{}, ErrNoExport
	case errors.Is(err, errCut):
		report.Cut, err = true, nil
		report.Skipped--
	}
	return report, err
}

// scanJSON reads what journalctl -o json writes, an entry a line. Others are the
// entries that were not worth decoding.
func (f *File) scanJSON(reader *bufio.Reader, q Query, take func(history.Entry)) (report Report, others int, err error) {
	pick := newPicker(q.Unit)
	whole, decoded := true, false // the last line
	report.Skipped, err = scan(reader, func(line []byte) bool {
		whole, decoded = bytes.HasSuffix(line, []byte("}")), f.KeepLines > 0 || pick.wants(line)
		if !decoded && bytes.HasPrefix(line, []byte(`{"`)) && bytes.Contains(line, []byte(`"__REALTIME_TIMESTAMP"`)) {
			others++
		}
		return decoded
	}, take)
	if err == nil && !whole {
		report.Cut = true
		if decoded {
			report.Skipped--
		}
	}
	return report, others, err
}

// keepLine keeps what the unit itself has printed.
func (f *File) keepLine(q Query, e history.Entry) {
	if f.KeepLines == 0 {
		return
	}
	if e.EndsHoldOff(q.Unit, q.User) {
		f.tails.holdOff = e.Time
	}
	own := e.OwnUnit == q.Unit
	if q.User != "" {
		own = e.OwnUserUnit == q.Unit && e.UID == q.User
	}
	if own && e.OwnInvocation != "" {
		f.tails.add(e.OwnInvocation, e.Message)
	}
}

// Tail is the last n of a run's lines, after Read.
func (f *File) Tail(_ context.Context, _ Query, of history.Lines, n int) ([]string, error) {
	return f.tails.last(of, n), nil
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx  context.Context
	in   io.Reader
	last byte // that was read
}

func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.in.Read(p)
	if n > 0 {
		r.last = p[n-1]
	}
	return n, err
}
