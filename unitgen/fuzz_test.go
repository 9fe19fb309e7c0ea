package unitgen

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unitLine is every line that a unit of svcgen's may have.
var unitLine = regexp.MustCompile(`^(?:#.*|\[([A-Z][a-z]+)\]||    \S.*|([A-Za-z0-9-]+)=(.*))$`)

// FuzzPolicyFile reads any file: it is refused with places, or makes a unit
// for every target that has no line which is not svcgen's own.
func FuzzPolicyFile(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("name: x\nexec: ['/bin/ x']\n"))
	for _, m := range mistakes {
		f.Add([]byte(m.text))
	}
	for _, m := range keyMistakes {
		f.Add([]byte("name: x\nexec: /bin/a\n" + m.line + "\n"))
	}
	for path, c := range changes {
		f.Add([]byte("name: x@\nexec: [/bin/x, '%i']\n" + c.with + "\n# " + path))
	}
	examples, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatal("no examples", err)
	}
	for _, example := range examples {
		text, err := os.ReadFile(example)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		policies, err := Read("x.yaml", data)
		if err != nil {
			checkPlaces(t, err)
			return
		}
		for _, p := range policies {
			for _, target := range targets {
				checkUnits(t, p, target)
			}
		}
	})
}

// FuzzDefaultsFile puts any file below a service as its defaults.
func FuzzDefaultsFile(f *testing.F) {
	f.Add([]byte("name: x\nexec: /bin/x\nrestart: {when: no}\n"), []byte("user: a\nrestart: {cap: 5min, give_up: {starts: 5}}\n"))
	f.Add([]byte("defaults: {env: {A: b}}\n---\nname: x\nexec: /bin/x\nreload: {exec: /bin/r}\n"), []byte("reload: {signal: HUP}\nenv: {C: d}\n"))
	f.Add([]byte("name: x\nexec: /bin/x\nscope: user\n"), []byte("&a {user: x, hardening: strict, extra: *a}\n"))
	f.Fuzz(func(t *testing.T, data, defaults []byte) {
		policies, err := Read("x.yaml", data, Text{"d.yaml", defaults})
		if err != nil {
			checkPlaces(t, err)
		}
		for _, p := range policies {
			if err == nil {
				checkUnits(t, p, targets[0])
			}
		}
	})
}

func checkUnits(t *testing.T, p Policy, target Target) {
	result, err := Generate(p, target, Options{Source: "x.yaml"})
	if err != nil {
		checkPlaces(t, err)
		return
	}
	for _, file := range result.Files {
		if !file.Secret {
			checkUnit(t, p, string(file.Text), target)
		}
	}
}

// checkPlaces wants every error to have a place and to be one line.
func checkPlaces(t *testing.T, err error) {
	var errs Errors
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("no place: %v", err)
	}
	for _, e := range errs {
		if e.Line < 1 || e.Column < 1 || e.Message == "" || strings.Contains(e.Error(), "\n") {
			t.Fatalf("%q has no place, or more than one line", e.Error())
		}
	}
}

// checkUnit wants every directive to be one that the target has, or one that
// the policy's extra brought: no text became a directive.
func checkUnit(t *testing.T, p Policy, text string, target Target) {
	section := ""
	for line := range strings.Lines(text) {
		match := unitLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case match == nil:
			t.Fatalf("%q is no line of svcgen's", line)
		case match[1] != "":
			section = match[1]
		case match[2] != "" && !target.Has(match[2]):
			if _, extra := lookup(p.Extra[section], match[2]); !extra {
				t.Fatalf("%s has no %s", target.Name, line)
			}
		}
	}
	if starts := strings.Count(text, "\nExecStart="); starts > 1 || AuthorOf([]byte(text)) != Untouched {
		t.Fatalf("%d commands, or a wrong checksum, in\n%s", starts, text)
	}
}

func TestPathologicalFilesAreRefusedQuickly(t *testing.T) {
	for name, text := range map[string]string{
		"too long":        strings.Repeat("a", maxFile+1),
		"too deep":        "name: " + strings.Repeat("[", 20) + strings.Repeat("]", 20),
		"far too deep":    strings.Repeat("[", 100_000),
		"deep blocks":     strings.Repeat("- ", 100_000),
		"many aliases":    "a: &a x\nb: [" + strings.Repeat("*a, ", 1000) + "]",
		"a billion":       "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nexec: [*c,*c,*c]\nname: x",
		"many keys":       strings.Repeat("a: b\n", 100_000),
		"many arguments":  "name: x\nexec: [/bin/a" + strings.Repeat(", a", 1000) + "]",
		"a long argument": "name: x\nexec: [/bin/a, " + strings.Repeat("a", 40_000) + "]",
	} {
		_, err := Read("x.yaml", []byte(text))
		if err == nil {
			t.Errorf("%s: read", name)
			continue
		}
		checkPlaces(t, err)
		if lines := strings.Count(err.Error(), "\n") + 1; lines > maxErrors+1 {
			t.Errorf("%s: %d lines of errors", name, lines)
		}
	}
}
