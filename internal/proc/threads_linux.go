package proc

import (
	"runtime"
	"sync"
)

const (
	// maxRunning is how many threads run Go code at once. One would do; each more
	// wants threads in reserve, and a machine may have a hundred processors.
	maxRunning = 2

	// ownBlocked is how many threads may wait in the kernel for this program
	// itself: for signals, for descriptors, for a fork, for a log that is slow.
	ownBlocked = 4
)

// ReserveThreads starts the threads that this process may ever need, with so many
// of its probes in the kernel at once. The Go runtime starts one when all that
// it has are busy, and ends the program where it may not (runtime: newosproc):
// a service that has used up its limit of processes (TasksMax= or LimitNPROC=)
// would have svcrun end at any moment, and would end with it.
func ReserveThreads(probes int) {
	runtime.GOMAXPROCS(min(maxRunning, runtime.GOMAXPROCS(0)))
	var started sync.WaitGroup
	all := make(chan struct{})
	for range ownBlocked + probes {
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
