// Package syntax is the small grammar that all of svckit shares: time spans, sizes,
// signal names, command lines and the guess at what a mistyped word meant.
//
// It is pure: text in, values out. Every error says what is wrong and what
// would be right, in lower case and without a full stop, so that a caller
// only has to put the place (a flag, or file:line:column) before it.
//
// Invariants: what Format and Quote functions print, the matching Parse and
// Split functions read back unchanged; no function panics on any input.
package syntax
