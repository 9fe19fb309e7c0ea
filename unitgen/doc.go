// Package unitgen makes units of policies: it reads a policy file, derives
// from it every time limit that systemd needs, and writes the unit with the
// reasons beside the numbers.
//
// It is pure: text in, text out. Read turns a policy file into a Policy, or
// into all that is wrong with it; Generate turns a Policy into units for a
// Target.
//
// Invariants:
//   - no key is accepted and ignored: what Read does not know is an error with
//     its place and the nearest known key;
//   - what Generate writes holds no directive that the target lacks, and the
//     numbers in its comments are computed from those in its directives;
//   - the same policy gives the same bytes;
//   - the manager's time limits never cut short what svcrun bounds itself:
//     TimeoutStartSec= and TimeoutStopSec= exceed svcrun's own budgets;
//   - no value of env, and no secret of a check, reaches a comment.
package unitgen
