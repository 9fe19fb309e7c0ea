package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tool finds a program of the host's, or skips the test aloud; where nothing may
// be skipped, make has to have installed it.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("SVCKIT_E2E") == "require":
		t.Fatalf("NOT TESTED, and SVCKIT_E2E=require forbids to skip: no %s; apt-get install -y %s", name, name)
	default:
		t.Skipf("NOT TESTED: no %s; apt-get install -y %s", name, name)
	}
	return path
}

// TestLintianFindsNothing leaves out its look for words in programs: Go keeps
// strings without anything between them, so that a mistake may be where two
// meet. It is no override, as one that is not needed is a finding too.
func TestLintianFindsNothing(t *testing.T) {
	t.Parallel()
	lint := exec.Command(tool(t, "lintian"), "--allow-root", "--tag-display-limit=0", "--display-info",
		"--suppress-tags=spelling-error-in-binary", "--fail-on=error,warning,info", filepath.Join(built(t, oldRelease), deb(oldVersion)))
	lint.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	if out, err := lint.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("lintian: %v\n%s", err, out)
	}
}

func TestRpmlintFindsNothing(t *testing.T) {
	t.Parallel()
	lint := exec.Command(tool(t, "rpmlint"), "--config="+filepath.Join(repository, "packaging/rpm/rpmlint.toml"),
		filepath.Join(built(t, oldRelease), rpm(oldVersion)))
	out, err := lint.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "0 errors, 0 warnings") {
		t.Errorf("rpmlint: %v\n%s", err, out)
	}
}
