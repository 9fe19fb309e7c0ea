// Package plan reads what a unit asks of a manager: the commands, time limits,
// restart rules and surroundings of a service, out of the units that svcgen
// generate writes.
//
// It is pure. The units are the contract: svcgen run has no reading of the
// policy of its own, so it cannot mean something else than systemd does.
//
// Invariants:
//   - a directive is honoured, or named in Service.Ignored; none that a policy
//     has asked for is dropped silently;
//   - what systemd would refuse to load is refused too;
//   - specifiers are resolved here, so that nobody behind has to know them.
//
// Read is the entry point.
package plan
