package arch

import (
	"go/ast"
	"path/filepath"
)

// Limits bound how much a reader has to hold in mind at once. Tests are free
// of them: a table is long because its subject is.
type Limits struct {
	Function int // lines from "func" to the closing brace
	File     int // lines
}

// HouseLimits are the limits of this module.
var HouseLimits = Limits{Function: 60, File: 400}

// Sizes finds the functions and files that are longer than limits says.
// Functions in exempt ("cmd/svcrun.main", "internal/supervise/machine.Machine.Step")
// may be; one that is no longer too long has to leave the list.
func Sizes(m *Module, limits Limits, exempt map[string]string) []Finding {
	var found []Finding
	for _, p := range m.Packages {
		for _, file := range p.Files {
			if ast.IsGenerated(file) {
				continue
			}
			name := filepath.Base(m.Fset.Position(file.Package).Filename)
			if n := m.Fset.Position(file.FileEnd).Line; n > limits.File {
				found = append(found, m.find(file.Package, "%s has %d lines, more than %d; "+
					"look for the second idea in it and give that a file of its own", name, n, limits.File))
			}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok {
					found = append(found, m.functionSize(p, f, limits.Function, exempt)...)
				}
			}
		}
	}
	return found
}

// functionSize checks one function.
func (m *Module) functionSize(p *Package, f *ast.FuncDecl, limit int, exempt map[string]string) []Finding {
	n := m.Fset.Position(f.End()).Line - m.Fset.Position(f.Pos()).Line + 1
	name := p.Name + "." + receiver(f) + f.Name.Name
	reason, listed := exempt[name]
	switch {
	case n > limit && !listed:
		return []Finding{m.find(f.Pos(), "%s has %d lines, more than %d; "+
			"name the steps in it and give each a function", name, n, limit)}
	case n > limit && reason == "":
		return []Finding{m.find(f.Pos(), "%s stands in LongFunctions without a reason; say why it reads better uncut", name)}
	case n <= limit && listed:
		return []Finding{m.find(f.Pos(), "%s has only %d lines now; take it out of LongFunctions", name, n)}
	}
	return nil
}

// receiver is the type that f is a method of, with a dot; empty for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	expr := f.Recv.List[0].Type
	for {
		switch t := expr.(type) {
		case *ast.StarExpr:
			expr = t.X
		case *ast.IndexExpr:
			expr = t.X
		case *ast.IndexListExpr:
			expr = t.X
		case *ast.Ident:
			return t.Name + "."
		default:
			return ""
		}
	}
}
