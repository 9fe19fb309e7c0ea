package machine

import (
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/policy"
)

// Machine manages services. The loop that owns it calls Step for every event,
// runs the actions, and calls Step with a Tick at Deadline.
type Machine struct{}

// New is a manager of services, none of which has been started: Requested
// with Start begins. random draws jitter.
func New(services []plan.Service, random policy.Random) *Machine { return &Machine{} }

// Step takes an event that happened at now, and returns what is to be done.
func (m *Machine) Step(now time.Time, event Event) []Action { return nil }

// Deadline is when Step wants a Tick, if ever.
func (m *Machine) Deadline() (time.Time, bool) { return time.Time{}, false }
