package lab

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// emptyLab is a lab with a cache of its own and no mirror.
func emptyLab(t *testing.T) *Lab {
	t.Helper()
	l := New()
	l.Cache, l.Mirror, l.Progress = t.TempDir(), "", io.Discard
	if err := l.prepare(); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRootsOfOtherRecipesAreRemovedUnlessInUse(t *testing.T) {
	l := emptyLab(t)
	current := Trixie.rootName()
	for _, name := range []string{current, "trixie-000000000000", "trixie-111111111111", "sid-000000000000"} {
		if err := os.Mkdir(filepath.Join(l.Cache, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inUse, err := tryLock(l.lockPath("trixie-111111111111"), syscall.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	defer inUse.Close()
	if err := l.removeOldRoots(Trixie); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		current: true, "trixie-000000000000": false, "trixie-111111111111": true, "sid-000000000000": true,
	} {
		if _, err := os.Stat(filepath.Join(l.Cache, name)); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
}

func TestRootIsNamedBySuiteAndRecipe(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []Suite{Bullseye, Bookworm, Trixie, Sid} {
		name := s.rootName()
		if !strings.HasPrefix(name, string(s)+"-") || seen[name] || name != s.rootName() {
			t.Errorf("the root of %s is called %s", s, name)
		}
		seen[name] = true
	}
}

func TestBuildWithoutAMirrorSaysWhatToSet(t *testing.T) {
	l := emptyLab(t)
	err := l.Build(t.Context(), Trixie, Sid)
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), mirrorVar) {
		t.Errorf("error %v", err)
	}
}

func TestUnreachableMirrorIsMissing(t *testing.T) {
	if _, err := os.Stat(aptHelper); err != nil {
		t.Skipf("SKIP: no %s here to ask a mirror with", aptHelper)
	}
	l := emptyLab(t)
	l.Mirror = "http://127.0.0.1:1/debian"
	needs := l.missingForBuild(t.Context(), Trixie)
	last := needs[len(needs)-1]
	if !strings.Contains(last.What, l.Mirror) || !strings.Contains(last.What, "trixie") || last.Cure == "" {
		t.Errorf("missing: %v", needs)
	}
}

func TestCacheThatCannotBeAMountOptionIsRefused(t *testing.T) {
	for _, cache := range []string{"relative", "/with:colon", "/with,comma", "/with blank", `/with\backslash`} {
		l := New()
		l.Cache = cache
		if err := l.prepare(); err == nil || !strings.Contains(err.Error(), cacheVar) {
			t.Errorf("%s: %v", cache, err)
		}
	}
}

func TestLockExcludesAndItsFileMayBeRemoved(t *testing.T) {
	l := emptyLab(t)
	first, err := l.lock(t.Context(), "x", syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := l.lock(ctx, "x", syscall.LOCK_SH); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second holder: %v", err)
	}
	// Whoever had opened the file before it was removed must not believe that
	// it holds the lock which others take on the new file.
	if err := os.Remove(l.lockPath("x")); err != nil {
		t.Fatal(err)
	}
	second, err := l.lock(t.Context(), "x", syscall.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	if _, err := tryLock(l.lockPath("x"), syscall.LOCK_EX); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("a third holder: %v", err)
	}
	second.Close()
}

func TestNeedsAreReadFromTheProbesReport(t *testing.T) {
	needs := needsOf("cgroup\tmount: permission denied\nnoise\ncgroup\tmkdir: no such file\nunknown\tx\noverlay\tmount: unknown filesystem\n")
	if len(needs) != 2 || needs[0].Cure != cures["cgroup"] || needs[1].Cure != cures["overlay"] ||
		!strings.Contains(needs[0].What, "permission denied") {
		t.Errorf("needs: %v", needs)
	}
	err := &MissingError{Needs: needs}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "modprobe overlay") {
		t.Errorf("the error is not one line with cures: %s", text)
	}
}

func TestMissingProgramNamesItsPackage(t *testing.T) {
	needs := missingPrograms(map[string]string{"no-such-program": "its-package", "sh": "dash"})
	if len(needs) != 1 || needs[0].String() != "the program no-such-program (cure: apt-get install -y its-package)" {
		t.Errorf("needs: %v", needs)
	}
}
