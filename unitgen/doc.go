// Package unitgen makes units of policies: it reads a policy file, derives
// from it every time limit that systemd needs, and writes the unit with the
// reasons beside the numbers.
//
// It is pure: text in, text out. Read turns a policy file, with the defaults
// below it, into the Policy of each service, or into all that is wrong with
// them; Generate turns a Policy into units for a Target.
//
// Invariants:
//   - no key is accepted and ignored: what Read does not know is an error with
//     its place and the nearest known key;
//   - what Generate writes holds no directive that the target lacks, and the
//     numbers in its comments are computed from those in its directives;
//   - the same policy gives the same bytes;
//   - the manager's time limits never cut short what svcrun bounds itself:
//     TimeoutStartSec= and TimeoutStopSec= exceed svcrun's own budgets;
//   - no value of env reaches a comment; a secret of a check is in no unit at
//     all, but in a file that root alone reads;
//   - a text of the policy reaches the service as it is written. Only in a
//     template has % a meaning, and only where directives of systemd are passed
//     through (extra) or other units are named does systemd see one.
package unitgen
