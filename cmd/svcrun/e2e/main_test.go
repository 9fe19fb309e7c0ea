package e2e

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

// onEach runs a test on every suite's systemd, with svcrun installed.
func onEach(t *testing.T, test func(t *testing.T, m *labtest.Machine)) {
	t.Parallel()
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := machines.Get(t, suite)
			install(t, m, filepath.Join(labtest.Programs(t), "svcrun"), "/usr/bin/svcrun")
			test(t, m)
		})
	}
}

// installed are the programs of each machine.
var installed sync.Map

// install installs a program once in a machine's life: one that is written anew
// while another test has it executed is busy (ETXTBSY in execve(2)).
func install(t *testing.T, m *labtest.Machine, hostPath, guestPath string) {
	t.Helper()
	type key struct {
		machine *lab.Machine
		path    string
	}
	once, _ := installed.LoadOrStore(key{m.Machine, guestPath}, &sync.Once{})
	if once, ok := once.(*sync.Once); ok {
		once.Do(func() { m.Install(hostPath, guestPath, 0o755) })
	}
}
