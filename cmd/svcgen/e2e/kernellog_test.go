package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/internal/lab/vm/vmtest"
)

// TestKernelLogHasTheGeneratorsLinesOfTheBoot boots a machine with a kernel of
// its own: those of the lab have no kernel log. When the generator runs there is
// no journal yet, and the file systems are as the boot has them that early.
func TestKernelLogHasTheGeneratorsLinesOfTheBoot(t *testing.T) {
	vmtest.Asked(t)
	dir := t.TempDir()
	place(t, filepath.Join(dir, "app.yaml"), sleeper("app", ""), 0o644)
	place(t, filepath.Join(dir, "broken.yaml"), "name: broken\nexce: /bin/true\n", 0o644)
	m := vmtest.Boot(t, lab.Sid, map[string]string{
		"/usr/bin/svcrun": filepath.Join(labtest.Programs(t), "svcrun"),
		"/usr/lib/systemd/system-generators/svckit": filepath.Join(labtest.Programs(t), "svcgen"),
		policyDir + "app.yaml":                      filepath.Join(dir, "app.yaml"),
		policyDir + "broken.yaml":                   filepath.Join(dir, "broken.yaml"),
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, expect := range []struct{ command, want string }{
		{"systemctl is-system-running --wait >/dev/null; systemctl is-active app.service", "active\n"},
		{"journalctl -q -b -t svckit _TRANSPORT=kernel -p warning -o cat", policyDir + "broken.yaml:2:1: unknown key \"exce\"; did you mean exec\n"},
	} {
		result, err := m.Exec(ctx, "sh", "-c", expect.command)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(result.Stdout, expect.want) || strings.Count(result.Stdout, "\n") != 1 {
			t.Errorf("%s says\n%s%s\nwant\n%s", expect.command, result.Stdout, result.Stderr, expect.want)
		}
	}
}
