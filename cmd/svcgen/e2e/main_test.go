package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

// onEach runs a test on every suite's systemd, with svcrun installed.
func onEach(t *testing.T, test func(t *testing.T, m *labtest.Machine)) {
	machines.Each(t, []string{"svcrun"}, test)
}

// onEachAlone is onEach on machines of the test's own: a manager up to 254 forgets
// all start limits when it is reloaded, which other tests have it do (systemd:
// NEWS of 255).
func onEachAlone(t *testing.T, test func(t *testing.T, m *labtest.Machine)) {
	t.Parallel()
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := labtest.Boot(t, suite)
			m.Install(filepath.Join(labtest.Programs(t), "svcrun"), "/usr/bin/svcrun", 0o755)
			test(t, m)
		})
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
