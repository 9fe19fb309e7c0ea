package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svckit/svckit/internal/verbs"
	"github.com/svckit/svckit/unitgen"
)

// tried is a generator in directories of a test's own, and what it says.
type tried struct {
	*generator
	t     *testing.T
	lines []string
}

func try(t *testing.T, policies map[string]string) *tried {
	t.Helper()
	dir := t.TempDir()
	tr := &tried{t: t}
	tr.generator = &generator{
		scope: unitgen.ScopeSystem, policies: []policyDir{{path: filepath.Join(dir, "units")}},
		defaults: filepath.Join(dir, "defaults.yaml"), normal: filepath.Join(dir, "normal"), above: []string{filepath.Join(dir, "etc")},
		svcrun: "/bin/sh", read: readPlain, sources: map[string]string{},
		target: func() (unitgen.Target, error) { return unitgen.LookupTarget("debian13") },
		log: &generatorLog{most: maxLogLines, sinks: []sink{func(line string) error {
			tr.lines = append(tr.lines, strings.ReplaceAll(line, dir, ""))
			return nil
		}}},
	}
	for _, name := range []string{"units", "etc"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range policies {
		tr.put(name, text)
	}
	return tr
}

// put writes a policy.
func (tr *tried) put(name, text string) {
	tr.t.Helper()
	if err := os.WriteFile(tr.policy(name), []byte(text), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tried) policy(name string) string { return filepath.Join(tr.policies[0].path, name) }

// once runs the generator, and returns what there is then: links with where
// they lead, and files with their text.
func (tr *tried) once() map[string]string {
	tr.t.Helper()
	tr.runWithin(time.Minute)
	there := map[string]string{}
	err := filepath.WalkDir(tr.normal, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, tr.normal+"/")
		if entry.Type() == fs.ModeSymlink {
			there[name], err = os.Readlink(path)
			return err
		}
		text, err := os.ReadFile(path)
		there[name] = string(text)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tr.t.Fatal(err)
	}
	return there
}

// has checks what a run leaves and says.
func (tr *tried) has(there map[string]string, names, lines []string) {
	tr.t.Helper()
	if got := slices.Sorted(maps.Keys(there)); !slices.Equal(got, names) {
		tr.t.Errorf("there is %q, want %q", got, names)
	}
	if len(tr.lines) != len(lines) {
		tr.t.Fatalf("%d lines, want %d:\n%s", len(tr.lines), len(lines), strings.Join(tr.lines, "\n"))
	}
	for i, line := range lines {
		if !strings.Contains(tr.lines[i], line) {
			tr.t.Errorf("it says %q, want %q", tr.lines[i], line)
		}
	}
}

// minimal is a policy that says no more than it must.
func minimal(name string) string {
	return "name: " + name + "\nexec: /bin/true\ninstall: {wanted_by: []}\nrestart: {stable_after: infinity}\n"
}

func TestBrokenPolicyIsOneLineAndTheOthersAreUnits(t *testing.T) {
	tr := try(t, map[string]string{
		"a.yaml": minimal("a"), "z.yaml": minimal("z"),
		"b.yaml": "name: b\nexce: /bin/true\n",
		"c.yaml": "name: c\nexec: /bin/true\nuser: [1, 2]\nnonsense: 1\nmore: 2\n",
		"d.yaml": "\x00", "e.yaml": "", "f.yaml": "a: [", "g.yaml": minimal("g") + "---\n" + "name: h\n",
		"i.yml": minimal("i"), ".j.yaml": minimal("j"), "k.yaml~": minimal("k"),
	})
	there := tr.once()
	tr.has(there, []string{"a.service", "z.service"}, []string{
		"/units/i.yml is not read; call it i.yaml",
		`/units/b.yaml:2:1: unknown key "exce"; did you mean exec`,
		"/units/c.yaml:3:7: user wants text, such as www-data; this is a list (and 2 more; svcgen generate /units/c.yaml tells them)",
		"/units/d.yaml:1:1: a NUL byte", "/units/e.yaml:1:1: the file is empty", "/units/f.yaml:1:1: this is not YAML", "/units/g.yaml:6:1: the key \"exec\" is missing",
	})
	if unit := there["a.service"]; !strings.Contains(unit, "\nSourcePath="+tr.policy("a.yaml")+"\n") || !strings.Contains(unit, "for debian13.") {
		t.Errorf("the unit does not say what it is of:\n%s", unit)
	}
}

func TestSecondRunChangesNothing(t *testing.T) {
	tr := try(t, map[string]string{"a.yaml": "name: a\nexec: /bin/true\nsockets: [{listen: /run/a}]\n---\nname: b\nexec: /bin/true\n"})
	first := tr.once()
	again := try(t, nil)
	again.policies, again.normal = tr.policies, tr.normal
	if second := again.once(); !maps.Equal(first, second) || len(first) < 6 || len(tr.lines)+len(again.lines) > 0 {
		t.Errorf("first %v, then %v; %q, %q", first, second, tr.lines, again.lines)
	}
	tr.put("a.yaml", minimal("a"))
	changed := try(t, nil)
	changed.policies, changed.normal = tr.policies, tr.normal
	if third := changed.once(); third["a.service"] == first["a.service"] || len(changed.lines) > 0 {
		t.Errorf("a changed policy left its unit as it was: %q", changed.lines)
	}
}

func TestFirstPolicyOfANameWins(t *testing.T) {
	tr := try(t, map[string]string{
		"1.yaml": minimal("a"), "2.yaml": minimal("a") + "---\n" + minimal("b"),
		"3.yaml": "name: c\nexec: /bin/true\ninstall: {wanted_by: []}\n", "4.yaml": minimal("c-settle"),
	})
	there := tr.once()
	tr.has(there, []string{"a.service", "b.service", "c-settle.service", "c-settle.timer", "c.service"}, []string{
		"/units/2.yaml: a.service is made of /units/1.yaml already", "/units/4.yaml: c-settle.service is made of /units/3.yaml already",
	})
	if !strings.Contains(there["a.service"], tr.policy("1.yaml")) {
		t.Errorf("the second won:\n%s", there["a.service"])
	}
}

func TestWhatIsNoPlainFileIsNotOpened(t *testing.T) {
	tr := try(t, map[string]string{"z.yaml": minimal("z")})
	for name, file := range map[string]func(string) error{
		"a.yaml": func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"b.yaml": func(path string) error { return os.Mkdir(path, 0o755) },
		"c.yaml": func(path string) error { return os.Symlink("a.yaml", path) },
		"d.yaml": func(path string) error { return os.Symlink("nowhere", path) },
		"e.yaml": func(path string) error { return os.Symlink("/dev/zero", path) },
		"f.yaml": func(path string) error { return os.Symlink("f.yaml", path) },
		"g.yaml": func(path string) error { return os.Symlink("z.yaml", path) },
	} {
		if err := file(tr.policy(name)); err != nil {
			t.Fatal(err)
		}
	}
	tr.has(tr.once(), []string{"z.service"}, []string{
		"a.yaml is no plain file", "b.yaml is no plain file", "c.yaml is no plain file", "d.yaml: no such file", "e.yaml is no plain file",
		"f.yaml: too many levels", "/units/z.yaml: z.service is made of /units/g.yaml already",
	})
}

func TestNoDirectoryIsNoWordAndAnotherThingIsOne(t *testing.T) {
	tr := try(t, nil)
	tr.policies = []policyDir{{path: filepath.Join(t.TempDir(), "none")}}
	tr.has(tr.once(), nil, nil)
	if err := syscall.Mkfifo(tr.policies[0].path, 0o644); err != nil {
		t.Fatal(err)
	}
	tr.has(tr.once(), nil, []string{"cannot read the directory with the policies"})
}

// TestWhatHangsIsGivenUp reads a file that does not answer, as one of a dead
// server's, with a clock of the test's own.
func TestWhatHangsIsGivenUp(t *testing.T) {
	tr := try(t, map[string]string{"a.yaml": minimal("a"), "b.yaml": minimal("b"), "c.yaml": minimal("c")})
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		tr.read = func(path string) ([]byte, error) {
			if filepath.Base(path) == "b.yaml" {
				<-answer
			}
			return readPlain(path)
		}
		began := time.Now()
		tr.runWithin(generatorBound)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it took %v", took)
		}
		close(answer)
		synctest.Wait()
	})
	if _, err := os.Stat(filepath.Join(tr.normal, "a.service")); err != nil {
		t.Errorf("what came before has no unit: %v", err)
	}
	tr.has(nil, nil, []string{"gave up after 10s, at /units/b.yaml; what comes after it has no units"})
}

