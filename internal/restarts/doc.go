// Package restarts remembers from one run of a service to the next what its
// start delay depends on: restart.json in the runtime directory.
//
// The file, not the memory of a process, is the truth: whoever changes it reads
// it first, so that what was forgotten by hand while the service runs stays
// forgotten when that run fails.
//
// Invariants:
//   - what another boot has left says nothing: the clock has begun anew;
//   - a run that was begun and never ended, and whose svcrun is gone, is there
//     for the next start to count as a failed one;
//   - a file that cannot be understood is set aside, and is an empty State;
//   - no call takes longer than a second, whatever the disk does.
//
// Hold begins a run, Fail or Clear ends it.
package restarts
