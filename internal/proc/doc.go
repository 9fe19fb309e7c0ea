// Package proc is svcrun's side of the kernel's process interface: it starts
// processes in groups of their own, just as svcrun itself was started, reaps whatever it is given, finds every
// descendant, and ends svcrun itself as its child ended. It is svcgen's too, as
// far as that runs services: it starts svcrun as a manager would.
//
// Invariants:
//   - there is one reaper, and it never confuses one process's status with
//     another's: a pid is registered before it can be reaped;
//   - a signal goes to a pid or a group only while a process of ours still
//     holds it, so that a reused number is never hit;
//   - what a command is given in signals, mask, limits and descriptors is what
//     svcrun was given, whatever the Go runtime has made of that since;
//   - no thread of svcrun's ends before svcrun: the kernel ends a child with the
//     thread that started it, and the Go runtime ends one only with a goroutine
//     that is locked to it, so whoever locks one unlocks it;
//   - Run leaves nothing of its command behind but what has left its group.
//
// NewTable is the entry point. It is Linux only.
package proc
