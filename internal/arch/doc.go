// Package arch holds the shape of the module: which package may import which,
// what a pure package may not do, how long a function may get, and which
// dependencies the documents name. Its tests run these checks on the tree.
//
// Each check is a function from a loaded Module (and the rule it holds) to a
// list of Findings, so that it can be tried on made-up sources too. Load is
// the one entry point to the real tree.
//
// Invariants: a Finding names file and line, says what is wrong and what to
// do; a check knows nothing of packages that are in Table but not written yet;
// only packages of this module are looked into, never the standard library.
package arch
