package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// buildBound is how long the bootstrap of one root may take.
const buildBound = 8 * time.Minute

// buildsAtOnce: two keep two cores and the network busy, more only wait.
const buildsAtOnce = 2

// Build makes sure that the suites' roots are in the cache.
func (l *Lab) Build(ctx context.Context, suites ...Suite) error {
	turns := make(chan struct{}, buildsAtOnce)
	errs := make([]error, len(suites))
	var builds sync.WaitGroup
	for i, suite := range suites {
		builds.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			held, err := l.holdRoot(ctx, suite)
			if err == nil {
				err = held.Close()
			}
			errs[i] = err
		})
	}
	builds.Wait()
	return errors.Join(errs...)
}

// rootName names a suite's root by its recipe: another recipe, another root.
func (s Suite) rootName() string {
	recipe := strings.Join([]string{
		string(s), strings.Join(s.packages(), ","), buildScript, customizeScript,
	}, "\x00")
	sum := sha256.Sum256([]byte(recipe))
	return string(s) + "-" + hex.EncodeToString(sum[:6])
}

// rootPath is where a suite's root is, once it is built. A root is built
// elsewhere and renamed, so that one which is there is whole.
func (l *Lab) rootPath(s Suite) string { return filepath.Join(l.Cache, s.rootName()) }

func (l *Lab) hasRoot(s Suite) bool {
	info, err := os.Stat(l.rootPath(s))
	return err == nil && info.IsDir()
}

// holdRoot returns the shared lock of a suite's root, which it builds if need
// be. While the lock is held nobody removes the root, see [Lab.removeOldRoots].
func (l *Lab) holdRoot(ctx context.Context, s Suite) (*os.File, error) {
	if err := l.prepare(); err != nil {
		return nil, err
	}
	lock, err := l.lock(ctx, s.rootName(), syscall.LOCK_SH)
	if err != nil || l.hasRoot(s) {
		return lock, err
	}
	lock.Close()
	if err := l.buildOnce(ctx, s); err != nil {
		return nil, fmt.Errorf("cannot build the %s root: %w", s, err)
	}
	return l.lock(ctx, s.rootName(), syscall.LOCK_SH)
}

// buildOnce builds a root unless another process has done so while this one
// waited for its turn.
func (l *Lab) buildOnce(ctx context.Context, s Suite) error {
	turn, err := l.lock(ctx, string(s), syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer turn.Close()
	if l.hasRoot(s) {
		return nil
	}
	if needs := l.missingForBuild(ctx, s); len(needs) > 0 {
		return &MissingError{Needs: needs}
	}
	began := time.Now()
	fmt.Fprintf(l.Progress, "lab: building the %s root from %s (once, about a minute)\n", s, l.Mirror)
	if err := l.build(ctx, s); err != nil {
		return err
	}
	fmt.Fprintf(l.Progress, "lab: the %s root is built, %s\n", s, time.Since(began).Round(time.Second))
	return l.removeOldRoots(s)
}

// build bootstraps a root. The caller holds the suite's lock, so whatever has
// the temporary name was left by a build that was killed.
func (l *Lab) build(ctx context.Context, s Suite) error {
	ctx, cancel := context.WithTimeout(ctx, buildBound)
	defer cancel()
	unfinished := filepath.Join(l.Cache, "unfinished-"+string(s))
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	cmd := script(buildScript, syscall.CLONE_NEWNS|syscall.CLONE_NEWPID,
		"LAB_SUITE="+string(s), "LAB_PACKAGES="+strings.Join(s.packages(), ","),
		"LAB_MIRROR="+l.Mirror, "LAB_CUSTOMIZE="+customizeScript,
		"LAB_WORK="+l.mountPoint(), "LAB_TARGET="+unfinished, "DEBIAN_FRONTEND=noninteractive")
	cmd.Env = append(cmd.Env, proxies()...)
	if _, err := runScript(ctx, cmd); err != nil {
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	return os.Rename(unfinished, l.rootPath(s))
}

// proxies are the variables by which apt finds its proxy.
func proxies() []string {
	var set []string
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy"} {
		if value, ok := os.LookupEnv(name); ok {
			set = append(set, name+"="+value)
		}
	}
	return set
}

// removeOldRoots removes the suite's roots of other recipes, except those that
// a machine runs from: of another checkout, say.
func (l *Lab) removeOldRoots(s Suite) error {
	dirs, err := filepath.Glob(filepath.Join(l.Cache, string(s)+"-*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range dirs {
		name := filepath.Base(dir)
		if name == s.rootName() || filepath.Ext(name) == lockExt {
			continue
		}
		lock, err := tryLock(l.lockPath(name), syscall.LOCK_EX)
		if err != nil {
			continue
		}
		errs = append(errs, os.RemoveAll(dir), os.Remove(l.lockPath(name)), lock.Close())
	}
	return errors.Join(errs...)
}

// A Root is the directory of a suite's root, for who boots it by other means
// than [Lab.Boot]. It is the cache's and for reading only; nobody removes it
// before Close.
type Root struct {
	Dir  string
	lock *os.File
}

// Close lets go of the root.
func (r *Root) Close() error { return r.lock.Close() }

// Root returns a suite's root, which it builds if need be.
func (l *Lab) Root(ctx context.Context, s Suite) (*Root, error) {
	lock, err := l.holdRoot(ctx, s)
	if err != nil {
		return nil, err
	}
	return &Root{Dir: l.rootPath(s), lock: lock}, nil
}
