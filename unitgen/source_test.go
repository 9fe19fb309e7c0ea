package unitgen

import (
	"strings"
	"testing"
)

const withEveryUnit = "name: x\nexec: /bin/x\nsockets: [{listen: /run/x.sock}]\nrestart: {stable_after: 1m}\ninstall: {wanted_by: [a.target, b.target]}\n"

// generateFrom generates as a generator of systemd's does.
func generateFrom(t *testing.T, text, source string) Result {
	t.Helper()
	result, err := Generate(mustRead(t, text), profile(t, "debian13"), Options{Source: source, SourcePath: source})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestEveryUnitOfAGeneratorNamesItsPolicyFirst(t *testing.T) {
	files := generateFrom(t, withEveryUnit, "/etc/svckit/units/50% x.yaml").Files
	if len(files) != 4 {
		t.Fatalf("%d files, want the service, its socket and the companion's two", len(files))
	}
	for _, file := range files {
		if !strings.Contains(string(file.Text), "[Unit]\nSourcePath=/etc/svckit/units/50%% x.yaml\n") {
			t.Errorf("%s does not begin with its source:\n%s", file.Name, file.Text)
		}
		if !strings.Contains(string(file.Text), "daemon-reload") || AuthorOf(file.Text) != Untouched {
			t.Errorf("the heading of %s does not say how to change it:\n%s", file.Name, file.Text)
		}
	}
	if unit := generated(t, withEveryUnit, "debian13"); strings.Contains(unit, "SourcePath") {
		t.Errorf("a unit that is written once has a source:\n%s", unit)
	}
}

func TestASourcePathCannotLeaveItsDirective(t *testing.T) {
	_, err := Generate(mustRead(t, withEveryUnit), profile(t, "debian13"), Options{SourcePath: "/a\nExecStart=/bin/evil"})
	if err == nil {
		t.Error("a path with a line break is accepted")
	}
}

func TestFilesTellWhatEnablingThemDoes(t *testing.T) {
	want := map[string]string{"x.service": "a.target b.target", "x.socket": "sockets.target"}
	for _, file := range generateFrom(t, withEveryUnit, "/x.yaml").Files {
		got := ""
		if file.Install != nil {
			got = strings.Join(file.Install.Lookup("WantedBy"), " ")
		}
		if got != want[file.Name] {
			t.Errorf("%s is wanted by %q, want %q", file.Name, got, want[file.Name])
		}
	}
}
