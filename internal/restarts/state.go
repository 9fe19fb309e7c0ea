package restarts

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svckit/svckit/internal/statefile"
	"github.com/svckit/svckit/policy"
)

// State is what one run leaves for the next. The zero State is that of a
// service that has never run, or has nothing to regret.
type State struct {
	Series policy.Series `json:"series"`

	// Open is the svcrun whose run was begun and has not ended; nil where the
	// last run has.
	Open *statefile.Process `json:"open,omitempty"`
}

// Killed says whether the last run was begun by an svcrun that did not live to
// end it. Nobody knows when it ended; no later than now.
func (s State) Killed() bool { return s.Open != nil && !s.Open.Lives() }

// IsZero says whether there is nothing to remember.
func (s State) IsZero() bool { return s == State{} }

const (
	schema   = 1
	maxBytes = 4 << 10
)

// document is the file.
type document struct {
	Schema int    `json:"schema"`
	BootID string `json:"boot_id,omitempty"`
	State
}

// encode writes a state of this boot.
func encode(s State, boot string) ([]byte, error) {
	data, err := json.Marshal(document{schema, boot, s})
	return append(data, '\n'), err
}

var errCorrupt = errors.New("no state of restarts")

// decode reads a state; one of another boot, or of a newer svckit's schema, is
// empty. Where a boot id is hidden, a moment that is yet to come tells of another
// boot: what lies in the runtime directory is of this one anyway.
func decode(data []byte, boot string, now time.Duration) (State, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return State{}, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	hidden := d.BootID == "" || boot == ""
	switch {
	case d.Schema < 1:
		return State{}, fmt.Errorf("%w: no schema, where %d is expected", errCorrupt, schema)
	case d.Schema > schema, !statefile.SameBoot(d.BootID, boot), hidden && d.Series.EndedAt > now:
		return State{}, nil
	}
	d.Series.Failures = max(0, d.Series.Failures)
	return d.State, nil
}
