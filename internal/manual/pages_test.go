package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svckit/svckit/internal/manual/cmdline"
	"github.com/svckit/svckit/unitgen"
)

// made is what the maker makes of the programs as they are now.
type made struct {
	files, completions map[string]string
	gaps               []string
	programs           map[string]cmdline.Program
}

// makeOnce makes all files for all tests.
var makeOnce = sync.OnceValues(func() (made, error) {
	m := maker{root: root, date: "2026-12-01", version: "devel", asked: map[string]cmdline.Program{}}
	all := made{programs: m.asked}
	var err error
	if all.files, all.gaps, err = m.pages(); err != nil {
		return all, err
	}
	all.completions, err = m.completions()
	return all, err
})

func everything(t *testing.T) made {
	t.Helper()
	all, err := makeOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPagesExplainAllThatTheProgramsHave(t *testing.T) {
	for _, gap := range everything(t).gaps {
		t.Errorf("nothing is said of %s", gap)
	}
}

// shipped runs a program as it is shipped, not as it tells its command line.
func shipped(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "-trimpath", "-buildvcs=false", "-tags=urfave_cli_no_docs", "./cmd/" + name}, args...)...)
	if dir := os.Getenv("SVCKIT_BIN"); dir != "" {
		cmd = exec.CommandContext(t.Context(), filepath.Join(dir, name), args...)
	}
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return string(out)
}

var (
	flagName   = regexp.MustCompile(`(^|[\s,[])(--?[a-z][a-z-]*)`)
	helpColumn = regexp.MustCompile(`(?m)^ {2,}(-.*?)(?:  |$)`)
	pageColumn = regexp.MustCompile(`(?m)^\.TP\n(\\fB\\-.*)$`)
	unfont     = strings.NewReplacer(`\-`, "-", `\fB`, "", `\fI`, "", `\fR`, "")
)

