package history

import "time"

// RecordSchema is the version of the form of a Record.
const RecordSchema = 1

// Record is what svcrun itself writes down of one run, in its state directory:
// what no journal has, and what is left where the journal is gone. It is open
// from the start of the run on, and closed at its end, or by the next start.
//
// It never holds a secret: checks stand in it by their labels, commands and
// environment not at all.
type Record struct {
	Schema       int    `json:"schema"`
	Run          int    `json:"run"`            // numbers the runs of one state directory
	Name         string `json:"name,omitempty"` // --name: the unit's
	InvocationID string `json:"invocation_id,omitempty"`
	BootID       string `json:"boot_id,omitempty"`
	Version      string `json:"version,omitempty"` // svcrun's

	// PID is svcrun's, and Ticks when it was started (proc_pid_stat(5),
	// starttime): both together tell whether it still runs.
	PID   int    `json:"pid,omitempty"`
	Ticks uint64 `json:"starttime_ticks,omitempty"`

	Begun    time.Time `json:"begun"`             // svcrun was started
	Started  time.Time `json:"started,omitzero"`  // the child was executed
	Ready    time.Time `json:"ready,omitzero"`    // READY=1 went out
	Stable   time.Time `json:"stable,omitzero"`   // healthy for --stable-after: earlier failures were forgotten
	Stopping time.Time `json:"stopping,omitzero"` // the way out began
	Ended    time.Time `json:"ended,omitzero"`    // zero while the record is open

	Held   *Held      `json:"held,omitempty"` // by --start-delay
	End    *RecordEnd `json:"end,omitempty"`
	Phases []Phase    `json:"phases,omitempty"`
	More   int        `json:"phases_left_out,omitempty"` // beyond MaxPhases
}

// MaxPhases bounds the phases of a record: a service may reload for years.
const MaxPhases = 48

// Held is why and for how long a start was held back.
type Held struct {
	PauseUsec int64  `json:"pause_usec,omitempty"` // for a storm of failures
	DelayUsec int64  `json:"delay_usec,omitempty"` // of the ladder, with its jitter
	Reason    string `json:"reason,omitempty"`
}

// RecordEnd is how a run ended.
type RecordEnd struct {
	Cause  Cause  `json:"cause"`
	Code   *int   `json:"code,omitempty"`   // the main process's exit code
	Signal string `json:"signal,omitempty"` // or the signal that it died of, without SIG
	Core   bool   `json:"core,omitempty"`
	Check  string `json:"check,omitempty"` // the label of the check that had the last word
	After  int    `json:"after,omitempty"` // failures in a row
	Last   string `json:"last,omitempty"`  // what it said
	Left   int    `json:"left,omitempty"`  // processes that would not die
	// ClosedBy is NextStart where svcrun did not live to close the record. All
	// that is known then is that the run was over Before that start.
	ClosedBy string    `json:"closed_by,omitempty"`
	Before   time.Time `json:"ended_before,omitzero"`
}

// AskedToStop is Phase.Reason where a stop was asked for.
const AskedToStop = "stop requested"

// NextStart is RecordEnd.ClosedBy of a record that the next run has closed.
const NextStart = "next-start"

// Phase is a part of a run: one state of svcrun's machine, or one step of a
// drain.
type Phase struct {
	Name     string    `json:"phase"` // delaying, starting, ready, reloading, pre-stop, drain-delay, stop, ending, aborting, killing
	Began    time.Time `json:"began"`
	TookUsec int64     `json:"took_usec,omitempty"` // on the monotonic clock; 0 while it lasts
	Signal   string    `json:"signal,omitempty"`    // of a step of the stop
	Reason   string    `json:"reason,omitempty"`
}
