// Package e2e holds svcstat against real managers: it makes units end in every
// way that a test can bring about, bare and under svcrun, and compares what
// svcstat says of them with what was done (history/testdata/truth.txt, and the
// table of units under svcrun). Once the machine is gone, the journal and the
// records that are left of it have to tell the same somewhere else.
//
// With SVCKIT_RECORD=1 the test also writes the journals that it saw to
// history/testdata, trimmed to what is read of them, for the tests of package
// history that need no manager.
package e2e
