// Package machine is the life of one supervised service as pure code: events
// in, actions out. It has no clock, no goroutine and no descriptor; the loop in
// internal/supervise feeds it and does what it says.
//
//	signals ─┐
//	child ───┤                      ┌─► send datagram
//	notify ──┼─► event ─► Step(now) ┼─► signal main / group / all
//	probes ──┤     ▲                ├─► start probe / hook
//	timer ───┘     └── Deadline()   └─► log, exit
//
// Invariants, property-tested:
//   - READY=1 goes out once per start and once per reload, never after STOPPING=1;
//   - the first message on every way out of Ready and Reloading is STOPPING=1
//     with WATCHDOG_USEC=0: a heartbeat that reaches the manager after its TERM
//     would re-arm the watchdog and abort the stop;
//   - no heartbeat before READY=1, none outside Ready and Reloading, and none
//     without fresh evidence;
//   - each step's signal is sent once, whatever arrives;
//   - a stop that svcrun began for health ends with 69 even if a stop is
//     requested meanwhile;
//   - no heartbeat follows a child's WATCHDOG=trigger;
//   - descriptors go on with FDSTORE=1 and BARRIER=1 alone;
//   - the record of the run has every phase, up to its bound, each with its
//     reason and its time;
//   - whoever asked for a reload is answered once it is over, and before the end;
//   - Done is reached within the plan's budget of the first request to stop;
//   - there is one deadline, recomputed from the state; it belongs to the state
//     that armed it.
//
// New and Machine.Step are the entry points.
package machine
