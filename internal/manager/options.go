package manager

import (
	"io"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/manager/timeline"
)

// Options is what Run has to know.
type Options struct {
	Services []plan.Service
	Host     *Host
	Env      []string          // NAME=value that every service has, over all else
	Secrets  map[string][]byte // what credentials have in the place of files of these paths
	AsMe     bool              // User= and Group= count for nothing
	Out      io.Writer         // of the time line
	Style    timeline.Style
}

// RefusedError is a service that cannot run as this user.
type RefusedError struct {
	Unit, User, Group string
	Reason            error // why nobody is of that name; nil where the right to become it is missing
}

// Error says what it would take.
func (e *RefusedError) Error() string {
	text := e.Unit + ": user " + e.User
	if e.User == "" {
		text = e.Unit + ": group " + e.Group
	}
	if e.Reason != nil {
		return text + ": " + e.Reason.Error()
	}
	return text + " can be taken on by root alone"
}

// Unwrap is for errors.Is and errors.As.
func (e *RefusedError) Unwrap() error { return e.Reason }
