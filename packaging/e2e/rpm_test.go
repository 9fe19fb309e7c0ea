package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// rpmBound is for one call of rpm, on a machine that does much else.
const rpmBound = 2 * time.Minute

// TestRpmLivesAndGoes installs, upgrades and erases the rpm in the root of a
// machine that runs, with its scripts. The suites are those whose systemd is next
// to that of RHEL 9 and 10.
func TestRpmLivesAndGoes(t *testing.T) {
	t.Parallel()
	program := tool(t, "rpm")
	built(t, oldRelease)
	for _, suite := range []lab.Suite{lab.Bookworm, lab.Trixie} {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			l := boot(t, suite)
			database := t.TempDir()
			rpm := func(argv ...string) {
				t.Helper()
				// rpm is the host's, with the machine's root and its namespaces but for that of
				// mounts: its scripts run as if it were installed there. Debian's rpm wants to be
				// told that it is meant, and nothing of Debian's provides anything to rpm; its
				// plugins would speak to the host. What it has installed is kept out of the machine.
				pid := strconv.Itoa(l.Pid())
				argv = append([]string{
					"--target=" + pid, "--pid", "--uts", "--ipc", "--net", "--cgroup", "--", program,
					"--root=/proc/" + pid + "/root", "--force-debian", "--dbpath=" + database, "--nodeps", "--noplugins",
				}, argv...)
				ctx, cancel := context.WithTimeout(t.Context(), rpmBound)
				defer cancel()
				if out, err := exec.CommandContext(ctx, "nsenter", argv...).CombinedOutput(); err != nil || len(out) > 0 {
					t.Fatalf("rpm %v: %v\n%s", argv, err, out)
				}
			}
			rpmLife(l, rpm)
		})
	}
}

// others are directories that a package of the distribution has, and Debian none.
var others = []string{"/usr/share/man/man1 d 755 ", "/usr/share/man/man5 d 755 ", "/usr/share/licenses d 755 "}

func rpmLife(l life, run func(...string)) {
	before, state := l.files(), l.state()
	run("--install", filepath.Join(built(l.t, oldRelease), rpm(oldVersion)))
	l.checkInstalled(oldVersion)
	l.Write(policyFile, webPolicy, 0o644)
	l.Run("systemctl", "daemon-reload")
	l.Run("systemctl", "start", web)
	l.goesOn("an upgrade", func() { run("--upgrade", filepath.Join(built(l.t, newPackages), rpm(newVersion))) })
	l.checkInstalled(newVersion)
	run("--verify", "svckit")
	l.goesOn("a reload of systemd", func() { l.Run("systemctl", "daemon-reload") })
	l.stops()
	l.Run("systemctl", "start", web)
	l.goesOn("the removal", func() {
		run("--erase", "svckit")
		l.Run("systemctl", "daemon-reload")
	})
	l.ends()

	// rpm leaves what it did not bring: the policies, and what svcrun has written down.
	l.Read(policyFile)
	l.Run("rm", "-r", "/etc/svckit", "/var/lib/svckit")
	l.checkSame(before, slices.DeleteFunc(l.files(), func(file string) bool { return slices.Contains(others, file) }))
	l.checkState(state)
}
