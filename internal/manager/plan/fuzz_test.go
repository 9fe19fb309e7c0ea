package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/unitgen"
	"github.com/svckit/svckit/unitgen/unit"
)

// FuzzRead reads what is generated of any policy file: it is never refused, and
// the service's own words arrive as they were written.
func FuzzRead(f *testing.F) {
	examples, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, example := range examples {
		text, err := os.ReadFile(example)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), uint8(0))
	}
	f.Add("name: a\nexec: [/bin/a, '$x', '%%n', '${Y}', '$$']\nenv: {A: \"%n $B\"}\nrestart: {give_up: {starts: 2}}\n", uint8(3))
	f.Add("name: a@\nexec: [/bin/a, '%i']\nsockets: [{listen: '80%i'}]\non_give_up: [a@x.service]\n", uint8(7))
	f.Add("name: a\nexec: /bin/a\nreload: {exec: [/bin/r, 'a b']}\nstart_pre: [[/bin/p, '%']]\ndirs: {state: [x/y]}\n", uint8(1))
	targets := unitgen.Targets()
	f.Fuzz(func(t *testing.T, text string, number uint8) {
		policies, err := unitgen.Read("x.yaml", []byte(text))
		if err != nil {
			return
		}
		target := targets[int(number)%len(targets)]
		var files []unitgen.File
		var results []unitgen.Result
		var instances []string
		for _, p := range policies {
			result, err := unitgen.Generate(p, target, unitgen.Options{})
			if err != nil {
				return
			}
			files, results = append(files, result.Files...), append(results, result)
			if p.IsTemplate() {
				instances = []string{"7"}
			}
		}
		if len(policies) == 0 || unitgen.CheckFiles(policies, results) != nil {
			return
		}
		services, err := Read(files, target, here, instances...)
		if err != nil && !excusable(err) {
			t.Fatalf("%v\nof\n%s", err, text)
		}
		for _, s := range services {
			checkWords(t, policies, s)
		}
	})
}

// excusable says whether systemd would refuse the unit too, or could not be
// asked to run it: what extra brings is not checked by the generator.
func excusable(err error) bool {
	return strings.Contains(err.Error(), "ExecCondition=") || strings.Contains(err.Error(), "manages")
}

// checkWords compares a service's command and variables with the policy's.
func checkWords(t *testing.T, policies []unitgen.Policy, s Service) {
	n := namesOf(here, s.Name)
	i := slices.IndexFunc(policies, func(p unitgen.Policy) bool { return p.Unit() == n.template })
	if i < 0 {
		t.Fatalf("%s is of no policy", s.Name)
	}
	p := policies[i]
	text := func(s string) string {
		return strings.NewReplacer(string(unit.Instance), n.instance, string(unit.Credentials), n.credentials()).Replace(s)
	}
	var exec []string
	for _, word := range p.Exec {
		exec = append(exec, text(word))
	}
	if dashes := slices.Index(s.Main.Argv, "--"); dashes < 0 || len(s.Main.Argv) < len(exec) || !slices.Equal(s.Main.Argv[len(s.Main.Argv)-len(exec):], exec) {
		t.Errorf("%s: the command is %q, want %q", s.Name, s.Main.Argv, exec)
	}
	var env []string
	for _, v := range p.Env {
		env = append(env, v.Name+"="+text(v.Value))
	}
	if !slices.Equal(s.Surroundings.Env, env) {
		t.Errorf("%s: the environment is %q, want %q", s.Name, s.Surroundings.Env, env)
	}
	if dir := text(p.WorkingDir); s.Surroundings.WorkingDir != dir {
		t.Errorf("%s: in %q, want %q", s.Name, s.Surroundings.WorkingDir, dir)
	}
}

// TestWordsArriveAsTheyWere quotes any words as the generator does.
func TestWordsArriveAsTheyWere(t *testing.T) {
	word := rapid.StringOf(rapid.OneOf(
		rapid.SampledFrom([]rune(`$%{}"'\;-@:+!| abn0x`)), rapid.RuneFrom([]rune("\n\t\a\x7féλ🙂"))))
	rapid.Check(t, func(t *rapid.T) {
		n := namesOf(here, "a.service")
		program := "/" + word.Draw(t, "program")
		line, err := unit.ExecPath(program)
		if err != nil {
			t.Skip(err)
		}
		want := []string{program}
		for range rapid.IntRange(0, 3).Draw(t, "arguments") {
			arg := word.Draw(t, "argument")
			quoted, err := unit.ExecArg(arg)
			if err != nil {
				t.Skip(err)
			}
			line, want = line+" "+quoted, append(want, arg)
		}
		got, err := n.command("-" + string(line))
		if err != nil || !got.MayErr || !slices.Equal(got.Argv, want) {
			t.Fatalf("%s is read as %q, %v, want %q", line, got.Argv, err, want)
		}
	})
}

func TestVariablesThatNobodyPutsInAreNotDropped(t *testing.T) {
	n := namesOf(here, "a.service")
	for line, want := range map[string]string{
		"/bin/a x$FOO":                          "x$FOO", // which systemd leaves as well
		"/bin/a $$FOO":                          "$FOO",
		"/bin/a ${FOO:-x}":                      "${FOO:-x}",
		"/bin/a ${CREDENTIALS_DIRECTORY}/x":     "/run/credentials/a.service/x",
		"/bin/a $CREDENTIALS_DIRECTORY":         "/run/credentials/a.service",
		":/bin/a $FOO":                          "$FOO",
		"/bin/a $":                              "$",
		"/bin/a %":                              "%",
		"/bin/a %t%S%C%L%E%d":                   "/run/var/lib/var/cache/var/log/etc/run/credentials/a.service",
		"/bin/a ${":                             "${",
		"/bin/a '${CREDENTIALS_DIRECTORY}' # x": "/run/credentials/a.service",
	} {
		if got, err := n.command(line); err != nil || got.Argv[1] != want {
			t.Errorf("%s is read as %q, %v, want %q", line, got.Argv, err, want)
		}
	}
	for _, line := range []string{"/bin/a $FOO", "/bin/a ${FOO}", "/bin/a %Z", "@/bin/a b", "+/bin/a", "!/bin/a", ""} {
		if got, err := n.command(line); err == nil {
			t.Errorf("%q is read as %q, and svcgen run cannot do that", line, got.Argv)
		}
	}
}

func TestSpecifiersOfANameAreItsParts(t *testing.T) {
	n := namesOf(here, `multi-part-w@a-b\x2dc.service`)
	for specifier, want := range map[string]string{
		"%n": `multi-part-w@a-b\x2dc.service`, "%N": `multi-part-w@a-b\x2dc`, "%p": "multi-part-w", "%P": "multi/part/w",
		"%i": `a-b\x2dc`, "%I": "a/b-c", "%j": "w", "%J": "w", "%%": "%", "100%": "100%",
	} {
		if got, err := n.resolve(specifier); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", specifier, got, err, want)
		}
	}
	plain := namesOf(here, "a-b.service")
	for specifier, want := range map[string]string{"%n": "a-b.service", "%N": "a-b", "%p": "a-b", "%i": "", "%j": "b", `%P\x`: `a/b\x`} {
		if got, err := plain.resolve(specifier); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", specifier, got, err, want)
		}
	}
}