// flagsIn are the flags in the left column of a text.
func flagsIn(column *regexp.Regexp, text string) []string {
	found := map[string]bool{}
	for _, line := range column.FindAllStringSubmatch(text, -1) {
		for _, name := range flagName.FindAllStringSubmatch(unfont.Replace(line[1]), -1) {
			found[name[2]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestPagesHaveTheFlagsOfHelp holds the pages against --help of the programs as
// they are shipped.
func TestPagesHaveTheFlagsOfHelp(t *testing.T) {
	for _, name := range programs {
		help := shipped(t, name, "--help")
		if name != "svcrun" {
			_, verbs, _ := strings.Cut(help, "\nverbs:\n")
			var told []string
			for _, line := range regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(verbs, -1) {
				told = append(told, line[1])
				help += shipped(t, name, line[1], "--help")
			}
			var known []string
			for _, v := range everything(t).programs[name].Verbs {
				known = append(known, v.Name)
			}
			compare(t, name+" --help, verbs", told, known)
		}
		page := flagsIn(pageColumn, everything(t).files["man/"+name+".1"])
		always := []string{"--help", "-h", "--version", "-v"} // which no help of svcgen and svcstat lists
		isAlways := func(flag string) bool { return slices.Contains(always, flag) }
		compare(t, name+"(1), OPTIONS", slices.DeleteFunc(page, isAlways), slices.DeleteFunc(flagsIn(helpColumn, help), isAlways))
	}
}

func TestPagesAreCleanAndFitIn80Columns(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		if os.Getenv("SVCKIT_E2E") == "require" {
			t.Fatal("mandoc is not there; make preflight says how to get it")
		}
		t.Skip("SKIPPED: mandoc is not there, so that the pages are not looked at; apt-get install -y mandoc")
	}
	for name, roff := range everything(t).files {
		for _, args := range [][]string{{"-T", "lint", "-W", "warning"}, {"-T", "utf8", "-O", "width=80"}} {
			cmd := exec.CommandContext(t.Context(), "mandoc", args...)
			cmd.Stdin = strings.NewReader(roff)
			out, err := cmd.CombinedOutput()
			if args[1] == "lint" && (err != nil || len(out) > 0) {
				t.Errorf("%s: %v\n%s", name, err, out)
				continue
			}
			for line := range strings.Lines(regexp.MustCompile(".\b").ReplaceAllString(string(out), "")) {
				if line = strings.TrimRight(line, "\n"); len([]rune(line)) > 80 && args[1] != "lint" {
					t.Errorf("%s: %q has more than 80 columns", name, line)
				}
			}
		}
	}
}

// others are flags of other programs that the prose and its examples name.
var others = []string{"--now", "--user", "--port", "--daemonize"}

// TestEveryFlagInTheProseExists looks at text and examples, too.
func TestEveryFlagInTheProseExists(t *testing.T) {
	known := slices.Clone(others)
	for _, p := range everything(t).programs {
		flags := p.Flags
		for _, v := range p.Verbs {
			flags = append(flags, v.Flags...)
		}
		for _, f := range flags {
			known = append(known, f.Typed()...)
		}
	}
	for _, file := range pageSources(t) {
		for _, name := range regexp.MustCompile("(^|[\\s`*(])(--[a-z][a-z-]*)").FindAllStringSubmatch(file.text, -1) {
			if !slices.Contains(known, name[2]) {
				t.Errorf("%s names %s, which no program has", file.name, name[2])
			}
		}
	}
}

// pageSource is the prose of a page.
type pageSource struct{ name, text string }

func pageSources(t *testing.T) []pageSource {
	t.Helper()
	entries, err := sources.ReadDir("pages")
	if err != nil {
		t.Fatal(err)
	}
	var all []pageSource
	for _, entry := range entries {
		text, err := sources.ReadFile("pages/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pageSource{entry.Name(), string(text)})
	}
	return all
}

// TestExamplesAreTaken reads what the pages show: each policy, and each command
// line of the programs, whose flags have to be those of its verb.
func TestExamplesAreTaken(t *testing.T) {
	seen := 0
	for _, file := range pageSources(t) {
		for _, code := range regexp.MustCompile("(?s)\n```\n(.*?)\n```\n").FindAllStringSubmatch(file.text, -1) {
			seen++
			if strings.HasPrefix(code[1], "name: ") {
				takePolicy(t, file.name, code[1])
			}
			for line := range strings.Lines(strings.ReplaceAll(code[1], "\\\n", "")) {
				takeCommand(t, file.name, strings.Fields(line))
			}
		}
	}
	if seen < 20 {
		t.Errorf("the pages have %d examples; more were seen before", seen)
	}
}

func takePolicy(t *testing.T, page, text string) {
	t.Helper()
	target, err := unitgen.LookupTarget("debian13")
	if err != nil {
		t.Fatal(err)
	}
	policies, err := unitgen.Read(page, []byte(text+"\n"))
	if err == nil {
		_, err = unitgen.Generate(policies[0], target, unitgen.Options{})
	}
	if err != nil {
		t.Errorf("%v, in\n%s", err, text)
	}
}

func takeCommand(t *testing.T, page string, words []string) {
	t.Helper()
	if len(words) == 0 {
		return
	}
	name := filepath.Base(strings.TrimPrefix(words[0], "ExecStart="))
	p, ok := everything(t).programs[name]
	if !ok || len(words) < 2 || strings.HasSuffix(words[0], ":") {
		return
	}
	flags := p.Flags
	if v, isVerb := p.Verb(words[1]); isVerb {
		flags = append(slices.Clone(flags), v.Flags...)
	} else if !p.Wraps {
		t.Errorf("%s: %s has no verb %s", page, name, words[1])
	}
	for _, word := range words[1:] {
		if word == "--" || word == "|" {
			return
		}
		typed, _, _ := strings.Cut(word, "=")
		if len(typed) > 1 && typed[0] == '-' && !slices.ContainsFunc(flags, func(f cmdline.Flag) bool { return slices.Contains(f.Typed(), typed) }) {
			t.Errorf("%s: %q: %s has no such flag as %s", page, strings.Join(words, " "), name, typed)
		}
	}
}

// TestRealDocumentsHaveTheFieldsOfThePages looks at what svcgen prints, whose
// fields are not to differ from the types that it tells of.
func TestRealDocumentsHaveTheFieldsOfThePages(t *testing.T) {
	p := everything(t).programs["svcgen"]
	for verb, args := range map[string][]string{
		"generate": {"generate", "--json", "--target=debian12", "examples/redis.yaml"}, "targets": {"targets", "--json"},
	} {
		var document map[string]any
		decoder := json.NewDecoder(bytes.NewReader([]byte(shipped(t, "svcgen", args...))))
		if err := decoder.Decode(&document); err != nil {
			t.Fatal(err)
		}
		hold(t, p, verb, document)
	}
}

// hold compares the fields of an object with those that are told of.
func hold(t *testing.T, p cmdline.Program, name string, document map[string]any) {
	t.Helper()
	object, ok := p.Object(name)
	if !ok {
		t.Fatalf("no object %s is told of", name)
	}
	for _, f := range object.Fields {
		value, there := document[f.Name]
		if !there && !strings.Contains(f.Type, "left out") {
			t.Errorf("%s has no field %s", name, f.Name)
		}
		delete(document, f.Name)
		if list, ok := value.([]any); ok && len(list) > 0 {
			if inner, ok := list[0].(map[string]any); ok {
				hold(t, p, strings.TrimPrefix(f.Type, "array of "), inner)
			}
		}
	}
	for field := range document {
		t.Errorf("%s has a field %s, of which nothing is told", name, field)
	}
}

// TestCompletionsKnowEveryVerbAndFlag has each shell read its scripts, too.
func TestCompletionsKnowEveryVerbAndFlag(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, everything(t).completions); err != nil {
		t.Fatal(err)
	}
	for path, text := range everything(t).completions {
		shell := filepath.Base(filepath.Dir(path))
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "_"), ".fish")
		p := everything(t).programs[name]
		flags := slices.Clone(p.Flags)
		for _, v := range p.Verbs {
			if !strings.Contains(text, v.Name) {
				t.Errorf("%s lacks the verb %s", path, v.Name)
			}
			flags = append(flags, v.Flags...)
		}
		for _, f := range flags {
			for _, typed := range f.Typed() {
				fish := " -l " + strings.TrimLeft(typed, "-")
				if len(typed) == 2 {
					fish = " -s " + typed[1:]
				}
				if !strings.Contains(text, typed) && !strings.Contains(text, fish) {
					t.Errorf("%s lacks %s", path, typed)
				}
			}
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue // package completion says it aloud
		}
		if out, err := exec.CommandContext(t.Context(), shell, "-n", filepath.Join(dir, path)).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", path, err, out)
		}
	}
}
