// Package history rebuilds the past of a service: every run, why it ended,
// and how long it took until the next.
//
// A run is one start of the unit, keyed by its invocation ID. What is known
// of it comes in pieces, in any order and with holes: the manager's own
// journal lines, the line svcrun prints before its end (EndLine), the state
// on D-Bus. A Fold collects the pieces; Fold.Runs decides.
//
// It is pure: entries come in decoded, times come in as values. Reading the
// journal is package history/journal, asking the manager is history/bus.
//
// Invariants:
//   - only the manager's own lines count as the manager's: any process can
//     write UNIT= into the journal (Entry.ByManager);
//   - nothing is guessed: what no record says is the zero value, and a cause
//     that no record gives is Unknown;
//   - the manager's verdict stands; svcrun's line refines it only where the
//     two agree on how the main process ended;
//   - memory grows with the number of runs, not of entries.
//
// NewFold is the entry point; svcrun needs EndLine alone.
package history
