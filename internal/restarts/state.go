package restarts

import (
	"encoding/json"
	"errors"
	"fmt"

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
	BootID string `json:"boot_id"`
	State
}

// encode writes a state of this boot.
func encode(s State, boot string) ([]byte, error) {
	data, err := json.Marshal(document{schema, boot, s})
	return append(data, '\n'), err
}

var errCorrupt = errors.New("no state of restarts")

// decode reads a state; one of another boot, or of another svckit's schema, is
// empty.
func decode(data []byte, boot string) (State, error) {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return State{}, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	switch {
	case d.Schema < 1 || d.BootID == "":
		return State{}, fmt.Errorf("%w: no schema or no boot id", errCorrupt)
	case d.Schema > schema, d.BootID != boot:
		return State{}, nil
	}
	d.Series.Failures = max(0, d.Series.Failures)
	return d.State, nil
}
