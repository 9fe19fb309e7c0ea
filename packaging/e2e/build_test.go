package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab/labtest"
)

const (
	// repository is the module's directory, seen from this one.
	repository = "../.."
	// buildBound is for a build without any cache, on a machine that does much else.
	buildBound = 14 * time.Minute
	// commitTime stands for that of a commit, which a copy does not have.
	commitTime = 1_700_000_000

	oldVersion, newVersion = "1.0.0", "1.1.0"
)

var machines labtest.Pool

// TestMain builds what all tests share, in a directory of its own.
func TestMain(m *testing.M) {
	work, err := os.MkdirTemp("", "svckit-packages-")
	if err != nil {
		panic(err)
	}
	builds.dir = work
	code := machines.Main(m)
	if err := os.RemoveAll(work); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// builds are the releases and packages that the tests share.
var builds struct{ dir string }

var (
	oldRelease     = sync.OnceValues(func() (string, error) { return build("old", oldVersion, "release", host()) })
	oldAgain       = sync.OnceValues(func() (string, error) { return build("elsewhere/again", oldVersion, "release", "amd64 arm64") })
	newPackages    = sync.OnceValues(func() (string, error) { return build("new", newVersion, "deb rpm", host()) })
	tellsOfRelease = fmt.Sprintf("# Changelog\n\n## [Unreleased]\n\n## [%s] - 2026-12-01\n\n- The first.\n", oldVersion)
)

// host is the architecture whose packages can be installed here.
func host() string { return runtime.GOARCH }

// build copies the tree, and has make build a version there. What is made is in
// the directory that it returns.
func build(name, version, targets, archs string) (string, error) {
	tree := filepath.Join(builds.dir, name)
	if err := copyTree(tree); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(tree, "CHANGELOG.md"), []byte(tellsOfRelease), 0o644); err != nil {
		return "", err
	}
	if os.Getenv("SVCKIT_FULL") == "" {
		if err := compressLess(filepath.Join(tree, "packaging/nfpm.yaml")); err != nil {
			return "", err
		}
	}
	out, err := runMake(tree, version, targets, archs)
	if err != nil {
		return "", fmt.Errorf("make %s: %w\n%s", targets, err, out)
	}
	return filepath.Join(tree, "dist"), nil
}

// compressLess saves four fifths of the time that a package takes.
func compressLess(config string) error {
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	return os.WriteFile(config, bytes.ReplaceAll(text, []byte("compression: xz"), []byte("compression: gzip:1")), 0o644)
}

// runMake runs make in a tree, as if nobody had called this test by make.
func runMake(tree, version, targets, archs string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), buildBound)
	defer cancel()
	args := append(strings.Fields(targets), "VERSION=v"+version, "ARCHS="+archs)
	cmd := exec.CommandContext(ctx, "make", append([]string{"-C", tree}, args...)...)
	// Without its directory in it, a package is compiled once for all copies.
	cmd.Env = []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", commitTime), "GOFLAGS=-trimpath"}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !slices.Contains([]string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VERSION", "DIST", "GOFLAGS", "SVCKIT_BIN"}, name) {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// copyTree copies the sources, so that nothing is built in the checkout and the
// directory is another one.
func copyTree(to string) error {
	from := os.DirFS(repository)
	return fs.WalkDir(from, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains([]string{".git", "bin", "build", "dist"}, name):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		return copyFile(filepath.Join(repository, name), filepath.Join(to, name))
	})
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was somebody's temporary file
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// built is the directory that a build has filled.
func built(t *testing.T, build func() (string, error)) string {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// deb and rpm are the names of this architecture's packages.
func deb(version string) string { return fmt.Sprintf("svckit_%s-1_%s.deb", version, host()) }

func rpm(version string) string {
	return fmt.Sprintf("svckit-%s-1.%s.rpm", version, map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[host()])
}

func TestTwoBuildsAreByteEqual(t *testing.T) {
	t.Parallel()
	one, other := built(t, oldRelease), built(t, oldAgain)
	entries, err := os.ReadDir(one)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, entry := range entries {
		// These two tell of the architectures that were built, and the copies differ there.
		if name := entry.Name(); name != "SHA256SUMS" && !strings.HasSuffix(name, ".cdx.json") {
			compared++
			if !bytes.Equal(read(t, one, name), read(t, other, name)) {
				t.Errorf("%s differs between %s and %s", name, one, other)
			}
		}
	}
	if compared != 3 {
		t.Errorf("%d files were compared, not a deb, an rpm and a tarball", compared)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
