package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/bus"
	"github.com/svckit/svckit/history/journal"
	"github.com/svckit/svckit/history/records"
	"github.com/svckit/svckit/history/why"
	"github.com/svckit/svckit/internal/verbs"
)

// subject is the service that is asked about, and where to look.
type subject struct {
	unit     string
	of       managed
	since    time.Time // of the journal; zero: all
	stateDir string    // of svcrun's records; "" for where the unit has them
	settings bool      // how the manager treats the unit is asked for as well

	journalFile string // an exported journal, - for stdin; "" for this machine's
	tail        int    // lines of each run's own output; 0 for none
}

// subjectFlags are those that say where to look.
func subjectFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "state-dir", Usage: stateDirUsage},
		&cli.StringFlag{Name: "journal-file", Usage: journalFileUsage},
	}
}

// parseSubject reads the one UNIT of a command line.
func parseSubject(c *cli.Context) (subject, error) {
	if c.NArg() != 1 {
		return subject{}, verbs.Usagef(oneUnitText, c.Command.Name, c.NArg(), c.Command.Name)
	}
	unit, err := serviceName(c.Args().First())
	if err != nil {
		return subject{}, err
	}
	s := subject{unit: unit, of: managedBy(c), stateDir: c.String("state-dir"), journalFile: c.String("journal-file")}
	switch {
	case c.IsSet("state-dir") && s.stateDir == "":
		return subject{}, verbs.Usagef("flag --state-dir: the directory is empty; write for example /var/lib/svckit/%s", bareName(unit))
	case c.IsSet("journal-file") && s.journalFile == "":
		return subject{}, verbs.Usagef("flag --journal-file: the name is empty; write - for stdin")
	}
	return s, nil
}

// record is all that the sources tell of a unit.
type record struct {
	unit      string
	of        managed
	state     *history.State // nil where D-Bus could not be asked
	settings  *why.Settings  // the same, and where nobody wants them
	journal   bool           // the journal could be read
	records   bool           // svcrun has left some
	elsewhere bool           // the journal is an exported one
	runs      []history.Run
	skipped   *history.Skip // the last start that a condition was against
	sharedIDs bool          // the journal has lines of a run under the ID of another
	source    entries       // the journal, for what else it has
	query     journal.Query // what was read of it
}

// absent is why sources could not be asked; nil errors where they could.
type absent struct{ journal, bus error }

// collect tells of a unit what there is, and does with less where it must. Its
// warnings are a line each.
func collect(ctx context.Context, about subject, out output) (record, error) {
	rec, missing, err := gather(ctx, about, out)
	switch {
	case err != nil:
		return rec, err
	case ctx.Err() != nil:
		return rec, ctx.Err()
	case len(rec.runs) == 0 && rec.state != nil && rec.state.LoadState == "not-found":
		return rec, noSuchUnit(ctx, about.of, about.unit)
	case missing.journal != nil && missing.bus != nil && !rec.records:
		return rec, fmt.Errorf("nothing can be told of %s: %w", about.unit, errors.Join(missing.journal, missing.bus))
	case !rec.elsewhere:
		warn(out.stderr, missingSources(rec, missing))
	}
	return rec, nil
}

// gather asks the journal, the manager and svcrun's records. Of another machine's
// journal nobody here knows more.
func gather(ctx context.Context, about subject, out output) (rec record, missing absent, err error) {
	if about.journalFile == "" {
		about.unit, missing.bus = about.ownName(ctx)
	}
	rec = record{unit: about.unit, of: about.of, elsewhere: about.journalFile != "", query: about.query()}
	source, closeSource, err := about.open(ctx)
	if err != nil {
		return rec, missing, err
	}
	defer func() { _ = closeSource() }()
	fold := history.NewFold(about.unit)
	if about.of.user {
		fold = history.NewUserFold(about.unit, about.of.uid)
	}
	report, unread := readJournal(ctx, source, about, fold, out)
	warn(out.stderr, journalWarnings(report))
	rec.source, rec.journal, missing.journal = source, unread == nil, unread
	switch {
	case ctx.Err() != nil:
		return rec, missing, ctx.Err()
	case rec.elsewhere && unread != nil:
		return rec, missing, about.badExport(unread)
	case !rec.elsewhere && missing.bus == nil:
		missing.bus = rec.addBus(ctx, about, fold)
	}
	if !rec.elsewhere || about.stateDir != "" {
		kept, unread := records.Read(about.recordsOf(rec.state))
		rec.records = len(kept) > 0
		warn(out.stderr, recordWarnings(unread))
		fold.AddRecords(kept)
	}
	rec.runs, rec.skipped = fold.Runs(), fold.Skipped()
	rec.sharedIDs = fold.SharedIDs() || rec.state != nil && rec.state.DirectRestart
	return rec, missing, nil
}

// query is what to read of the journal.
func (s subject) query() journal.Query {
	return journal.Query{Unit: s.unit, User: s.of.uid, Since: s.since}
}

// readJournal adds what the journal has, and tells how far it is where that takes
// long.
func readJournal(ctx context.Context, source entries, about subject, fold *history.Fold, out output) (journal.Report, error) {
	if !out.progress {
		return source.Read(ctx, about.query(), fold.Add)
	}
	p := startProgress(out.stderr)
	defer p.end()
	return source.Read(ctx, about.query(), func(e history.Entry) {
		p.entries.Add(1)
		fold.Add(e)
	})
}

// ownName is the unit's own name, where it is asked about by an alias: the journal
// and the records know no other. The error is why the manager does not tell.
func (s subject) ownName(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, err := s.of.dial(ctx)
	if err != nil {
		return s.unit, err
	}
	defer conn.Close()
	states, err := conn.List(ctx, []string{s.unit})
	if err != nil || len(states) != 1 {
		return s.unit, err
	}
	return states[0].Unit, nil
}

// addBus adds what the manager knows; the error is why it does not.
func (r *record) addBus(ctx context.Context, about subject, fold *history.Fold) error {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, state, err := askBus(ctx, about)
	if conn != nil {
		defer conn.Close()
	}
	if err != nil {
		return err
	}
	r.state = &state
	fold.AddState(state)
	r.settings, err = about.askSettings(ctx, conn)
	return err
}

func warn(w io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(w, line)
	}
}

// recordsOf is the state directory of the unit's svcrun.
func (s subject) recordsOf(state *history.State) string {
	switch {
	case s.stateDir != "":
		return s.stateDir
	case state != nil && state.Svcrun != nil && state.Svcrun.StateDir != "":
		return state.Svcrun.StateDir
	}
	return filepath.Join(s.of.stateRoot(os.Getenv), "svckit", bareName(s.unit))
}

// bareName is a unit's name without its suffix, systemd's %N.
func bareName(unit string) string { return strings.TrimSuffix(unit, serviceSuffix) }

// askSettings asks how the manager treats the unit, where that is wanted.
func (s subject) askSettings(ctx context.Context, conn *bus.Conn) (*why.Settings, error) {
	if !s.settings {
		return nil, nil
	}
	settings, err := conn.Settings(ctx, s.unit)
	if err != nil {
		return nil, err
	}
	return &settings, nil
}

// askBus asks the manager for the unit. The connection is for further questions.
func askBus(ctx context.Context, about subject) (*bus.Conn, history.State, error) {
	conn, err := about.of.dial(ctx)
	if err != nil {
		return nil, history.State{}, err
	}
	state, err := conn.Service(ctx, about.unit)
	return conn, state, err
}
