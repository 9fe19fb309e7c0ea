// Package vm boots a suite's root of package lab as a virtual machine: for tests
// that need what the namespaces of a lab do not have, a memory limit and a
// limit of processes, and for those that could bring a machine down.
//
// QEMU emulates the processor: it needs no KVM, no module and no privileges, and
// is the same everywhere. A boot takes about 20 seconds, and whatever is computed
// takes ten to twenty times as long as on the host: a test that measures time
// has to leave room for that.
//
// The root becomes the initial RAM disk (an archive in memory, so nothing that
// the machine does is kept), under a kernel of Debian's for clouds, which needs
// no modules for the serial line. On that line a small program in the machine
// waits for commands ([Serve], package guest) and answers with how they ended.
//
// The entry point is [Boot]:
//
//	m, err := vm.Boot(ctx, vm.Config{Lab: lab.New(), Suite: lab.Sid, Files: map[string]string{
//		vm.Guest: guest, "/usr/bin/svcrun": svcrun, // programs of the host
//	}})
//	if err != nil {
//		return err // a *lab.MissingError says what this machine lacks, with its cure
//	}
//	defer m.Close()
//	result, err := m.Exec(ctx, "systemctl", "is-system-running", "--wait")
//
// Invariants: a machine lives no longer than the process that booted it. A
// command that does not end in its context's time ends the machine: nothing else
// is sure to end a machine in which processes run wild. Close leaves no process
// and no file.
package vm
