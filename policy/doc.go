// Package policy is the arithmetic of restarts: whether a service is started
// again, how long systemd waits before that, how long svcrun holds a start back
// where systemd cannot wait so, and at which start systemd gives up.
//
// It is pure and exact to the microsecond: what it says is what the manager
// does, short of the slack of the manager's timers (TimerSlack), of which both
// ends can be had. The generator derives directives and their comments from it,
// svcrun its start delay, and the tests hold it against a real systemd. Every
// decision comes with its reason.
//
//	a run ends ─► Rules.Decide ─► Ladder.Delay ─► Window.Attempt ─► StartDelay.Hold ─► the next run
//	              whether         the manager's   the start         svcrun's
//	                              wait            limit             wait
//
// The start limit judges a start when the manager makes it. svcrun's wait is
// part of the start, so it comes after that, and the one before a refused start
// never happens.
//
// Invariants:
//   - a Ladder never goes down: Delay(k) <= Delay(k+1);
//   - a Limit whose Within is at least Ladder.SmallestWithin(Starts) refuses
//     the start after Starts of a service that fails at once, and no earlier;
//   - jitter keeps within its bounds and reaches both: from the wait to a
//     quarter more, or from nothing to the wait;
//   - a storm's pause comes at the failure that brings the score to the
//     threshold, not one before, and never because of rounding;
//   - a sure Outlook holds whatever late timers and jitter do;
//   - sums saturate at syntax.Infinity, they never overflow, whatever a damaged
//     Series holds.
//
// Restarts.Simulate is the entry point to all of it together, Ladder.Delay,
// Window.Attempt, Rules.Decide and StartDelay.Hold to each part alone.
package policy
