// Package supervise runs one service: it turns what blocks into events, has the
// machine decide, and does what the machine says. One goroutine owns all state;
// the others each wait for one thing and send one value.
//
// Invariants:
//   - after the child has been started nothing but its end ends svcrun: every
//     failure of svcrun's own is a line in the log;
//   - the loop never waits for anything but its next event: sending, probing
//     and the hook happen beside it;
//   - what the child said before it ended is heard before its end is acted on;
//   - at the return of Run no probe, hook or socket of svcrun's is left.
//
// Run is the entry point.
package supervise
