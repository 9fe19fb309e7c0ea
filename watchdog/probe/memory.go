package probe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// cgroups is where the kernel tells of control groups.
type cgroups struct {
	own  string // the file that says which is this process's
	root string // where the unified hierarchy is mounted
}

var hostCgroups = cgroups{"/proc/self/cgroup", "/sys/fs/cgroup"}

// newMemory holds when this process's control group, which is the unit's, uses
// less than the check's size. Where nothing counts its memory the check is
// refused: it would hold for ever.
func newMemory(c watchdog.Check, groups cgroups) (attempt, error) {
	limit, err := c.Size()
	if err != nil {
		return nil, err
	}
	name := "memory.current"
	if c.Peak {
		name = "memory.peak"
	}
	file, err := groups.find(name)
	if err != nil {
		return nil, err
	}
	return func(context.Context) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, bare(err))
		}
		used, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return fmt.Errorf("%s is not a number", name)
		}
		if used >= limit {
			return fmt.Errorf("%s used, and it is to be below %s", about(used), syntax.FormatSize(limit))
		}
		return nil
	}, nil
}

// find is the path of a control file of this process's group (cgroups(7)), or
// says why there is none.
func (g cgroups) find(name string) (string, error) {
	text, err := os.ReadFile(g.own)
	if err != nil {
		return "", fmt.Errorf("no memory to be read: %w", err)
	}
	group, ok := unifiedGroup(string(text))
	controllers, err := os.ReadFile(filepath.Join(g.root, "cgroup.controllers"))
	if !ok || err != nil {
		return "", fmt.Errorf("there is no memory controller: this host does not have cgroup v2 alone, mounted at %s", g.root)
	}
	file := filepath.Join(g.root, group, name)
	_, err = os.Stat(file)
	switch {
	case err == nil:
		return file, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	case !slices.Contains(strings.Fields(string(controllers)), "memory"):
		return "", errors.New("there is no memory controller: the kernel, or whoever made this container, does not offer it")
	case name == "memory.peak" && exists(filepath.Join(g.root, group, "memory.current")):
		return "", errors.New("there is no memory.peak: it needs Linux 5.19")
	}
	return "", errors.New("there is no memory controller for this unit; set MemoryAccounting=yes")
}

// unifiedGroup is the path of a process's group in the unified hierarchy.
func unifiedGroup(text string) (string, bool) {
	for line := range strings.Lines(text) {
		if group, ok := strings.CutPrefix(line, "0::"); ok {
			return strings.TrimSuffix(group, "\n"), true
		}
	}
	return "", false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// about is a size as a person wants to read it: 611.8M.
func about(n int64) string {
	for _, u := range []struct {
		name  string
		shift int
	}{{"T", 40}, {"G", 30}, {"M", 20}, {"K", 10}} {
		if n>>u.shift > 0 {
			return strconv.FormatFloat(float64(n)/float64(int64(1)<<u.shift), 'f', 1, 64) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
