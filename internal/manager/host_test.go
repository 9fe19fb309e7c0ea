package manager

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
)

// userHost is ThisHost as a user's, whoever runs the tests.
func userHost(t *testing.T, env map[string]string) *Host {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("skipped: root has the system's directories")
	}
	h := ThisHost(func(name string) string { return env[name] })
	t.Cleanup(h.Close)
	return h
}

func TestAUsersDirectoriesAreThoseOfItsManager(t *testing.T) {
	dir := t.TempDir()
	h := userHost(t, map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": dir, "XDG_STATE_HOME": "/s"})
	for got, want := range map[string]string{
		h.Runtime: dir, h.State: "/s", h.Logs: "/s/log", h.Cache: "/h/.cache", h.Config: "/h/.config", filepath.Dir(h.Dir): dir,
	} {
		if got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
	h.Close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestAPathOfTheCallersThatIsNotAbsoluteCountsForNothing(t *testing.T) {
	h := &Host{UID: 4242424, HomeDir: "/h"} // whom nobody knows
	h.userPlaces(func(string) string { return "here" })
	if got, want := [...]string{h.State, h.Logs, h.Cache, h.Config, h.Runtime}, [...]string{"/h/.local/state", "/h/.local/state/log", "/h/.cache", "/h/.config", ""}; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if h.whoAmI(func(string) string { return "here" }); h.HomeDir != "/" {
		t.Errorf("home directory %s", h.HomeDir)
	}
}

func TestAUserWithoutAHomeDirectoryStartsItsServicesInTheRoot(t *testing.T) {
	dir, u := t.TempDir(), &unit{plan: &plan.Service{}}
	for home, want := range map[string]string{dir: dir, dir + "/gone": "/", os.DevNull: "/"} {
		r := &runner{host: &Host{HomeDir: home}}
		if got := r.workingDir(u); got != want {
			t.Errorf("home %s: %s; want %s", home, got, want)
		}
	}
}

func TestWithoutARuntimeDirectoryOneIsMadeAndRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	h := userHost(t, nil)
	if h.Runtime != filepath.Join(h.Dir, "run") || !exists(h.Runtime) {
		t.Errorf("%s in %s", h.Runtime, h.Dir)
	}
	h.Close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestNothingThatCanBeWrittenIsNoReasonNotToRun(t *testing.T) {
	t.Setenv("TMPDIR", "/dev/null/nowhere")
	h := userHost(t, map[string]string{"XDG_RUNTIME_DIR": "/dev/null/nowhere"})
	if h.Dir != "" {
		t.Errorf("directory %s", h.Dir)
	}
}

func TestTheNotifySocketIsAbstractWhereItCannotBeAFile(t *testing.T) {
	dir := shortDir(t)
	for in, want := range map[string]string{
		dir:                               dir + "/a.service.notify",
		"":                                "@svckit/",
		dir + "/gone":                     "@svckit/",
		dir + strings.Repeat("/long", 20): "@svckit/",
	} {
		r := &runner{host: &Host{Dir: in}}
		l, err := r.listenFor("a.service")
		if err != nil {
			t.Errorf("in %q: %v", in, err)
			continue
		}
		if !strings.HasPrefix(l.Address(), want) {
			t.Errorf("in %q: %s; want %s", in, l.Address(), want)
		}
		_ = l.Close()
	}
}

func TestWhatAKilledManagerHasLeftIsRemovedByTheNext(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	make1 := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path+"/credentials/a.service", 0o755); err != nil {
			t.Fatal(err)
		}
		_ = os.WriteFile(path+"/credentials/a.service/token", []byte("hush"), 0o400)
		_ = os.Chmod(path+"/credentials/a.service", 0o500)
		_ = os.Chtimes(path, old, old)
		return path
	}
	stale, others, running, young := make1("svcgen-run-1"), make1("else"), make1("svcgen-run-2"), make1("svcgen-run-3")
	lock, err := lockDir(running)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	_ = os.Chtimes(young, time.Now(), time.Now())
	t.Cleanup(func() {
		for _, path := range []string{others, running, young} {
			takeCredentials(path + "/credentials/a.service")
		}
	})
	(&Host{UID: os.Geteuid() + 1}).removeStale(dir)
	if !exists(stale) {
		t.Error("another user's was removed")
	}
	(&Host{UID: os.Geteuid()}).removeStale(dir)
	if exists(stale) || !exists(others) || !exists(running) || !exists(young) {
		t.Errorf("stale %v, another's %v, of one that runs %v, one just made %v; want but the first", exists(stale), exists(others), exists(running), exists(young))
	}
}

func TestRootsDirectoriesAreTheSystems(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root has them")
	}
	h := ThisHost(func(string) string { return "/elsewhere" })
	defer h.Close()
	if h.State != "/var/lib" || h.Config != "/etc" || h.Logs != "/var/log" || h.Cache != "/var/cache" || !strings.HasPrefix(h.Dir, "/run/") {
		t.Errorf("%+v", h)
	}
}
