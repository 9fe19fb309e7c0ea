// Package why explains a service as it is now: what it does, why its last run
// ended, why no restart came, what comes next, and what can be done about it.
//
// It is pure. The facts come from the sources of package history, the decision
// about a restart from package policy, whose reasons it takes over: it is the
// manager's own, in the manager's order. The words are the caller's.
//
// Invariants: nothing is guessed. A reason is given only where a record or the
// manager's rules give it; otherwise it is Unknown, and Answer.Open says what
// would explain it.
//
// Explain is the entry point.
package why
