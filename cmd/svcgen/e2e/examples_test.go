package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab"
	"github.com/svckit/svckit/internal/lab/labtest"
)

// TestExamplesRunUnderStrictHardening starts every service of examples as it
// is, with Debian's own Redis and nginx.
func TestExamplesRunUnderStrictHardening(t *testing.T) {
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		s := &services{t: t, m: m}
		for _, file := range exampleFiles(t) {
			s.add(readFile(t, file))
		}
		s.load()
		for _, unit := range []string{"redis.service", "nginx.service", "cache@6401.service", "cache@6402.service"} {
			if result := m.Try("systemctl", "start", unit); result.Code != 0 {
				t.Fatalf("%s does not start: %s\n%s", unit, result.Stderr, strings.Join(m.Journal(unit, 30), "\n"))
			}
			m.WaitFor(unit, "ActiveState=active", "SubState=running", "NRestarts=0")
		}
		isStrict(t, m, "redis.service")
		if out := m.Run("redis-cli", "-p", "6402", "ping"); out != "PONG\n" {
			t.Errorf("the cache on 6402 says %q", out)
		}

		m.Run("systemctl", "start", "redis-door.socket")
		if got := m.Show("redis-door.service", "ActiveState")["ActiveState"]; got != "inactive" {
			t.Errorf("before anybody came the door is %s", got)
		}
		if out := m.Run("redis-cli", "-p", "6390", "ping"); out != "PONG\n" {
			t.Errorf("through the door Redis says %q\n%s", out, strings.Join(m.Journal("redis-door.service", 30), "\n"))
		}
		m.WaitFor("redis-door.service", "ActiveState=active", "SubState=running")
		isStrict(t, m, "redis-door.service")

		for _, unit := range []string{"nginx.service", "redis-door.service", "redis.service", "cache@6401.service", "cache@6402.service"} {
			m.Run("systemctl", "reload-or-restart", unit)
			m.WaitFor(unit, "ActiveState=active", "SubState=running")
			m.Run("systemctl", "stop", unit)
			m.WaitFor(unit, "ActiveState=inactive", "Result=success")
		}
	})
}

func exampleFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal("no examples found", err)
	}
	return files
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// isStrict looks at the manager's own opinion of a unit.
func isStrict(t *testing.T, m *labtest.Machine, unit string) {
	t.Helper()
	want := lab.Properties{"ProtectSystem": "strict", "NoNewPrivileges": "yes", "PrivateDevices": "yes", "CapabilityBoundingSet": "", "ExecPaths": "/usr"}
	for name, value := range want {
		if got := m.Show(unit, name)[name]; got != value {
			t.Errorf("%s: %s=%s, want %s", unit, name, got, value)
		}
	}
}
