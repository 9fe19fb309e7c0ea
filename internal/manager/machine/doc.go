// Package machine is a service manager as pure code: the states that systemd
// has for a service, for each of several, and the order among them. Events in,
// actions out; it has no clock, no goroutine and no descriptor.
//
//	requests ─┐
//	processes ┤                      ┌─► start a process
//	notify ───┼─► event ─► Step(now) ┼─► signal it
//	timer ────┘     ▲                ├─► tell
//	                └── Deadline()   └─► exit
//
// What it decides with is package policy's; the order of states, and which
// time limit holds in which, is that of systemd: src/core/service.c. A unit
// goes through it like this; state.go says what each state is:
//
//	dead ─► start-pre ─► start ─► running ◄─► reload, reload-signal, reload-notify
//	  ▲         │          │         │
//	  │         ▼          ▼         ▼
//	  │   stop-watchdog ─► stop-sigterm ─► stop-sigkill ─► final-sigterm ─► final-sigkill
//	  │                                                                        │
//	  └──── failed, or auto-restart ─► auto-restart-queued ◄───────────────────┘
//
// Invariants:
//   - a unit has one main process and one command beside it at most, and runs
//     that follow each other: each begins with Starting and ends with Ended;
//   - the first thing that goes wrong in a run is its result;
//   - a state's deadline ends with the state, and after Step none is over;
//   - a stop ends, whatever the service does but ask for more time: within
//     TimeoutAbortSec= and four times TimeoutStopSec=;
//   - after a stop that was asked for nothing starts by itself but OnFailure=;
//   - nothing comes after Done.
//
// What systemd has and this has not, as no unit of svcgen's can need it:
// ExecStop=, ExecStopPost=, other types than notify, a change of the main
// process by MAINPID=, kept descriptors, MONOTONIC_USEC= of a reload (svcrun's
// own answer is always to the last one), the reload without end of systemd
// before 259, the out-of-memory killer's results, and conditions of [Unit]. Two
// of its faults are not played: up to 258 it counts a start that comes during a
// stop twice, and a heartbeat after the watchdog has barked wakes it again, so
// that a stop may have no end.
//
// New and Machine.Step are the entry points.
package machine
