// Package cmdline is what the command line of a program offers, as data: its
// verbs, flags and values, and the fields of the JSON documents that it prints.
// The manual pages and the shells' completions are made of it.
//
// The programs tell it themselves, of the tables by which they work, in a build
// of their own (tag svckit_manual) that does nothing else: so pages and
// completions cannot differ from the code, and the programs that are shipped
// carry nothing of it.
//
// Program.Tell and Read are the two ends; OfApp reads the table of a program
// with verbs.
package cmdline
