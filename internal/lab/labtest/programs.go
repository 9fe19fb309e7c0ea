package labtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// binVar names the directory where make has built the programs.
const binVar = "SVCKIT_BIN"

// module is where the programs' packages are, from any directory of it.
const module = "github.com/svckit/svckit"

// scratch is a directory of this test binary's; Pool.Main removes it.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "svckit-e2e-") })

// built builds the programs once in a test binary's life.
var built = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-trimpath", "-tags=urfave_cli_no_docs", "-ldflags="+module+"/cmd/svcrun=-E=svckit_rt0", "-o", dir+"/",
		module+"/cmd/svcrun", module+"/cmd/svckit-probe", module+"/cmd/svcgen", module+"/cmd/svcstat")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return dir, build.Run()
})

// Programs is a directory with svcrun, its helper, svcgen and svcstat, static as they are
// shipped: the one that SVCKIT_BIN names, or one built for this test binary. It
// is never removed by a test, as others of the same binary use it.
func Programs(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv(binVar); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "svcrun")); err == nil {
			return dir
		}
	}
	dir, err := built()
	if err != nil {
		tb.Fatalf("cannot build the programs: %v", err)
	}
	return dir
}

// Build builds a test's own program from the package at path, for as long as
// the test binary lives.
func Build(path string) (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, filepath.Base(path))
	build := exec.Command("go", "build", "-trimpath", "-o", program, path)
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return program, build.Run()
}

// removeScratch removes what was built.
func removeScratch() error {
	dir, err := scratch()
	if err != nil {
		return nil
	}
	return os.RemoveAll(dir)
}
