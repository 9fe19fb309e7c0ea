// Package policy is the arithmetic of restarts: how long systemd waits before
// each one, and at which start it gives up.
//
// It is pure and exact to the microsecond: what it says is what the manager
// does, short of the slack of the manager's timers (TimerSlack). The generator
// derives directives and their comments from it, and the tests hold it against
// a real systemd.
//
// Invariants:
//   - a Ladder never goes down: Delay(k) <= Delay(k+1);
//   - a Limit whose Within is at least Ladder.SmallestWithin(Starts) refuses
//     the start after Starts of a service that fails at once, and no earlier;
//   - sums saturate at syntax.Infinity, they never overflow.
//
// Ladder.Delay and Window.Attempt are the entry points: one restart, one start.
package policy