func TestThousandPoliciesAreReadAndNoMore(t *testing.T) {
	tr := try(t, nil)
	for i := range maxPolicies + 2 {
		tr.put(fmt.Sprintf("%04d.yaml", i), "")
	}
	read := 0
	tr.read = func(path string) ([]byte, error) {
		if filepath.Ext(path) == ".yaml" && path != tr.defaults {
			read++
		}
		return nil, fs.ErrNotExist
	}
	tr.has(tr.once(), nil, []string{"/units/1000.yaml and those after it are not read; there are more than 1000", "a policy is skipped: file does not exist"})
	if read != maxPolicies {
		t.Errorf("%d were read", read)
	}
}

func TestErrorOfSvcgensOwnKeepsNoOtherPolicyFromItsUnit(t *testing.T) {
	tr := try(t, map[string]string{"a.yaml": minimal("a"), "b.yaml": minimal("b")})
	tr.read = func(path string) ([]byte, error) {
		if filepath.Base(path) == "a.yaml" {
			panic("index out of range")
		}
		return readPlain(path)
	}
	tr.has(tr.once(), []string{"b.service"}, []string{"/units/a.yaml is skipped, as svcgen has an error: index out of range"})
}

func TestDefaultsThatAreBrokenLeaveNoPolicyWithoutThem(t *testing.T) {
	policies := map[string]string{"a.yaml": minimal("a"), "b.yaml": minimal("b")}
	tr := try(t, policies)
	writeTo(t, tr.defaults, "user: www-data\n")
	if there := tr.once(); !strings.Contains(there["a.service"], "\nUser=www-data\n") {
		t.Errorf("the defaults are not taken:\n%s", there["a.service"])
	}
	tr = try(t, policies)
	writeTo(t, tr.defaults, "usr: www-data\n")
	tr.has(tr.once(), nil, []string{`/defaults.yaml:1:1: unknown key "usr"; did you mean user (no policy has units before this is mended)`})
	tr = try(t, policies)
	if err := os.Mkdir(tr.defaults, 0o755); err != nil {
		t.Fatal(err)
	}
	tr.has(tr.once(), nil, []string{"/defaults.yaml is no plain file (no policy has units before this is mended)"})
}

