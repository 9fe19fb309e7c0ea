package e2e

import (
	"os"
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
	labtest.EachAlone(t, []string{"svcrun"}, test)
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
