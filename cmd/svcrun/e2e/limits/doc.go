// Package limits holds svcrun's promises to services at their limits, of memory
// and of processes: that a fork bomb is stopped in time, that the kernel's
// killing for want of memory is told as it would be without svcrun, that memory
// checks see it coming, and that svcrun itself needs no process to end one.
//
// It needs what the lab's namespaces lack, and what could bring a machine down:
// it runs in a virtual machine, and only where SVCKIT_VM=1 asks for that (make
// test-vm).
package limits
