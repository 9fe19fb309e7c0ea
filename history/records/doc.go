// Package records keeps what svcrun writes down of its runs: one small file for
// each run, in a directory of the service's.
//
//	DIR/runs/00000042.json           run 42, as history.EncodeRecord writes it
//	DIR/runs/00000041.json.corrupt   what could not be read, set aside
//
// Invariants:
//   - nobody waits for the disk: a Recorder takes what it is given and writes
//     it by itself, the newest only if the disk is slow. But the kernel does: it
//     lets no process go while it cannot interrupt a write, as on a frozen file
//     system;
//   - a file is whole whenever svcrun is killed, and outlasts a crash of the
//     host once its run has ended;
//   - a run that svcrun did not live to end is closed by the next start, and
//     never one whose svcrun still runs;
//   - no two runs have one number, although two svcruns share a directory;
//   - what is kept has a bound: records, what was set aside, the time spent on
//     a directory that is full of other things;
//   - whatever fails is said once, and stops nothing.
//
// Open is the entry point of svcrun, Read that of who wants to know.
package records
