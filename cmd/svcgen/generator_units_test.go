package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/unitgen"
	"github.com/svckit/svckit/unitgen/unit"
)

func TestUnitsAreEnabledAsTheySay(t *testing.T) {
	tr := try(t, map[string]string{
		"a.yaml": "name: a\nexec: /bin/true\nrestart: {stable_after: infinity}\ninstall: {wanted_by: [multi-user.target, b.service]}\n" +
			"extra: {Install: {RequiredBy: c.service, Alias: d.service e.service}}\n",
		"b@.yaml": "name: b@\nexec: /bin/true\nrestart: {stable_after: infinity}\n", // as no instance
		"c.yaml": "name: c@\nexec: /bin/true\nrestart: {stable_after: infinity}\nsockets: [{listen: /run/c-%i}]\n" +
			"install: {wanted_by: [multi-user.target]}\nextra: {Install: {DefaultInstance: one, RequiredBy: for-%i.target}}\n",
	})
	there := tr.once()
	tr.has(there, []string{
		"a.service", "b.service.wants/a.service", "b@.service", "c.service.requires/a.service", "c@.service", "c@.socket", "d.service", "e.service",
		"for-one.target.requires/c@one.service", "multi-user.target.wants/a.service", "multi-user.target.wants/c@one.service",
		"sockets.target.wants/c@one.socket",
	}, nil)
	for name, want := range map[string]string{
		"b.service.wants/a.service": "../a.service", "d.service": "a.service", "multi-user.target.wants/c@one.service": "../c@.service",
	} {
		if there[name] != want {
			t.Errorf("%s leads to %s, want %s", name, there[name], want)
		}
	}
}

func TestInstanceIsEnabledByALinkToItsTemplate(t *testing.T) {
	tr := try(t, map[string]string{
		"a@.yaml": "name: a@\nexec: /bin/true\nrestart: {stable_after: infinity}\nsockets: [{listen: /run/a-%i}]\n", "b@3.yaml": minimal("b"),
	})
	for name, to := range map[string]string{"a@1.yaml": "a@.yaml", "a@x-y.yaml": "a@.yaml", "a@%H.yaml": "a@.yaml", "b@4.yaml": "b@3.yaml", "c@1.yaml": "c@.yaml"} {
		if err := os.Symlink(to, tr.policy(name)); err != nil {
			t.Fatal(err)
		}
	}
	tr.has(tr.once(), []string{
		"a@.service", "a@.socket", "b.service", "multi-user.target.wants/a@1.service", "multi-user.target.wants/a@x-y.service",
		"sockets.target.wants/a@1.socket", "sockets.target.wants/a@x-y.socket",
	}, []string{
		"/units/a@.yaml: WantedBy=: no link is made for multi-user.target.wants/a@%H.service", "WantedBy=: no link is made for sockets.target.wants/a@%H.socket",
		"/units/b@4.yaml: b.service is made of /units/b@3.yaml already", "c@1.yaml: no such file",
	})
}

func TestLinksThatWouldLeaveTheDirectoryAreNotMade(t *testing.T) {
	tr := try(t, map[string]string{
		"a.yaml": "name: a\nexec: /bin/true\nrestart: {stable_after: infinity}\ninstall: {wanted_by: []}\n" +
			"extra: {Install: {RequiredBy: ../../etc/x.target .x, Alias: \"%H.service\"}}\n",
		"b.yaml": "name: b@\nexec: /bin/true\nrestart: {stable_after: infinity}\nextra: {Install: {DefaultInstance: ../x}}\n",
	})
	tr.has(tr.once(), []string{"a.service", "b@.service"}, []string{
		"/units/a.yaml: RequiredBy=: no link is made for ../../etc/x.target.requires/a.service, which is no name of a unit",
		"/units/a.yaml: RequiredBy=: no link is made for .x.requires/a.service", "/units/a.yaml: Alias=: no link is made for %H.service",
		"/units/b.yaml: WantedBy=: no link is made for multi-user.target.wants/b@../x.service",
	})
}

// FuzzLinksStayInTheDirectory has units enabled by any text.
func FuzzLinksStayInTheDirectory(f *testing.F) {
	for _, seed := range []string{"multi-user.target", "../x", "a/../../x", "/etc/x", "%i", "%i%i/..", ".", "..", "\x00", "a\nb", strings.Repeat("a", 300)} {
		f.Add(seed, "one")
		f.Add("a@%i.target", seed)
	}
	f.Fuzz(func(t *testing.T, text, instance string) {
		tr := try(t, nil)
		install := unit.Section{Name: "Install"}
		for _, directive := range []string{"WantedBy", "RequiredBy", "UpheldBy", "Alias"} {
			install.Add(directive, unit.Value(text))
		}
		for _, name := range []string{"x.service", "x@.service"} {
			tr.enable("x.yaml", unitgen.File{Name: name, Install: &install}, instance)
		}
		entries, err := os.ReadDir(filepath.Dir(tr.normal))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if !slices.Contains([]string{"units", "normal", "etc"}, entry.Name()) {
				t.Errorf("%q of %q makes %s", text, instance, entry.Name())
			}
		}
	})
}

func TestUnitOfAnotherGeneratorIsLeftAlone(t *testing.T) {
	tr := try(t, map[string]string{"a.yaml": minimal("a"), "b.yaml": minimal("b"), "c.yaml": minimal("c")})
	writeTo(t, filepath.Join(tr.normal, "a.service"), "[Service]\nExecStart=/bin/other\n")
	if err := os.Symlink("/dev/null", filepath.Join(tr.normal, "b.service")); err != nil {
		t.Fatal(err)
	}
	there := tr.once()
	tr.has(there, []string{"a.service", "b.service", "c.service"}, []string{
		"/units/a.yaml: cannot write a.service: /normal/a.service is there, and was not written by svcgen", "/units/b.yaml: cannot write b.service",
	})
	if there["a.service"] != "[Service]\nExecStart=/bin/other\n" || there["b.service"] != "/dev/null" {
		t.Errorf("they are %q and %q now", there["a.service"], there["b.service"])
	}
}

func TestUnitThatComesBeforeIsTold(t *testing.T) {
	tr := try(t, map[string]string{"a.yaml": minimal("a"), "b.yaml": minimal("b")})
	writeTo(t, filepath.Join(tr.above[0], "a.service"), "")
	if err := os.Symlink("/dev/null", filepath.Join(tr.above[0], "b.service")); err != nil { // systemctl mask: it is meant
		t.Fatal(err)
	}
	tr.has(tr.once(), []string{"a.service", "b.service"}, []string{"/units/a.yaml: a.service has no effect, as /etc/a.service comes before it"})
}

func TestSecretIsNotWritten(t *testing.T) {
	tr := try(t, map[string]string{
		"a.yaml": "name: a\nexec: /bin/true\nready: {checks: [{http: http://localhost/, header: [\"Authorization: Bearer hunter2\"]}]}\n",
	})
	tr.has(tr.once(), nil, []string{"/units/a.yaml: a secret in a check needs svcgen generate"})
	if strings.Contains(strings.Join(tr.lines, ""), "hunter2") {
		t.Errorf("it is told: %q", tr.lines)
	}
}

func TestUnitsThatCannotBeWrittenAreTold(t *testing.T) {
	tr := try(t, map[string]string{"a.yaml": minimal("a"), "b.yaml": minimal("b")})
	writeTo(t, tr.normal, "a file")
	tr.runWithin(generatorBound)
	if len(tr.lines) != 2 || !strings.Contains(tr.lines[1], "/units/b.yaml: cannot write b.service: ") {
		t.Errorf("it says %q", tr.lines)
	}
}
