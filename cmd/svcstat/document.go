package main

import (
	"time"

	"github.com/svckit/svckit/history"
)

// schema is the version of the JSON documents. Fields are added without
// raising it; a change that could break a reader raises it.
const schema = 1

// Times are RFC 3339 with microseconds, in the local zone or with --utc in
// UTC. Spans are whole microseconds. What is not known is null.

// listDocument is what `svcstat list --json` prints.
type listDocument struct {
	Schema int            `json:"schema"` // 1
	Units  []unitDocument `json:"units"`  // sorted by name
}

// unitDocument is one service as the manager sees it now.
type unitDocument struct {
	Unit        string  `json:"unit"`         // full name, nginx.service
	LoadState   string  `json:"load_state"`   // loaded, masked, bad-setting, …
	ActiveState string  `json:"active_state"` // active, activating, deactivating, inactive, failed, …
	SubState    string  `json:"sub_state"`    // running, auto-restart, dead, …
	Status      *string `json:"status"`       // the service's own STATUS=
	Restarts    int     `json:"restarts"`     // automatic restarts since the last requested start (NRestarts=)

	// The end of the last run, while no run is on and the manager can tell: after
	// a success it cannot, as it does not remember whether a stop was asked for.
	LastCause *string `json:"last_cause"` // a cause, as `svcstat history` names them
	exitDocument

	UpSince     *timestamp `json:"up_since"`     // when it became active, while it is
	NextRestart *timestamp `json:"next_restart"` // when the hold-off ends, without the manager's jitter
	Stranded    bool       `json:"stranded"`     // the restart that it waits for will not come: its job has failed
}

// historyDocument is what `svcstat history UNIT --json` prints.
type historyDocument struct {
	Schema      int           `json:"schema"`       // 1
	Unit        string        `json:"unit"`         // full name
	ActiveState *string       `json:"active_state"` // now; null where D-Bus cannot be asked
	SubState    *string       `json:"sub_state"`
	Sources     []string      `json:"sources"` // what could be asked: bus, journal, records
	Runs        []runDocument `json:"runs"`    // the oldest first
}

// runDocument is one run, or a start that was refused.
type runDocument struct {
	Number       int     `json:"number"`        // 1 is the oldest run on record
	InvocationID *string `json:"invocation_id"` // null where the start was refused
	Start        string  `json:"start"`         // automatic, requested, unknown
	Restarts     *int    `json:"restarts"`      // the restart counter, at an automatic start
	Running      bool    `json:"running"`       // it has not ended

	Started    *timestamp `json:"started"` // of a refused start, when it was refused
	Ready      *timestamp `json:"ready"`   // null where it never was, too
	Ended      *timestamp `json:"ended"`   // of the main process, else of the unit
	ReadyAfter *int64     `json:"ready_after_usec"`
	Up         *int64     `json:"up_usec"`    // since ready, else since started; of a running one so far
	Delay      *int64     `json:"delay_usec"` // down until the hold-off was over, else until the next start

	Cause *string `json:"cause"` // why it ended; null while no end is known
	exitDocument
	Result *string           `json:"result"` // the manager's word for it (Result= of systemd.service(5))
	Detail map[string]string `json:"detail"` // see below; {} where there is none

	// What svcrun wrote down, and nobody else knows.
	Held   *heldDocument   `json:"held"`   // the start was held back (--start-delay); null where it was not
	Stable *timestamp      `json:"stable"` // since when earlier failures were forgotten (--stable-after)
	Phases []phaseDocument `json:"phases"` // the run's course; [] where svcrun left no record

	FirstFailure bool     `json:"first_failure"` // of a burst: of failures in a row, each restarted automatically
	Tail         []string `json:"tail"`          // the last lines of its own output; null without --tail
}

// heldDocument is why svcrun held a start back, and for how long.
type heldDocument struct {
	Pause  int64  `json:"pause_usec"`
	Delay  int64  `json:"delay_usec"`
	Reason string `json:"reason"`
}

// phaseDocument is one phase of a run: starting, ready, a step of the stop.
type phaseDocument struct {
	Phase  string     `json:"phase"`
	Began  *timestamp `json:"began"`
	Took   int64      `json:"took_usec"` // 0 while it lasts
	Signal *string    `json:"signal"`
	Reason *string    `json:"reason"`
}

