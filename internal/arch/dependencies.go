package arch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/token"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// Use is what the module has a dependency for; each is a heading of
// docs/dependencies.md.
type Use string

// The uses. A module that both programs and tests import is InPrograms.
const (
	InPrograms Use = "In the programs"
	InTests    Use = "In tests only"
	AsTools    Use = "Tools"
)

// Dependency is one line of docs/dependencies.md.
type Dependency struct {
	Module string
	Use    Use
	Line   int
	Reason string
}

// GoMod is what is read of a go.mod.
type GoMod struct {
	Require []Requirement
	Tool    []struct{ Path string }
}

// Requirement is one module that a go.mod asks for.
type Requirement struct {
	Path     string
	Indirect bool
}

// ReadGoMod reads a go.mod with the go command, which needs no network for it.
func ReadGoMod(path string) (GoMod, error) {
	var mod GoMod
	out, err := exec.Command("go", "mod", "edit", "-json", path).Output()
	if err != nil {
		return mod, fmt.Errorf("go mod edit -json %s: %w", path, err)
	}
	return mod, json.Unmarshal(out, &mod)
}

// Tidied says whether `go mod tidy` has had a look at the requirements: until
// then all are marked as indirect.
func (mod GoMod) Tidied() bool {
	return slices.ContainsFunc(mod.Require, func(r Requirement) bool { return !r.Indirect })
}

var dependencyLine = regexp.MustCompile("^- `([^`]+)`:? *(.*)")

// ParseDependencies reads the list items of docs/dependencies.md under the
// headings that are a Use; an item may go on over more lines.
func ParseDependencies(text []byte) []Dependency {
	var deps []Dependency
	var use Use
	for i, line := range bytes.Split(text, []byte("\n")) {
		if heading, ok := strings.CutPrefix(string(line), "## "); ok {
			use = Use(heading)
			continue
		}
		if item := dependencyLine.FindSubmatch(line); item != nil {
			deps = append(deps, Dependency{Module: string(item[1]), Use: use, Line: i + 1, Reason: string(item[2])})
		}
	}
	return deps
}

// Dependencies compares what docs/dependencies.md says with go.mod, with
// tools/go.mod and with the imports, each way.
func Dependencies(m *Module, docs string, deps []Dependency, mod, tools GoMod) []Finding {
	var found []Finding
	named := map[string]bool{}
	for _, d := range deps {
		named[d.Module] = true
		if text := d.wrong(m, mod, tools); text != "" {
			found = append(found, Finding{Pos: token.Position{Filename: docs, Line: d.Line}, Text: d.Module + " " + text})
		}
	}
	missing := func(file, module string) {
		if !named[module] {
			found = append(found, Finding{
				Pos:  token.Position{Filename: file},
				Text: fmt.Sprintf("%s is not in %s; say there what it is for and why this one", module, docs),
			})
		}
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			missing("go.mod", r.Path)
		}
	}
	for _, tool := range tools.Tool {
		missing("tools/go.mod", tool.Path)
	}
	return found
}

// wrong says what is not true of a line of the document, or nothing.
func (d Dependency) wrong(m *Module, mod, tools GoMod) string {
	direct := slices.Contains(mod.Require, Requirement{Path: d.Module})
	switch {
	case d.Reason == "":
		return "has no reason; say what it is for and why this one"
	case d.Use == AsTools:
		if !slices.Contains(tools.Tool, struct{ Path string }{d.Module}) {
			return "is no tool of tools/go.mod; take the line out"
		}
	case d.Use != InPrograms && d.Use != InTests:
		return fmt.Sprintf("stands under no heading that says its use; put it under %q, %q or %q", InPrograms, InTests, AsTools)
	case !direct:
		return "is no direct requirement of go.mod; take the line out"
	case d.Use == InTests && m.linksModule(d.Module):
		return fmt.Sprintf("is linked by a program; put it under %q", InPrograms)
	case d.Use == InPrograms && !m.linksModule(d.Module):
		return fmt.Sprintf("is linked by no program; put it under %q", InTests)
	}
	return ""
}

// linksModule says whether any of the programs links the named module.
func (m *Module) linksModule(module string) bool {
	return slices.ContainsFunc(m.Packages, func(p *Package) bool {
		return strings.HasPrefix(p.Name, "cmd/") && m.chain(p.ImportPath, module) != nil
	})
}
