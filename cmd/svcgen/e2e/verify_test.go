package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// TestSystemdHasNothingToSayAboutAnyUnit has each systemd read the units of
// all examples and of policies that say all that there is to say, generated
// for it. It exits with 0 on warnings too, so that every line counts.
func TestSystemdHasNothingToSayAboutAnyUnit(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		policies, err := filepath.Glob("testdata/policies/*.yaml")
		if err != nil || len(policies) == 0 {
			t.Fatal("no policies", err)
		}
		for _, policy := range append(policies, exampleFiles(t)...) {
			name := filepath.Base(policy)
			dir := "/tmp/verify-" + strings.TrimSuffix(name, ".yaml") + "/"
			files := generate(t, readFile(t, policy), target(m))
			manager := "--system"
			if name == "user.yaml" {
				manager = "--user"
			}
			for file, text := range files {
				m.Write(dir+file, text, 0o644)
			}
			for file := range files {
				if strings.HasPrefix(file, "svckit.") {
					continue // the secrets of a check
				}
				if said := verify(m, manager, dir+strings.Replace(file, "@.", "@7.", 1)); said != "" {
					t.Errorf("%s: systemd says of %s:\n%s\n%s", name, file, said, files[file])
				}
			}
		}
		m.Write("/tmp/verify/wrong.service", "[Service]\nExecStart=/bin/true\nBogus=yes\n", 0o644)
		if said := verify(m, "--system", "/tmp/verify/wrong.service"); !strings.Contains(said, "Bogus") {
			t.Errorf("of a wrong unit systemd says %q", said)
		}
	})
}

// verify is what systemd says of a unit.
func verify(m *labtest.Machine, manager, path string) string {
	result := m.Try("env", "SYSTEMD_LOG_COLOR=0", "XDG_RUNTIME_DIR=/run", "HOME=/root", "systemd-analyze", "verify", manager, "--man=no", "--recursive-errors=no", path)
	return result.Stdout + result.Stderr
}
