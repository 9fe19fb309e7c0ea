// Package manager runs services where there is no systemd: it starts svcrun as
// the unit of each would, listens to what it says, and does what its machine
// decides. Linux only; no root is needed.
//
//	signals ──┐
//	SIGCHLD ──┤          ┌─► prepare: directories, credentials, files of variables
//	prepared ─┤          ├─► spawn: environment, the process
//	notify ───┼─► loop ──┼─► signal: the main process, or all that is alive of a unit
//	ends ─────┤   ▲      └─► feed: the time line
//	timer ────┘   └── machine
//
// What a service prints comes by pipes, a line at a time, and goes the same way
// as the manager's own events, so that all of it is in order. A service waits
// for whoever reads the time line; the manager does not.
//
// Invariants:
//   - there is one loop, and one reaper; no disk and no terminal holds it up: the
//     files of a start are seen to beside it, within a time limit;
//   - what was said and printed before an end is heard before the end is acted on;
//   - nothing of a service outlives the manager: when it ends, it kills what is
//     left, and when it is killed, each svcrun is told to stop by the kernel;
//   - a service finds what its unit gives it, and nothing of the caller's: no
//     variable, descriptor, terminal, mask or ignored signal.
//
// Run is the entry point; a program that calls it is its own shim, see Shim.
package manager
