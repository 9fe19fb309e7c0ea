package main

import (
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/why"
	"github.com/svckit/svckit/policy"
)

func whyCommand(out output) *cli.Command {
	return &cli.Command{
		Name: "why", Usage: whyUsage, ArgsUsage: "UNIT", Description: whyDescription,
		Flags:  append(subjectFlags(), commonFlags()...),
		Action: func(c *cli.Context) error { return explain(c, out) },
	}
}

func explain(c *cli.Context, out output) error {
	about, err := parseSubject(c)
	if err != nil {
		return err
	}
	asJSON, err := wantsJSON(c)
	if err != nil {
		return err
	}
	about.settings = about.journalFile == "" // the manager here knows nothing of another machine's units
	rec, err := collect(c.Context, about, out)
	if err != nil {
		return err
	}
	x := rec.explained(out.now(), zoneOf(c, out))
	if asJSON {
		return writeJSON(out.stdout, x.document())
	}
	sentences := strings.Join(x.sentences(), "\n") + "\n"
	return out.page(c, func(columns int) string { return wrapped(sentences, columns) + x.advice(columns) })
}

// explained is an answer with what it is about.
type explained struct {
	record
	why.Answer
	now  time.Time
	zone *time.Location
}

func (r record) explained(now time.Time, zone *time.Location) explained {
	facts := why.Facts{State: r.state, Settings: r.settings, Runs: r.runs, Skipped: r.skipped, Now: now}
	return explained{record: r, Answer: why.Explain(facts), now: now, zone: zone}
}

// whyDocument is what `svcstat why UNIT --json` prints.
type whyDocument struct {
	Schema      int      `json:"schema"`       // 1
	Unit        string   `json:"unit"`         // full name
	Standing    string   `json:"standing"`     // up, starting, stopping, waiting, stranded, queued, down, failed, never, unusable, uncertain
	ActiveState *string  `json:"active_state"` // null where D-Bus cannot be asked
	SubState    *string  `json:"sub_state"`
	Sources     []string `json:"sources"`   // what could be asked: bus, journal, records
	Sentences   []string `json:"sentences"` // the answer for people; their words may change

	LastRun      *runDocument `json:"last_run"`      // the last that ran, or runs
	PreviousRun  *runDocument `json:"previous_run"`  // while last_run is on
	FirstFailure *runDocument `json:"first_failure"` // of the burst that last_run, or previous_run, is of; null where it is that one
	RefusedStart *runDocument `json:"refused_start"` // after last_run

	// The last reload, where it failed and the service is up.
	FailedReload *reloadDocument `json:"failed_reload"`

	// Why no restart came: stop-requested, stop-in-hold-off, prevent-exit-status,
	// restart-setting, remain-after-exit, force-exit-status, start-limit,
	// dependency, condition, not-started-since, unknown; null where that is no question.
	NoRestart *string `json:"no_restart"`
	Rule      *string `json:"rule"` // that decided so, in words

	StartLimit         *limitDocument `json:"start_limit"`           // null for none, or where D-Bus cannot be asked
	NextRestart        *timestamp     `json:"next_restart"`          // when the hold-off ends, without the manager's jitter
	NextRestartRefused bool           `json:"next_restart_refused"`  // by the start limit
	NextRestartInDoubt bool           `json:"next_restart_in_doubt"` // or not: it is not known

	// What the start limit does while the service waits, if all runs go like the
	// last: null where that is no question, or cannot be told.
	Outlook *outlookDocument `json:"outlook"`

	Steps []stepDocument `json:"steps"` // what to do, in this order
}

// reloadDocument is a reload that failed.
type reloadDocument struct {
	Result string     `json:"result"` // the manager's word for it (ReloadResult=)
	Ended  *timestamp `json:"ended"`
	exitDocument
}

// limitDocument is a unit's start limit, and how far it is used.
type limitDocument struct {
	Starts    int        `json:"starts"`      // StartLimitBurst=
	Within    int64      `json:"within_usec"` // StartLimitIntervalSec=
	Used      int        `json:"used"`        // starts in the window of the last start, as far as they are on record
	Automatic int        `json:"automatic"`   // of these, by Restart=
	Until     *timestamp `json:"until"`       // when that window is over
	Hit       bool       `json:"hit"`
	Sure      bool       `json:"sure"` // else used is the most and until the latest that is possible
}

// outlookDocument is what becomes of a service whose every run is alike.
type outlookDocument struct {
	Odds string `json:"odds"` // never-trips, may-trip, trips
	Why  string `json:"why"`
}

// odds are the names of what an outlook can be.
var odds = map[policy.Odds]string{policy.NeverTrips: "never-trips", policy.MayTrip: "may-trip", policy.Trips: "trips"}

// stepDocument is one thing to do.
type stepDocument struct {
	Step    string `json:"step"`
	Command string `json:"command"` // for a shell
}

// document is the answer for scripts.
func (x explained) document() whyDocument {
	doc := whyDocument{
		Schema: schema, Unit: x.unit, Standing: string(x.Standing), Sources: x.sources(), Sentences: x.sentences(),
		LastRun: x.run(x.Last), PreviousRun: x.run(x.Before), FirstFailure: x.run(x.First), RefusedStart: x.run(x.Refused),
		NoRestart: known(string(x.Reason)), Rule: known(x.Clause),
		NextRestart: knownTime(x.Next, x.zone), NextRestartRefused: x.NextRefused, NextRestartInDoubt: x.NextDoubtful,
		Steps: []stepDocument{},
	}
	if x.state != nil {
		doc.ActiveState, doc.SubState = &x.state.ActiveState, &x.state.SubState
	}
	if r := x.FailedReload; r != nil {
		doc.FailedReload = &reloadDocument{r.Result, knownTime(r.Ended, x.zone), newExitDocument(r.Exit)}
	}
	if w := x.Window; w != nil {
		limit := x.settings.Limit
		doc.StartLimit = &limitDocument{limit.Starts, limit.Within.Microseconds(), w.Used, w.Automatic, knownTime(w.Until, x.zone), w.Hit, w.Sure}
	}
	if o := x.Outlook; o != nil {
		doc.Outlook = &outlookDocument{odds[o.Odds], o.Why}
	}
	for _, step := range x.Steps {
		command, _ := x.step(step)
		doc.Steps = append(doc.Steps, stepDocument{string(step), command})
	}
	return doc
}

func (x explained) run(r *history.Run) *runDocument {
	if r == nil {
		return nil
	}
	doc := newRunDocument(*r, x.now, x.zone)
	return &doc
}
