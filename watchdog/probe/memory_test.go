package probe

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hierarchy makes the files of a control group hierarchy.
func hierarchy(t *testing.T, own string, files map[string]string) cgroups {
	t.Helper()
	dir := t.TempDir()
	g := cgroups{filepath.Join(dir, "own"), filepath.Join(dir, "root")}
	files["../own"] = own
	for name, text := range files {
		path := filepath.Join(g.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

const inUnit = "0::/system.slice/a.service\n"

func TestMemoryHoldsBelowItsSize(t *testing.T) {
	for used, want := range map[string]string{
		"0\n":         "",
		"536870911\n": "",
		"536870912\n": "512.0M used, and it is to be below 512M",
		"1503238554":  "1.4G used, and it is to be below 512M",
		"max\n":       "memory.current is not a number",
	} {
		g := hierarchy(t, inUnit, map[string]string{"cgroup.controllers": "cpu memory pids\n", "system.slice/a.service/memory.current": used})
		ask, err := newMemory(check(t, "memory:512M"), g)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := ask(context.Background()); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s of 512M: %q, want %q", strings.TrimSpace(used), got, want)
		}
	}
}

func TestMemoryOfAGroupThatHasGoneFails(t *testing.T) {
	g := hierarchy(t, inUnit, map[string]string{"cgroup.controllers": "memory", "system.slice/a.service/memory.peak": "1"})
	ask, err := newMemory(check(t, "memory:512M,peak"), g)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(g.root, "system.slice")); err != nil {
		t.Fatal(err)
	}
	if err := ask(context.Background()); err == nil || err.Error() != "memory.peak: no such file or directory" {
		t.Error(err)
	}
}

func TestMemoryIsRefusedWhereNothingCountsIt(t *testing.T) {
	const a = "system.slice/a.service/"
	for name, tc := range map[string]struct {
		check, own string
		files      map[string]string
		want       string
	}{
		"legacy": {"memory:1G", "4:memory:/a\n1:name=systemd:/a\n", map[string]string{},
			"there is no memory controller: this host does not have cgroup v2 alone, mounted at ROOT"},
		"hybrid": {"memory:1G", "4:memory:/a\n0::/a\n", map[string]string{"unified/cgroup.controllers": ""},
			"there is no memory controller: this host does not have cgroup v2 alone, mounted at ROOT"},
		"not offered": {"memory:1G", inUnit, map[string]string{"cgroup.controllers": "cpu pids"},
			"there is no memory controller: the kernel, or whoever made this container, does not offer it"},
		"not enabled": {"memory:1G", inUnit, map[string]string{"cgroup.controllers": "cpu memory"},
			"there is no memory controller for this unit; set MemoryAccounting=yes"},
		"old kernel": {"memory:1G,peak", inUnit, map[string]string{"cgroup.controllers": "memory", a + "memory.current": "1"},
			"there is no memory.peak: it needs Linux 5.19"},
	} {
		g := hierarchy(t, tc.own, tc.files)
		want := strings.ReplaceAll(tc.want, "ROOT", g.root)
		if _, err := newMemory(check(t, tc.check), g); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, err := newMemory(check(t, "memory:1G"), cgroups{"/nonexistent", "/"}); err == nil {
		t.Error("taken without /proc")
	}
}
