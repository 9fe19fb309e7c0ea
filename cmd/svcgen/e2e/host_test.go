package e2e

import (
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/unitgen"
)

func TestHostIsTheManagerThatRuns(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		machines.Program(m, "svcgen")
		want, err := unitgen.LookupTarget(target(m))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Run("/usr/bin/svcgen", "targets"); !strings.HasSuffix(got, "this machine: "+want.String()+"\n") {
			t.Errorf("on %s, which is %s, svcgen says\n%s", m.FullVersion(), want, got)
		}
	})
}
