// Package e2e plays the same scenarios on real systemds and on svcgen run, and
// holds the two against each other: which runs there were, how each began and
// ended, what followed from it and after how long, and what the service itself
// saw of it.
//
// Nothing here says what is right: what systemd does, under the unit that
// svcgen generate writes, is what svcgen run has to do. Only the waits have a
// second reference, the arithmetic of package policy, below which neither may
// stay.
//
// How busy the machine is is measured meanwhile, by processes that do nothing:
// what it was late by counts as nobody's delay, and what differs on a machine that
// was too busy for a scenario's times is played again before it counts.
package e2e
