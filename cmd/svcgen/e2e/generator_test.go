package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// Where an administrator's policies are, and where their units come to be.
const (
	policyDir    = "/etc/svckit/units/"
	generatedDir = "/run/systemd/generator/"
)

// bootGenerator boots a machine on which svckit is installed with its
// generator, as its package does, and on which policies are there before the
// boot. It is a machine of the test's own: reloads would disturb others.
func bootGenerator(t *testing.T, suite lab.Suite, policies map[string]string) *labtest.Machine {
	t.Helper()
	root := t.TempDir()
	for _, program := range []string{"svcrun", "svcgen"} {
		text, err := os.ReadFile(filepath.Join(labtest.Programs(t), program))
		if err != nil {
			t.Fatal(err)
		}
		place(t, filepath.Join(root, "usr/bin", program), string(text), 0o755)
	}
	for _, scope := range []string{"system", "user"} {
		dir := filepath.Join(root, "usr/lib/systemd", scope+"-generators")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../../../bin/svcgen", filepath.Join(dir, "svckit")); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range policies {
		place(t, filepath.Join(root, policyDir, name), text, 0o644)
	}
	if err := syscall.Mkfifo(filepath.Join(root, policyDir, "fifo.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("many@.yaml", filepath.Join(root, policyDir, "many@two.yaml")); err != nil {
		t.Fatal(err)
	}
	return labtest.BootWith(t, suite, root)
}

func place(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// sleeper is a policy of a service that does nothing, and more.
func sleeper(name, more string) string {
	return "name: " + name + "\nexec: [/bin/sleep, \"1000\"]\n" + more
}

// TestPoliciesAreUnitsAtBootAndAfterAReload boots a machine with policies, good
// ones and others, and changes them while it runs.
func TestPoliciesAreUnitsAtBootAndAfterAReload(t *testing.T) {
	t.Parallel()
	for _, suite := range lab.Suites() {
		t.Run(string(suite), func(t *testing.T) {
			t.Parallel()
			m := bootGenerator(t, suite, map[string]string{
				"app.yaml":    sleeper("app", ""),
				"broken.yaml": "name: broken\nexce: /bin/true\nuser: []\n",
				"door.yaml":   sleeper("door", "sockets: [{listen: 127.0.0.1:8080}]\ninstall: {wanted_by: []}\n"),
				"idle.yaml":   sleeper("idle", "install: {wanted_by: []}\n"),
				"many@.yaml":  sleeper("many@", "extra: {Install: {DefaultInstance: one}}\n"),
				"mine.yaml":   sleeper("mine", "scope: user\ninstall: {wanted_by: [default.target]}\n"),
				"web.yaml":    sleeper("web", ""),
			})
			checkBoot(t, m)
			checkUserManager(t, m)
			checkLines(t, m)
			checkDroppedIn(t, m)
			checkChanged(t, m)
			checkWithoutSvcrun(t, m)
		})
	}
}

// checkBoot looks at what the boot has started.
func checkBoot(t *testing.T, m *labtest.Machine) {
	t.Helper()
	for _, unit := range []string{"app.service", "web.service", "many@one.service", "many@two.service"} {
		m.WaitFor(unit, "ActiveState=active", "SubState=running", "NeedDaemonReload=no")
	}
	if show := m.Show("idle.service", "ActiveState", "UnitFileState"); show["ActiveState"] != "inactive" || show["UnitFileState"] != "generated" {
		t.Errorf("a service that nothing wants is %v", show)
	}
	if show := m.Show("door.socket", "ActiveState"); show["ActiveState"] != "active" {
		t.Errorf("the socket is %v", show)
	}
	if show := m.Show("app.service", "SourcePath", "FragmentPath"); show["SourcePath"] != policyDir+"app.yaml" || show["FragmentPath"] != generatedDir+"app.service" {
		t.Errorf("the unit comes from %v", show)
	}
	want := "# " + generatedDir + "app.service\n# app.service, written by svcgen, as systemd's generator, from " + policyDir + "app.yaml for " + target(m) + ".\n"
	if text := m.Run("systemctl", "cat", "app.service"); !strings.HasPrefix(text, want) {
		t.Errorf("systemctl cat says\n%s\nwant\n%s", text, want)
	}
}

// checkUserManager starts root's own manager.
func checkUserManager(t *testing.T, m *labtest.Machine) {
	t.Helper()
	m.Write("/root/.config/svckit/units/own.yaml", sleeper("own", "scope: user\ninstall: {wanted_by: [default.target]}\n"), 0o644)
	m.Write("/root/.config/svckit/units/wrong.yaml", sleeper("wrong", ""), 0o644)
	m.Run("systemctl", "start", "user@0.service")
	for unit, source := range map[string]string{"mine.service": policyDir + "mine.yaml", "own.service": "/root/.config/svckit/units/own.yaml"} {
		show := m.Run("env", "XDG_RUNTIME_DIR=/run/user/0", "systemctl", "--user", "show", "-p", "SourcePath", "-p", "UnitFileState", unit)
		if !strings.Contains(show, "SourcePath="+source+"\n") || !strings.Contains(show, "UnitFileState=generated\n") {
			t.Errorf("in root's own manager %s is %s", unit, show)
		}
	}
	if text := m.Read("/run/user/0/systemd/generator/own.service"); !strings.Contains(text, " for "+target(m)+".\n") {
		t.Errorf("root's own manager is taken for another:\n%s", text)
	}
	if show := m.Show("mine.service", "LoadState"); show["LoadState"] != "not-found" {
		t.Errorf("the system has a user's service: %v", show)
	}
	want := "/root/.config/svckit/units/wrong.yaml: a user's manager runs services with scope: user only; say so, or move the policy to /etc/svckit/units"
	if lines := generatorLines(m); !slices.Equal(lines, []string{want}) {
		t.Errorf("the user's generator said %q", lines)
	}
	m.Run("systemctl", "stop", "user@0.service")
}

// generatorLines are the generator's lines in the journal.
func generatorLines(m *labtest.Machine) []string {
	m.Run("journalctl", "--sync")
	return strings.FieldsFunc(m.Run("journalctl", "-q", "-t", "svckit", "-o", "cat", "-p", "warning"), func(r rune) bool { return r == '\n' })
}

// checkLines looks at what a reload says, in the journal and, where there is
// one, in the kernel's log: for which a FIFO has to stand in the lab.
func checkLines(t *testing.T, m *labtest.Machine) {
	t.Helper()
	m.Run("journalctl", "--rotate")
	m.Run("journalctl", "--vacuum-time=1ms")
	m.Run("systemctl", "daemon-reload")
	want := []string{
		policyDir + "broken.yaml:2:1: unknown key \"exce\"; did you mean exec (and 1 more; svcgen generate " + policyDir + "broken.yaml tells them)",
		"a policy is skipped: " + policyDir + "fifo.yaml is no plain file",
	}
	if lines := generatorLines(m); !slices.Equal(lines, want) {
		t.Errorf("the journal has %q, want %q", lines, want)
	}
	m.Run("mkfifo", "/dev/kmsg")
	m.Run("systemd-run", "--unit=kernel-log", "/bin/sh", "-c", "exec cat <>/dev/kmsg >/run/kernel-log")
	m.WaitUntil("kernel-log.service", func(lab.Properties) bool {
		return strings.Contains(m.Try("sh", "-c", "readlink /proc/$(systemctl show -p MainPID --value kernel-log)/fd/0").Stdout, "kmsg")
	}, "MainPID")
	m.Run("systemctl", "daemon-reload")
	for _, line := range want {
		m.WaitUntil("kernel-log.service", func(lab.Properties) bool {
			return strings.Count(m.Read("/run/kernel-log"), "<4>svckit: "+line+"\n") == 1
		}, "MainPID")
	}
	m.Run("systemctl", "stop", "kernel-log.service")
	m.Run("rm", "/dev/kmsg")
	for _, unit := range []string{"app.service", "web.service", "many@one.service", "many@two.service"} {
		if show := m.Show(unit, "ActiveState", "NRestarts"); show["ActiveState"] != "active" || show["NRestarts"] != "0" {
			t.Errorf("after reloads %s is %v", unit, show)
		}
	}
}

// checkDroppedIn adds a policy, and takes it away.
func checkDroppedIn(t *testing.T, m *labtest.Machine) {
	t.Helper()
	m.Write(policyDir+"new.yaml", sleeper("new", ""), 0o644)
	m.Run("systemctl", "daemon-reload")
	m.Run("systemctl", "start", "new.service")
	m.WaitFor("new.service", "ActiveState=active", "SubState=running")
	if wants := m.Show("multi-user.target", "Wants")["Wants"]; !slices.Contains(strings.Fields(wants), "new.service") {
		t.Errorf("the next boot would not start it: %s", wants)
	}
	if err := m.Remove(policyDir + "new.yaml"); err != nil {
		t.Fatal(err)
	}
	m.Run("systemctl", "daemon-reload")
	m.Run("systemctl", "stop", "new.service")
	m.WaitFor("new.service", "LoadState=not-found", "ActiveState=inactive")
}

// checkChanged changes a policy under its running service.
func checkChanged(t *testing.T, m *labtest.Machine) {
	t.Helper()
	pid := m.Show("web.service", "MainPID")["MainPID"]
	m.Write(policyDir+"web.yaml", sleeper("web", "description: another\n"), 0o644)
	m.WaitFor("web.service", "NeedDaemonReload=yes")
	m.Write("/etc/systemd/system/app.service", "[Service]\nExecStart=/bin/sleep 2000\n", 0o644)
	m.Run("systemctl", "daemon-reload")
	m.WaitFor("web.service", "NeedDaemonReload=no", "Description=another", "MainPID="+pid)
	if show := m.Show("app.service", "FragmentPath"); show["FragmentPath"] != "/etc/systemd/system/app.service" {
		t.Errorf("beside the administrator's own unit it is %v", show)
	}
	want := policyDir + "app.yaml: app.service has no effect, as /etc/systemd/system/app.service comes before it; remove one of the two"
	if lines := generatorLines(m); !slices.Contains(lines, want) {
		t.Errorf("nothing tells of it: %q", lines)
	}
}

// checkWithoutSvcrun takes away what the units cannot do without, and has
// nobody make them who could ask the manager which it is.
func checkWithoutSvcrun(t *testing.T, m *labtest.Machine) {
	t.Helper()
	m.Run("mv", "/usr/bin/svcrun", "/usr/bin/svcrun.away")
	m.Run("systemctl", "daemon-reload")
	want := "the services cannot start without svcrun: stat /usr/bin/svcrun: no such file or directory"
	if lines := generatorLines(m); !slices.Contains(lines, want) {
		t.Errorf("nothing tells that svcrun is missing: %q", lines)
	}
	m.Run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "svcgen", "generator", "/tmp/normal", "/tmp/early", "/tmp/late")
	if text := m.Read("/tmp/normal/web.service"); !strings.Contains(text, " for "+target(m)+".\n") {
		t.Errorf("for one who may not look into process 1 the machine is another:\n%s", text)
	}
	m.Run("mv", "/usr/bin/svcrun.away", "/usr/bin/svcrun")
}
