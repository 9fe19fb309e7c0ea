package arch

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Arrows finds the packages that table does not know, and the imports that it
// does not allow.
func Arrows(m *Module, table map[string]Rule) []Finding {
	var found []Finding
	for _, p := range m.Packages {
		rule, ok := table[p.Name]
		if !ok {
			found = append(found, m.find(p.first().Package,
				"package %s is not in the table of packages; give it a line in internal/arch/table.go", p.Name))
			continue
		}
		for _, spec := range p.importSpecs() {
			if text := m.refuse(rule, importPath(spec)); text != "" {
				found = append(found, m.find(spec.Pos(), "package %s must not import %s: %s", p.Name, importPath(spec), text))
			}
		}
	}
	return found
}

// refuse says why rule does not allow an import and what to do, or nothing
// where it does.
func (m *Module) refuse(rule Rule, path string) string {
	if name, own := m.name(path); own {
		if slices.Contains(rule.Imports, name) {
			return ""
		}
		return "no such arrow in internal/arch/table.go; take the import out (declare a small interface and let the caller pass it), " +
			"or add the arrow there and give the reason in the commit"
	}
	if standard(path) || slices.ContainsFunc(rule.Modules, func(module string) bool { return below(path, module) }) {
		return ""
	}
	return "internal/arch/table.go gives it no such module; use the package that has it, " +
		"or add the module there and to docs/dependencies.md"
}

// standard says whether path is of the standard library: the first element of
// any other path has a dot, as it is a host's name.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// importSpecs are the import declarations of the package without its tests.
func (p *Package) importSpecs() []*ast.ImportSpec {
	var specs []*ast.ImportSpec
	for _, file := range p.Files {
		specs = append(specs, file.Imports...)
	}
	return specs
}

// first is the file that stands for the whole package: doc.go if it has one.
func (p *Package) first() *ast.File {
	files := slices.Concat(p.Files, p.TestFiles)
	for _, file := range files {
		if file.Doc != nil {
			return file
		}
	}
	return files[0]
}

// Linked finds what a program links though it must not, with the chain of
// imports that brings it in.
func Linked(m *Module, program string, forbidden []string) []Finding {
	start := m.Path + "/" + program
	if _, ok := m.imports[start]; !ok {
		return nil
	}
	var found []Finding
	for _, root := range forbidden {
		if chain := m.chain(start, root); chain != nil {
			found = append(found, m.findChain(chain, "%s must not link %s, but %s; take the first arrow that leads there out",
				program, root, strings.Join(chain, " imports ")))
		}
	}
	return found
}

// chain is the shortest way along imports from start to a package below root.
func (m *Module) chain(start, root string) []string {
	from := map[string]string{start: ""}
	for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if below(at, root) {
			var chain []string
			for ; at != ""; at = from[at] {
				chain = append(chain, at)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, next := range m.imports[at] {
			if _, seen := from[next]; !seen {
				from[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// findChain is a Finding at the last import in chain that the module itself
// makes.
func (m *Module) findChain(chain []string, format string, args ...any) Finding {
	last := token.NoPos
	for _, p := range m.Packages {
		i := slices.Index(chain, p.ImportPath)
		if i < 0 || i+1 == len(chain) {
			continue
		}
		if _, own := m.name(chain[i+1]); own {
			continue
		}
		for _, spec := range p.importSpecs() {
			if importPath(spec) == chain[i+1] {
				last = spec.Pos()
			}
		}
	}
	return m.find(last, format, args...)
}
