package proc

import (
	"runtime"
	"testing"
)

func TestThreadsAreThereBeforeTheyAreNeeded(t *testing.T) {
	alone(t, func(t *testing.T) {
		const probes = 3
		running := runtime.GOMAXPROCS(0)
		ReserveThreads(probes)
		if there := len(numbersIn("/proc/self/task")); there < ownBlocked+probes {
			t.Errorf("%d threads", there)
		}
		if now := runtime.GOMAXPROCS(0); now != min(running, maxRunning) {
			t.Errorf("%d of them run at once", now)
		}
	})
}
