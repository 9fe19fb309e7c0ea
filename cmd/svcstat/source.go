package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/journal"
	"github.com/svckit/svckit/internal/verbs"
)

// exitData is EX_DATAERR of sysexits.h: an input is not what it should be.
const exitData = 65

// entries is a journal: this machine's, or one that was exported.
type entries interface {
	// Read hands over what tells of a unit, in the journal's order.
	Read(context.Context, journal.Query, func(history.Entry)) (journal.Report, error)
	// Tail is the last lines of a run's own output, after Read.
	Tail(ctx context.Context, q journal.Query, of history.Lines, n int) ([]string, error)
}

// open opens the journal that is asked for. The caller closes it.
func (s subject) open(ctx context.Context) (entries, func() error, error) {
	switch s.journalFile {
	case "":
		return journal.Reader{}, func() error { return nil }, nil
	case "-":
		in := standardInput(ctx)
		return &journal.File{In: in, KeepLines: s.tail}, in.Close, nil
	}
	file, err := os.Open(s.journalFile)
	if err != nil {
		return nil, nil, fmt.Errorf("flag --journal-file: %w", err)
	}
	return &journal.File{In: file, KeepLines: s.tail}, file.Close, nil
}

// standardInput is stdin, read such that the end of the context ends a read that
// waits for a terminal or a pipe.
func standardInput(ctx context.Context) *io.PipeReader {
	reader, writer := io.Pipe()
	go func() {
		_, err := io.Copy(writer, os.Stdin)
		writer.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
	return reader
}

// badExport is the error of a --journal-file that is none.
func (s subject) badExport(err error) error {
	if errors.Is(err, journal.ErrNoExport) {
		return &verbs.Error{Code: exitData, Err: fmt.Errorf("flag --journal-file: %s is %w", s.journalFile, err)}
	}
	return fmt.Errorf("flag --journal-file: %s: %w", s.journalFile, err)
}

// tailsOf are the last n lines of each run's own output; nil where none are asked
// for.
func (r record) tailsOf(ctx context.Context, n int, runs []history.Run) ([][]string, error) {
	if n == 0 || !r.journal {
		return nil, nil
	}
	own, tails := r.lines(), make([][]string, len(runs))
	for i, run := range runs {
		if run.InvocationID == "" {
			continue
		}
		lines, err := r.source.Tail(ctx, r.query, own[run.Number-1], n)
		if err != nil {
			return nil, fmt.Errorf("cannot read the output of run %d: %w", run.Number, err)
		}
		tails[i] = lines
	}
	return tails, nil
}

// lines are those of each run that is on record.
func (r record) lines() []history.Lines {
	return history.LinesOf(r.runs, r.state != nil && r.state.DirectRestart)
}