// The keys of detail: check, after and last of an unhealthy service or one that was
// not ready in time (the check, the failures in a row, what it said last); stop, how
// long svcrun took to stop it; command, the directive of the process that failed
// where it is not ExecStart=; limit, the watchdog's; result, the manager's own word
// where it has no cause of ours; message, what the manager said. More may be added.

// exitDocument is how the main process ended, or the one that detail.command names.
type exitDocument struct {
	ExitCode   *int    `json:"exit_code"`   // null where a signal killed it, or it is not known
	Signal     *string `json:"signal"`      // such as SIGKILL
	CoreDumped bool    `json:"core_dumped"` // the signal left a core
}

// timestamp is a time in the form that the documents promise.
type timestamp struct{ time.Time }

// MarshalText keeps six digits of the second, also where they are zero.
func (t timestamp) MarshalText() ([]byte, error) {
	return []byte(t.Format("2006-01-02T15:04:05.000000Z07:00")), nil
}

// MarshalJSON is needed as well: that of time.Time would be taken.
func (t timestamp) MarshalJSON() ([]byte, error) {
	text, err := t.MarshalText()
	return append(append([]byte{'"'}, text...), '"'), err
}

// known is a pointer to v, or nil where v is the zero value.
func known[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// knownTime is t in the zone, or nil where it is not known.
func knownTime(t time.Time, zone *time.Location) *timestamp {
	if t.IsZero() {
		return nil
	}
	return &timestamp{t.In(zone)}
}

// knownSpan is d in microseconds, or nil where it is not known.
func knownSpan(d time.Duration, ok bool) *int64 {
	if !ok {
		return nil
	}
	us := d.Microseconds()
	return &us
}

func newExitDocument(exit history.Exit) exitDocument {
	doc := exitDocument{CoreDumped: exit.Kind == history.Dumped}
	if code, ok := exit.Code(); ok {
		doc.ExitCode = &code
	}
	if signal, ok := exit.Signal(); ok {
		doc.Signal = known(signal.String())
	}
	return doc
}

func newUnitDocument(s history.State, zone *time.Location) unitDocument {
	doc := unitDocument{
		Unit: s.Unit, LoadState: s.LoadState, ActiveState: s.ActiveState, SubState: s.SubState,
		Status: known(s.StatusText), Restarts: s.NRestarts, Stranded: s.Stranded(),
	}
	if end, ok := s.LastEnd(); ok {
		doc.LastCause = known(string(end.Cause))
		doc.exitDocument = newExitDocument(end.Exit)
	}
	if since, ok := s.UpSince(); ok {
		doc.UpSince = knownTime(since, zone)
	}
	if next, ok := s.NextRestart(); ok {
		doc.NextRestart = knownTime(next, zone)
	}
	return doc
}

func newRunDocument(r history.Run, now time.Time, zone *time.Location) runDocument {
	doc := runDocument{
		Number: r.Number, InvocationID: known(r.InvocationID), Start: string(r.Start), Restarts: known(r.Restarts),
		Running: r.Running, Cause: known(string(r.Cause)), exitDocument: newExitDocument(r.Exit),
		Started: knownTime(r.Started, zone), Ready: knownTime(r.Ready, zone), Ended: knownTime(r.Ended, zone),
		ReadyAfter: knownSpan(r.ReadyAfter()), Up: knownSpan(upTime(r, now)), Delay: knownSpan(r.Delay, r.Delay > 0),
		Result: known(r.Result), Detail: make(map[string]string, len(r.Detail)), Phases: []phaseDocument{},
		FirstFailure: r.FirstFailure,
	}
	for _, f := range r.Detail {
		doc.Detail[f.Key] = f.Value
	}
	if r.Record != nil {
		doc.addRecord(*r.Record, zone)
	}
	return doc
}

// addRecord adds what only svcrun's record has.
func (doc *runDocument) addRecord(r history.Record, zone *time.Location) {
	doc.Stable = knownTime(r.Stable, zone)
	if r.Held != nil {
		doc.Held = &heldDocument{r.Held.PauseUsec, r.Held.DelayUsec, r.Held.Reason}
	}
	for _, p := range r.Phases {
		doc.Phases = append(doc.Phases, phaseDocument{p.Name, knownTime(p.Began, zone), p.TookUsec, known(p.Signal), known(p.Reason)})
	}
}
