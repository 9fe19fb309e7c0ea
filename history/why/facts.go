package why

import (
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// Facts are all that is known of a service.
type Facts struct {
	State    *history.State // nil where the manager could not be asked
	Settings *Settings      // the same
	Runs     []history.Run  // the oldest first
	Skipped  *history.Skip  // the last start on record that a condition was against; nil for none
	Now      time.Time
}

// Settings are what the manager says of how it treats a unit.
type Settings struct {
	Rules policy.Rules
	Limit policy.Limit
	Type  string // of the service: notify, simple, …

	// CountsSince is since when the manager counts starts for Limit: since it runs,
	// and before 255 since it has last loaded its units (daemon-reload).
	CountsSince time.Time

	Ladder      policy.Ladder // the hold-offs
	RandomDelay time.Duration // what the manager adds to a hold-off at most (262)

	TimeoutStart time.Duration // 0 where it is not known; syntax.Infinity for none
	TimeoutStop  time.Duration

	Unmet   *Condition // that the last start asked for, where it asked at all
	Reload  bool       // the unit's files have changed since the manager read them
	Enabled bool       // it starts with the machine

	TriggeredBy []string // sockets, timers and paths that start it
}

// Condition is one of Condition…= or Assert…= that was not met.
type Condition struct {
	Name   string // ConditionPathExists, or what kind it was where that is not known
	Value  string // as it stands in the unit, with its !
	At     time.Time
	Assert bool // a start fails for it, and is not only skipped
}
