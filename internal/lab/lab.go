package lab

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// The environment variables that [New] reads.
const (
	cacheVar  = "SVCKIT_LAB_CACHE" // directory of the cached roots
	mirrorVar = "SVCKIT_MIRROR"    // Debian mirror, instead of apt's own
)

const defaultCache = "/var/cache/svckit/lab"

// A Lab keeps the roots and boots machines from them. Its methods may be
// called from several goroutines, and by several processes that share a cache.
type Lab struct {
	// Cache is the directory of the cached roots.
	Cache string
	// Mirror is the Debian mirror that roots are built from; empty if the
	// machine's apt sources name none.
	Mirror string
	// Progress is told, one line each, of work that takes longer than a
	// boot; never nil.
	Progress io.Writer

	probed func() []Need // what the kernel and the privileges lack; asked once
}

// New returns the lab of this machine, as its environment and its apt sources
// have it. It touches nothing yet.
func New() *Lab {
	l := &Lab{Cache: os.Getenv(cacheVar), Mirror: os.Getenv(mirrorVar), Progress: os.Stderr}
	if l.Cache == "" {
		l.Cache = defaultCache
	}
	if l.Mirror == "" {
		l.Mirror = aptMirror(os.DirFS("/etc/apt"))
	}
	l.probed = sync.OnceValue(l.probe)
	return l
}

// mountPoint is an empty directory that each machine covers with a file system
// in a mount namespace of its own.
func (l *Lab) mountPoint() string { return filepath.Join(l.Cache, "mnt") }

// runDir holds what a machine needs on the host while it boots.
func (l *Lab) runDir() string { return filepath.Join(l.Cache, "run") }

// prepare makes the cache directory usable.
func (l *Lab) prepare() error {
	if !filepath.IsAbs(l.Cache) || strings.ContainsAny(l.Cache, ":,\\ \t\n\"") {
		return fmt.Errorf("%s=%q: need an absolute path without blanks, colons, commas, quotes and backslashes (it becomes a mount option)", cacheVar, l.Cache)
	}
	for _, dir := range []string{l.Cache, l.mountPoint(), l.runDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("lab cache: %w", err)
		}
	}
	return nil
}
