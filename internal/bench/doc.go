// Command bench measures what svcrun promises in time and weight, each in the
// same run as what people use today: a shell loop that waits for a service, the
// small inits, s6-supervise and systemd-notify. Of svcgen it measures what a
// generator costs a reload of systemd's, in package lab, beside one that does
// nothing. Of svcstat it measures what a history takes beside the journalctl
// that feeds it, in a journal that it writes itself.
//
//	bench [-rounds N] [-seed N] [-only LIST] [-many N] [-entries N] [-age D] [-idle D] [-gate] [-v]
//
// Invariants: a figure is never printed without what it is compared with, since
// a bare time says nothing on another machine; within a scenario every
// contender is measured once a round, in an order shuffled by the printed seed,
// so that whatever else the machine does falls upon all alike; there is always
// `direct`, the service without a wrapper, and the smallest possible wrapper in
// Go, and in C where there is a compiler; every process has a time limit and is
// ended by its own id, and a service ends by itself when the harness has gone.
//
// main is the entry point; scenarios lists what is measured, goals what is
// promised.
package main
