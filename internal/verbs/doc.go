// Package verbs is the frame that svcgen and svcstat share: a command line of
// the form PROGRAM VERB [FLAGS] ARGUMENT..., over urfave/cli.
//
// Invariants: flags may stand before, between and behind arguments; a verb, a
// flag or another word that is not known is refused with the nearest one that
// is, and asks for exit code 64; no value is split at its commas; what --help
// prints fits into 80 columns, where the program's own lines do.
//
// New and Run are the entry points.
package verbs
