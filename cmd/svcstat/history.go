package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/bus"
	"github.com/svckit/svckit/history/journal"
	"github.com/svckit/svckit/internal/verbs"
)

func historyCommand(out output) *cli.Command {
	return &cli.Command{
		Name: "history", Usage: historyUsage, ArgsUsage: "UNIT", Description: historyDescription,
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "n", Usage: lastUsage},
			&cli.StringFlag{Name: "since", Usage: sinceUsage},
			&cli.StringSliceFlag{Name: "cause", Usage: causeUsage},
		}, commonFlags()...),
		Action: func(c *cli.Context) error { return showHistory(c, out) },
	}
}

// historyQuery is what the command line asks for.
type historyQuery struct {
	unit   string
	since  time.Time // zero: all
	causes []history.Cause
	last   int // 0: all
	json   bool
}

func parseHistory(c *cli.Context, now time.Time) (historyQuery, error) {
	if c.NArg() != 1 {
		return historyQuery{}, verbs.Usagef(oneUnitText, c.NArg())
	}
	unit, err := serviceName(c.Args().First())
	if err != nil {
		return historyQuery{}, err
	}
	q := historyQuery{unit: unit, last: c.Int("n")}
	if c.IsSet("n") && q.last < 1 {
		return historyQuery{}, verbs.Usagef("flag -n: %d is no number of runs; 1 is the least", q.last)
	}
	if c.IsSet("since") {
		if q.since, err = parseSince(c.String("since"), now); err != nil {
			return historyQuery{}, err
		}
	}
	for _, word := range c.StringSlice("cause") {
		cause, ok := history.ParseCause(word)
		if !ok {
			return historyQuery{}, verbs.UnknownWord("cause", word, causeNames())
		}
		q.causes = append(q.causes, cause)
	}
	q.json, err = wantsJSON(c)
	return q, err
}

func causeNames() []string {
	var names []string
	for _, c := range history.Causes() {
		names = append(names, string(c))
	}
	return names
}

func showHistory(c *cli.Context, out output) error {
	zone := zoneOf(c, out)
	q, err := parseHistory(c, out.now().In(zone))
	if err != nil {
		return err
	}
	record, err := collect(c.Context, q, out.stderr)
	if err != nil {
		return err
	}
	runs := q.selectRuns(record.runs)
	if q.json {
		return writeJSON(out.stdout, record.document(runs, out.now(), zone))
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintln(out.stderr, noRuns(q.unit, len(record.runs)))
		return err
	}
	return historyTable(runs, out.now(), zone).write(out.stdout, out.color)
}

// selectRuns applies --since, --cause and -n, in that order.
func (q historyQuery) selectRuns(runs []history.Run) []history.Run {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r history.Run) bool {
		tooOld := !r.Ended.IsZero() && r.Ended.Before(q.since)
		return tooOld || len(q.causes) > 0 && !slices.Contains(q.causes, r.Cause)
	})
	if q.last > 0 && len(runs) > q.last {
		runs = runs[len(runs)-q.last:]
	}
	return runs
}

// record is all that the sources tell of a unit.
type record struct {
	unit    string
	state   *history.State // nil where D-Bus could not be asked
	journal bool           // the journal could be read
	runs    []history.Run
}

// collect asks the journal and then the manager, and does with one of them
// where it must. Its warnings are a line each.
func collect(ctx context.Context, q historyQuery, warnings io.Writer) (record, error) {
	fold := history.NewFold(q.unit)
	report, journalErr := journal.Reader{}.Read(ctx, journal.Query{Unit: q.unit, Since: q.since}, fold.Add)
	for _, line := range journalWarnings(report) {
		fmt.Fprintln(warnings, line)
	}
	busCtx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, state, busErr := askBus(busCtx, q.unit)
	if conn != nil {
		defer conn.Close()
	}
	rec := record{unit: q.unit, journal: journalErr == nil}
	if busErr == nil {
		rec.state = &state
		fold.AddState(state)
	}
	rec.runs = fold.Runs()
	switch {
	case ctx.Err() != nil:
		return rec, ctx.Err()
	case journalErr != nil && busErr != nil:
		return rec, fmt.Errorf("nothing can be told of %s: %w", q.unit, errors.Join(journalErr, busErr))
	case len(rec.runs) == 0 && busErr == nil && state.LoadState == "not-found":
		return rec, noSuchUnit(busCtx, conn, q.unit)
	case journalErr != nil:
		fmt.Fprintln(warnings, noJournal(journalErr))
	case busErr != nil:
		fmt.Fprintln(warnings, noBus(busErr))
	}
	return rec, nil
}

// askBus asks the manager for the unit. The connection is for further questions.
func askBus(ctx context.Context, unit string) (*bus.Conn, history.State, error) {
	conn, err := bus.Dial(ctx)
	if err != nil {
		return nil, history.State{}, err
	}
	state, err := conn.Service(ctx, unit)
	return conn, state, err
}

// document is the record for scripts.
func (r record) document(runs []history.Run, now time.Time, zone *time.Location) historyDocument {
	doc := historyDocument{Schema: schema, Unit: r.unit, Sources: []string{}, Runs: []runDocument{}}
	if r.state != nil {
		doc.ActiveState, doc.SubState = &r.state.ActiveState, &r.state.SubState
		doc.Sources = append(doc.Sources, "bus")
	}
	if r.journal {
		doc.Sources = append(doc.Sources, "journal")
	}
	for _, run := range runs {
		doc.Runs = append(doc.Runs, newRunDocument(run, now, zone))
	}
	return doc
}

// upTime is how long a run was up, or is so far.
func upTime(r history.Run, now time.Time) (time.Duration, bool) {
	begin := r.Ready
	if begin.IsZero() {
		begin = r.Started
	}
	switch {
	case begin.IsZero(), r.Cause.Refused():
		return 0, false
	case r.Running:
		return max(0, now.Sub(begin)), true
	}
	return r.Up, !r.Ended.IsZero()
}
