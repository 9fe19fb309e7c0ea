package proc

import (
	"runtime"
	"sync"
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
	if len(numbersIn("/proc/self/task")) >= needed {
		return
	}
	var started sync.WaitGroup
	all := make(chan struct{})
	for range needed - 2 { // all but this one and the monitor
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
