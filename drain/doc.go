// Package drain describes how a service is stopped: a hook and a delay while
// it still serves, then the soft phase (signals, each with its time), then the
// hard phase (SIGKILL to all that is left).
//
// It is pure: a Plan is what the user wrote, and what follows from it. The
// machine in internal/supervise walks the plan; svcgen derives TimeoutStopSec=
// from the same numbers, so that the manager never overtakes a stop that is
// still within its plan.
//
// Invariants: a stop under a Plan is over within Budget of its first request;
// Step.String is read back unchanged by ParseStep.
//
// Default and ParseStep are the entry points.
package drain
