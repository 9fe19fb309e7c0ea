package proc

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ownThreads is how many threads this program needs beside those that run Go code,
// where no probe blocks one: the runtime's monitor, one that waits for descriptors,
// and one to go on when another is in the kernel with a log that is slow. What
// waits for signals and messages makes no calls that the runtime would hand the
// processor over for.
const ownThreads = 3

// ReserveThreads starts the threads that this process may ever need, with so many
// of its probes and writers in the kernel at once. The Go runtime starts one when
// all that it has are busy, and ends the program where it may not (runtime:
// newosproc): a service that has used up its limit of processes (TasksMax= or
// LimitNPROC=) would have svcrun end at any moment, and would end with it.
func ReserveThreads(blocking int) {
	needed := runtime.GOMAXPROCS(0) + ownThreads + blocking
	if threads() >= needed {
		return
	}
	others := needed - 2 // all but this one and the monitor
	for range others {
		go hold()
	}
	for until := time.Now().Add(holdTime); threads() < needed; runtime.Gosched() {
		if time.Now().After(until) {
			lockThreads(others)
			return
		}
	}
}

// threads is how many threads this process has.
func threads() int { return len(numbersIn("/proc/self/task")) }

// holdTime is how long a thread is held. The monitor looks every 20 µs for threads
// that are in the kernel, and has the runtime go on with another one.
const holdTime = 5 * time.Millisecond

// hold keeps a thread in the kernel for a moment.
func hold() {
	moment := unix.NsecToTimespec(holdTime.Nanoseconds())
	_, _ = unix.Ppoll(nil, &moment, nil)
}

// lockThreads has so many goroutines on threads of their own at once. That is
// sure, on a host that is too busy for the other way too; but the runtime keeps a
// further thread from then on, which does nothing but start others.
func lockThreads(count int) {
	var started sync.WaitGroup
	all := make(chan struct{})
	for range count {
		started.Add(1)
		go func() {
			runtime.LockOSThread() // a thread for each, as long as all are held
			started.Done()
			<-all
			runtime.UnlockOSThread() // or the thread would end with the goroutine
		}()
	}
	started.Wait()
	close(all)
}
