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
// time limit holds in which, is that of systemd: src/core/service.c.
//
// New and Machine.Step are the entry points.
package machine
