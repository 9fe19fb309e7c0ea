// Package unit is a unit file as systemd.syntax(7) describes it: sections of
// lines, where a line is a directive, a comment or a blank. It knows syntax
// only, and no directive.
//
// It is pure, and the only place that writes unit text. What goes into a
// directive is a Value: text that has been quoted for the place where it
// stands, by one function per place, because a % or a $ means something else
// in each.
//
// Invariants:
//   - a File is printed line by line in its order, nothing is dropped, merged
//     or sorted;
//   - no text can leave its line: Bytes refuses what would begin another
//     directive, continue a line or vanish as a comment;
//   - a word that ExecArg, ExecPath or Assignment quoted is read back by
//     systemd as it was.
//
// File.Bytes is the writer, File.Section and Section.Add build what it writes.
package unit
