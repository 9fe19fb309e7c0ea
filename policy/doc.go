// Package policy is the arithmetic of restarts: how long systemd waits before
// each one, how long svcrun holds a start back where systemd cannot wait so,
// and at which start systemd gives up.
//
// It is pure and exact to the microsecond: what it says is what the manager
// does, short of the slack of the manager's timers (TimerSlack). The generator
// derives directives and their comments from it, svcrun its start delay, and
// the tests hold it against a real systemd.
//
// Invariants:
//   - a Ladder never goes down: Delay(k) <= Delay(k+1);
//   - a Limit whose Within is at least Ladder.SmallestWithin(Starts) refuses
//     the start after Starts of a service that fails at once, and no earlier;
//   - jitter keeps within its bounds and reaches both: from the wait to a
//     quarter more, or from nothing to the wait;
//   - a storm's pause comes at the failure that brings the score to the
//     threshold, not one before, and never because of rounding;
//   - sums saturate at syntax.Infinity, they never overflow, whatever a damaged
//     Series holds.
//
// Ladder.Delay and Window.Attempt are the manager's entry points: one restart,
// one start. StartDelay.Hold is svcrun's: one start.
package policy
