// Package manager runs services where there is no systemd: it starts svcrun as
// the unit of each would, listens to what it says, and does what its machine
// decides. Linux only; no root is needed.
//
// Invariants:
//   - there is one loop, and one reaper;
//   - nothing of a service outlives the manager, however that ends;
//   - no descriptor of the manager's reaches a service but those it is to have.
//
// Run is the entry point.
package manager
