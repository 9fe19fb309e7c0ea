package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/verbs"
)

func historyCommand(out output) *cli.Command {
	return &cli.Command{
		Name: "history", Usage: historyUsage, ArgsUsage: "UNIT", Description: historyDescription,
		Flags: slices.Concat([]cli.Flag{
			&cli.IntFlag{Name: "n", Usage: lastUsage},
			&cli.StringFlag{Name: "since", Usage: sinceUsage},
			&cli.StringSliceFlag{Name: "cause", Usage: causeUsage},
			&cli.IntFlag{Name: "tail", Usage: tailUsage},
		}, subjectFlags(), commonFlags()),
		Action: func(c *cli.Context) error { return showHistory(c, out) },
	}
}

// historyQuery is what the command line asks for.
type historyQuery struct {
	subject
	causes []history.Cause
	last   int // 0: all
	json   bool
}

func parseHistory(c *cli.Context, now time.Time) (historyQuery, error) {
	about, err := parseSubject(c)
	if err != nil {
		return historyQuery{}, err
	}
	q := historyQuery{subject: about, last: c.Int("n")}
	if c.IsSet("n") && q.last < 1 {
		return historyQuery{}, verbs.Usagef("flag -n: %d is no number of runs; 1 is the least", q.last)
	}
	if q.tail, err = parseTail(c); err != nil {
		return historyQuery{}, err
	}
	if q.tail > 0 && q.last == 0 {
		q.last = tailedRuns
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

const (
	tailedRuns = 10   // of how many runs --tail shows the output, where -n does not say
	mostLines  = 1000 // of each
)

func parseTail(c *cli.Context) (int, error) {
	n := c.Int("tail")
	if c.IsSet("tail") && (n < 1 || n > mostLines) {
		return 0, verbs.Usagef("flag --tail: %d is no number of lines; it is 1 to %d", n, mostLines)
	}
	return n, nil
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
	record, err := collect(c.Context, q.subject, out)
	if err != nil {
		return err
	}
	runs := q.selectRuns(record.runs)
	tails, err := record.tailsOf(c.Context, q.tail, runs)
	if err != nil {
		return err
	}
	if q.json {
		return writeJSON(out.stdout, record.document(runs, tails, out.now(), zone))
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintln(out.stderr, noRuns(record, q.since, zone))
		return err
	}
	t := historyTable(runs, tails, out.now(), zone)
	return out.page(c, func(columns int) string { return t.text(out.terminal.color, columns) })
}

// selectRuns applies --since, --cause and -n, in that order.
func (q historyQuery) selectRuns(all []history.Run) []history.Run {
	var runs []history.Run
	for i, r := range all {
		ended := r.Ended
		if ended.IsZero() && i+1 < len(all) { // at the latest
			ended = all[i+1].Started
		}
		tooOld := !ended.IsZero() && ended.Before(q.since)
		if !tooOld && (len(q.causes) == 0 || slices.Contains(q.causes, r.Cause)) {
			runs = append(runs, r)
		}
	}
	if q.last > 0 && len(runs) > q.last {
		runs = runs[len(runs)-q.last:]
	}
	return runs
}

// document is the record for scripts.
func (r record) document(runs []history.Run, tails [][]string, now time.Time, zone *time.Location) historyDocument {
	doc := historyDocument{Schema: schema, Unit: r.unit, Sources: r.sources(), Runs: []runDocument{}}
	if r.state != nil {
		doc.ActiveState, doc.SubState = &r.state.ActiveState, &r.state.SubState
	}
	for i, run := range runs {
		doc.Runs = append(doc.Runs, newRunDocument(run, now, zone))
		if tails != nil {
			doc.Runs[i].Tail = append([]string{}, tails[i]...)
		}
	}
	return doc
}

// sources are those that could be asked.
func (r record) sources() []string {
	sources := []string{}
	for _, s := range []struct {
		asked bool
		name  string
	}{{r.state != nil, "bus"}, {r.journal, "journal"}, {r.records, "records"}} {
		if s.asked {
			sources = append(sources, s.name)
		}
	}
	return sources
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
