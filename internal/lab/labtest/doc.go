// Package labtest gives tests a machine of package lab, and fails the test when
// what it asks of the machine fails:
//
//	var machines labtest.Pool
//
//	func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }
//
//	func TestServiceBecomesReady(t *testing.T) {
//		m := machines.Get(t, lab.Bookworm) // shared by the package's tests
//		unit := m.UnitName()               // no other test has it
//		m.Install(svcrun, "/usr/local/bin/svcrun", 0o755)
//		m.InstallUnit(unit, "[Service]\nType=notify\nExecStart=/usr/local/bin/svcrun -- ...\n")
//		m.Run("systemctl", "start", unit)
//		m.WaitFor(unit, "SubState=running", "NRestarts=0")
//		...
//	}
//
// Where no lab can be, the test is skipped with a line that says what is missing
// and its cure; with SVCKIT_E2E=require in the environment it fails instead.
package labtest
