package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

// unitDir is where the units of tests go.
const unitDir = "/etc/systemd/system/"

// generate runs svcgen, and returns the files by their names. A policy that
// is no more than it says gives no warning that is not expected, so that none
// is looked at.
func generate(t *testing.T, policy, target string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), filepath.Join(labtest.Programs(t), "svcgen"), "generate", "-", "--target", target, "-o", dir)
	cmd.Stdin = strings.NewReader(policy)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("svcgen: %v\n%s\n%s", err, stderr.String(), policy)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

// services are the units of policies in one machine. They are installed
// together, because a manager up to 254 forgets all start limits when it is
// reloaded (systemd: NEWS of 255).
type services struct {
	t     *testing.T
	m     *labtest.Machine
	units []string
}

// add writes the units of a policy.
func (s *services) add(policy string) {
	s.t.Helper()
	for name, text := range generate(s.t, policy, target(s.m)) {
		s.m.Write(unitDir+name, text, 0o644)
		s.units = append(s.units, name)
	}
}

// load makes the manager know the units; it removes them after the test.
func (s *services) load() {
	s.t.Helper()
	s.t.Cleanup(s.remove)
	for _, unit := range s.units {
		if !strings.Contains(unit, "@") && s.m.Show(unit, "LoadState")["LoadState"] != "loaded" {
			s.m.Run("systemctl", "daemon-reload")
		}
	}
}

func (s *services) remove() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // the test's own is over
	defer cancel()
	for _, args := range [][]string{{"stop", "--no-block"}, {"kill", "--signal=KILL"}, {"stop"}, {"reset-failed"}} {
		argv := append([]string{"systemctl"}, args...)
		for _, unit := range s.units {
			argv = append(argv, strings.Replace(unit, "@.", "@*.", 1))
		}
		if _, err := s.m.Exec(ctx, argv...); err != nil {
			s.t.Error(err)
		}
	}
	for _, unit := range s.units {
		if err := s.m.Remove(unitDir + unit); err != nil {
			s.t.Error(err)
		}
	}
}
