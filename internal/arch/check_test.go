package arch

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// made makes a module of sources: file name below the module → its text.
func made(t *testing.T, sources map[string]string) *Module {
	t.Helper()
	m := &Module{Path: "example.org/m", Dir: "/m", Fset: token.NewFileSet(), imports: map[string][]string{}}
	packages := map[string]*Package{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		file, err := parser.ParseFile(m.Fset, "/m/"+name, sources[name], parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(name)
		p := packages[dir]
		if p == nil {
			p = &Package{Name: dir, ImportPath: m.Path + "/" + dir}
			packages[dir] = p
			m.Packages = append(m.Packages, p)
		}
		if strings.HasSuffix(name, "_test.go") {
			p.TestFiles = append(p.TestFiles, file)
			continue
		}
		p.Files = append(p.Files, file)
		for _, spec := range file.Imports {
			m.imports[p.ImportPath] = append(m.imports[p.ImportPath], importPath(spec))
		}
	}
	return m
}

// want compares findings with the starts of the lines that they print as.
func want(t *testing.T, found []Finding, starts ...string) {
	t.Helper()
	for i, f := range found {
		if i >= len(starts) {
			t.Errorf("a finding too many: %s", f)
		} else if !strings.HasPrefix(f.String(), starts[i]) {
			t.Errorf("finding %d is\n\t%s\nwant one that starts\n\t%s", i, f, starts[i])
		}
	}
	for _, start := range starts[min(len(found), len(starts)):] {
		t.Errorf("not found: %s", start)
	}
}

func TestArrowsNamesUnknownPackagesAndForbiddenImports(t *testing.T) {
	m := made(t, map[string]string{
		"a/a.go":        "package a\nimport _ \"example.org/m/b\"\nimport _ \"example.org/m/c\"\nimport _ \"strings\"\n",
		"b/b.go":        "package b\nimport _ \"example.net/x/sub\"\nimport _ \"example.net/xy\"\n",
		"c/c.go":        "package c\n",
		"a/a_test.go":   "package a\nimport _ \"example.net/testing\"\n",
		"e2e/e_test.go": "package e2e\n",
	})
	table := map[string]Rule{
		"a": {Imports: []string{"b"}},
		"b": {Modules: []string{"example.net/x"}},
		"d": {Imports: []string{"a"}}, // not written yet
	}
	want(t, Arrows(m, table),
		"a/a.go:3:8: package a must not import example.org/m/c: no such arrow",
		"b/b.go:3:8: package b must not import example.net/xy: internal/arch/table.go gives it no such module",
		"c/c.go:1:1: package c is not in the table",
		"e2e/e_test.go:1:1: package e2e is not in the table",
	)
}

func TestPurityFindsEachWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   []string
	}{
		"text and numbers":                {source: "import (\n\"fmt\"\n\"net/url\"\n\"time\"\n)\nvar _ = fmt.Sprint(time.Second, url.Parse)"},
		"a pure package":                  {source: `import _ "example.org/m/pure"`},
		"files":                           {source: `import _ "os"`, want: []string{"os reaches"}},
		"processes":                       {source: `import _ "os/exec"`, want: []string{"os/exec reaches"}},
		"network":                         {source: `import _ "net/http"`, want: []string{"net/http reaches"}},
		"system calls":                    {source: `import _ "golang.org/x/sys/unix"`, want: []string{"golang.org/x/sys/unix reaches"}},
		"an impure package of the module": {source: `import _ "example.org/m/io"`, want: []string{"io is not"}},
		"the clock":                       {source: "import \"time\"\nvar now = time.Now", want: []string{"time.Now reads the clock"}},
		"a renamed clock":                 {source: "import t \"time\"\nvar now = t.Now()", want: []string{"t.Now reads the clock"}},
		"a hidden clock":                  {source: "import . \"time\"\nvar now = Now()", want: []string{"the dot import of time hides"}},
		"a timer":                         {source: "import \"time\"\nfunc f() { time.Sleep(1) }", want: []string{"time.Sleep sets a timer"}},
		"a goroutine":                     {source: "func f() { go f() }", want: []string{"this statement starts a goroutine"}},
		"a channel":                       {source: "var c = make(chan int)", want: []string{"this type uses a channel"}},
		"waiting for ever":                {source: "func f() { select {} }", want: []string{"this statement uses a channel"}},
		"printing":                        {source: "import \"fmt\"\nfunc f() { fmt.Println(); println() }", want: []string{"fmt.Println talks", "println talks"}},
		"chance":                          {source: "import \"math/rand/v2\"\nvar n = rand.IntN(6)", want: []string{"rand.IntN draws"}},
		"a caller's dice":                 {source: "import \"math/rand/v2\"\nfunc f(r *rand.Rand) int { return r.IntN(6) }"},
	} {
		t.Run(name, func(t *testing.T) {
			m := made(t, map[string]string{
				"p/p.go":       "package p\n" + c.source + "\n",
				"p/p_test.go":  "package p\nimport _ \"os\"\n",
				"pure/pure.go": "package pure\n",
				"io/io.go":     "package io\nimport _ \"os\"\n",
			})
			found := Purity(m, map[string]Rule{"p": {Pure: true}, "pure": {Pure: true}, "io": {}})
			var texts []Finding
			for _, f := range found {
				if f.Pos.Filename != "p/p.go" || f.Pos.Line < 2 {
					t.Errorf("found at %s, want p/p.go and a line", f.Pos)
				}
				texts = append(texts, Finding{Text: strings.TrimPrefix(f.Text, "package p is pure, but ")})
			}
			starts := make([]string, len(c.want))
			for i, w := range c.want {
				starts[i] = "-: " + w
			}
			want(t, texts, starts...)
		})
	}
}