func writeTo(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMachineThatDoesNotTellItsSystemdHasUnitsForTheOldest(t *testing.T) {
	if _, err := unitgen.LookupTarget("v238"); err == nil {
		t.Errorf("%s is not the oldest target", oldestTarget)
	}
	tr := try(t, map[string]string{"a.yaml": "name: a\nexec: /bin/true\ninstall: {wanted_by: []}\ntarget: debian13\n"})
	tr.target = func() (unitgen.Target, error) {
		oldest, _ := unitgen.LookupTarget(oldestTarget)
		return oldest, errors.New("permission denied")
	}
	tr.svcrun = "/nowhere/svcrun"
	there := tr.once()
	tr.has(there, []string{"a.service"}, []string{
		"cannot tell which systemd runs: permission denied; the units are for the oldest, v239",
		"/units/a.yaml: target: debian13 is not this machine; the units are for systemd 239",
		"the services cannot start without svcrun: stat /nowhere/svcrun: no such file",
	})
	if !strings.Contains(there["a.service"], " for v239.\n") {
		t.Errorf("the unit is for another:\n%s", there["a.service"])
	}
}

func TestEachManagerHasThePoliciesOfItsScope(t *testing.T) {
	user := "scope: user\n"
	system := map[string]string{"a.yaml": minimal("a"), "b.yaml": minimal("b") + user, "c.yaml": "broken", "d.yaml": minimal("d") + user}
	tr := try(t, system)
	tr.has(tr.once(), []string{"a.service"}, []string{"/units/c.yaml:1:1"})

	tr = try(t, map[string]string{"b.yaml": minimal("b") + user, "e.yaml": minimal("e"), "f.yaml": minimal("f") + user})
	tr.scope = unitgen.ScopeUser
	tr.policies = append(tr.policies, policyDir{path: filepath.Join(t.TempDir(), "system"), foreign: true})
	for name, text := range system {
		writeTo(t, filepath.Join(tr.policies[1].path, name), text)
	}
	there := tr.once()
	tr.has(there, []string{"b.service", "d.service", "f.service"}, []string{
		"/units/e.yaml: a user's manager runs services with scope: user only", "b.yaml: b.service is made of /units/b.yaml already",
	})
	if !strings.Contains(there["b.service"], tr.policy("b.yaml")) {
		t.Error("the system's policy came before the user's own")
	}
}

func TestProgramIsAGeneratorByItsNameAndByItsVerb(t *testing.T) {
	var stderr bytes.Buffer
	p := program{stdout: &stderr, stderr: &stderr, host: thisHost()}
	if code := p.run([]string{"/usr/lib/systemd/system-generators/svckit", "--help"}); code != verbs.ExitUsage || !strings.Contains(stderr.String(), "NORMAL EARLY LATE") {
		t.Errorf("with a wrong number of directories: %d\n%s", code, stderr.String())
	}
	stderr.Reset()
	tr := try(t, map[string]string{"a.yaml": minimal("a"), "b.yaml": "name: b"})
	code := p.run([]string{"/usr/bin/svcgen", "generator", "--units", tr.policies[0].path, "--defaults=/nowhere", tr.normal, "early", "late"})
	if code != 0 || !strings.Contains(stderr.String(), "svckit: "+tr.policy("b.yaml")+":1:1: ") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
	if there := tr.once(); there["a.service"] == "" {
		t.Errorf("there is %v\n%s", there, stderr.String())
	}
	if code := p.run([]string{"svcgen", "generator", "only-one"}); code != verbs.ExitUsage {
		t.Errorf("with one directory: %d", code)
	}
}

func TestScopeIsTheManagersThatStartedTheGenerator(t *testing.T) {
	for _, test := range []struct {
		path, variable string
		want           unitgen.Scope
	}{
		{"/usr/lib/systemd/system-generators/svckit", "system", unitgen.ScopeSystem},
		{"/usr/lib/systemd/user-generators/svckit", "user", unitgen.ScopeUser},
		{"/usr/lib/systemd/system-generators/svckit", "", unitgen.ScopeSystem},
		{"/etc/systemd/user-generators/svckit", "", unitgen.ScopeUser},
		{"svckit", "user", unitgen.ScopeUser},
	} {
		if got := generatorScope(test.path, func(string) string { return test.variable }); got != test.want {
			t.Errorf("%s with SYSTEMD_SCOPE=%s: %s", test.path, test.variable, got)
		}
	}
	t.Setenv("XDG_CONFIG_HOME", "/home/a/.config")
	g := newGenerator(unitgen.ScopeUser, "/run/user/1/systemd/generator", thisHost(), nil)
	if want := []policyDir{{path: "/home/a/.config/svckit/units"}, {"/etc/svckit/units", true}}; !slices.Equal(g.policies, want) {
		t.Errorf("a user's policies are from %v", g.policies)
	}
}
