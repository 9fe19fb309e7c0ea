package e2e

import (
	"os"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

// onEach runs a test on every suite's systemd, with svcrun installed.
func onEach(t *testing.T, test func(t *testing.T, m *labtest.Machine)) {
	machines.Each(t, []string{"svcrun"}, test)
}