func TestLinkedNamesTheChainAndTheImportToTakeOut(t *testing.T) {
	m := made(t, map[string]string{
		"cmd/run/main.go": "package main\nimport _ \"example.org/m/probe\"\n",
		"probe/probe.go":  "package probe\n\nimport _ \"example.net/client\"\n",
	})
	m.imports["example.net/client"] = []string{"net/http"}
	m.imports["net/http"] = []string{"crypto/tls"}
	want(t, Linked(m, "cmd/run", []string{"net/http", "example.net/dbus"}),
		"probe/probe.go:3:8: cmd/run must not link net/http, but example.org/m/cmd/run imports example.org/m/probe "+
			"imports example.net/client imports net/http;")
	want(t, Linked(m, "cmd/later", []string{"net/http"}))
}

func TestSizesCountsLinesAndKeepsTheExemptionsShort(t *testing.T) {
	m := made(t, map[string]string{
		"a/a.go":      "package a\n\nfunc (t *T[K]) Long() {\n\n\n}\n\ntype T[K any] struct{}\n\nfunc short() {}\n",
		"a/gen.go":    "// Code generated by hand. DO NOT EDIT.\npackage a\nfunc gen() {\n\n\n}\n",
		"a/a_test.go": "package a\n\nfunc long() {\n\n\n}\n",
		"b/b.go":      "package b\n\n\n\n\n\n\n\n\n\n\n",
	})
	want(t, Sizes(m, Limits{Function: 3, File: 10}, nil),
		"a/a.go:3:1: a.T.Long has 4 lines, more than 3;",
		"b/b.go:1:1: b.go has 11 lines, more than 10;")
	want(t, Sizes(m, Limits{Function: 3, File: 99}, map[string]string{"a.T.Long": "one event switch"}))
	want(t, Sizes(m, Limits{Function: 3, File: 99}, map[string]string{"a.T.Long": ""}),
		"a/a.go:3:1: a.T.Long stands in LongFunctions without a reason")
	want(t, Sizes(m, Limits{Function: 4, File: 99}, map[string]string{"a.T.Long": "was long"}),
		"a/a.go:3:1: a.T.Long has only 4 lines now")
}

func TestPackageCommentsAreAskedOfTestOnlyPackagesToo(t *testing.T) {
	m := made(t, map[string]string{
		"a/a.go":         "package a\n",
		"a/doc.go":       "// Package a is said to be one.\npackage a\n",
		"b/b.go":         "// It is something.\npackage b\n",
		"cmd/c/main.go":  "// C does it.\npackage main\n",
		"e2e/a_test.go":  "package e2e_test\n",
		"e2e2/b_test.go": "// Package e2e2 plays the story.\npackage e2e2\n",
	})
	want(t, PackageComments(m),
		"b/b.go:2:1: package b has no package comment; give it a doc.go that starts with \"Package b \"",
		"e2e/a_test.go:1:1: package e2e has no package comment")
}

func TestMentionsForgivesOnlyTestsThatSkip(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"README.md":   file("one\nsee /secret/place\n"),
		"a_test.go":   file("/secret/place t.Skip()"),
		"b_test.go":   file("/secret/place"),
		".git/config": file("/secret/place"),
		"bin/svcrun":  file("/secret/place"),
	}
	found, err := Mentions(tree, []string{"/secret/place"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, found, "README.md:2: names /secret/place", "b_test.go:1: names /secret/place")
}

func TestDependenciesHoldBothWays(t *testing.T) {
	docs := ParseDependencies([]byte("# Title\n\n- `example.net/nowhere`: under no heading\n\n" +
		"## In the programs\n\n- `example.net/cli`: flags.\n- `example.net/silent`\n- `example.net/gone`: left.\n- `example.net/quick`: wrong place.\n\n" +
		"## In tests only\n\n- `example.net/yaml`: wrong place.\n\n## Tools\n\n- `example.net/lint`: lints.\n- `example.net/old`: did.\n"))
	m := made(t, map[string]string{
		"cmd/c/main.go": "package main\nimport _ \"example.net/cli/v2\"\nimport _ \"example.net/yaml\"\n",
	})
	require := func(paths ...string) (rs []Requirement) {
		for _, p := range paths {
			rs = append(rs, Requirement{Path: p})
		}
		return rs
	}
	mod := GoMod{Require: append(require("example.net/cli", "example.net/yaml", "example.net/quick", "example.net/new", "example.net/silent"),
		Requirement{Path: "example.net/gone", Indirect: true})}
	tools := GoMod{Tool: []struct{ Path string }{{"example.net/lint"}, {"example.net/pack"}}}
	want(t, Dependencies(m, "deps.md", docs, mod, tools),
		"deps.md:3: example.net/nowhere stands under no heading",
		"deps.md:8: example.net/silent has no reason",
		"deps.md:9: example.net/gone is no direct requirement",
		"deps.md:10: example.net/quick is linked by no program",
		"deps.md:14: example.net/yaml is linked by a program",
		"deps.md:19: example.net/old is no tool",
		"go.mod: example.net/new is not in deps.md",
		"tools/go.mod: example.net/pack is not in deps.md",
	)
}
