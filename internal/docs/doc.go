// Package docs reads the Markdown of docs/ and the README, so that its tests can
// run every command there and compare what is generated.
//
// Each fenced block has a comment right before it that says what it is:
//
//	<!-- run: here -->             commands, in a directory of the page, without root
//	<!-- run: lab -->              commands, as root in a machine with svckit installed
//	<!-- run: lab, within 60s -->  … again and again until the output is as it stands
//	<!-- run: here, exits 65 -->   … the last of them ends with 65
//	<!-- run: no, REASON -->       not run, and why
//	<!-- file: redis.yaml -->      a file, written before the commands below it run; YAML is a policy
//	<!-- refused: redis.yaml -->   the same, a policy that svcgen refuses
//	<!-- part of a policy -->      keys of a policy; name and exec are added where they lack
//	<!-- generated: NAME -->       written by a test with -update, compared without
//
// A line that begins with "$ " is a command, what follows is its output. In that
// "…" stands for any text, on a line of its own for any lines; a date with a
// time, and a span in milliseconds or with a fraction, stand for any other.
//
// Invariants: a block without a comment, or with one that is not known, is an
// error; so is a command whose output differs; a page's blocks run in their
// order, and in one place.
//
// ParsePage is the entry point, Commands and Match make a test of a block.
package docs
