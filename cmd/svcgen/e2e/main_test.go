package e2e

import (
	"os"
	"path/filepath"
	"strconv"
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
			install(t, m, "svcrun")
			test(t, m)
		})
	}
}

// installed are the programs of each machine.
var installed sync.Map

// install installs a program once in a machine's life: one that is written anew
// while another test has it executed is busy (ETXTBSY in execve(2)).
func install(t *testing.T, m *labtest.Machine, program string) {
	t.Helper()
	type key struct {
		machine *lab.Machine
		program string
	}
	once, _ := installed.LoadOrStore(key{m.Machine, program}, &sync.Once{})
	if once, ok := once.(*sync.Once); ok {
		once.Do(func() { m.Install(filepath.Join(labtest.Programs(t), program), "/usr/bin/"+program, 0o755) })
	}
}

// target is svcgen's name for a machine: the Debian release, or the version.
func target(m *labtest.Machine) string {
	switch m.Suite() {
	case lab.Bookworm:
		return "debian12"
	case lab.Trixie:
		return "debian13"
	}
	return "v" + strconv.Itoa(m.Version())
}
