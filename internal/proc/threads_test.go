package proc

import (
	"runtime"
	"testing"
)

func TestThreadsAreThereBeforeTheyAreNeeded(t *testing.T) {
	alone(t, func(t *testing.T) {
		const probes = 30
		ReserveThreads(probes)
		if there := len(numbersIn("/proc/self/task")); there < runtime.GOMAXPROCS(0)+ownThreads+probes {
			t.Errorf("%d threads", there)
		}
	})
}

func TestThreadsAreThereOnABusyHostToo(t *testing.T) {
	alone(t, func(t *testing.T) {
		const count = 30
		lockThreads(count)
		if there := threads(); there < count+2 {
			t.Errorf("%d threads", there)
		}
	})
}
