package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// impureImports are the standard packages, each with all below it, that reach
// out of the program or bring in time and chance.
var impureImports = []string{
	"C", "context", "crypto/rand", "log", "net", "os", "plugin", "runtime", "syscall", "testing",
	"golang.org/x/sys",
}

// pureImports are the exceptions: they only read and write text.
var pureImports = []string{"net/netip", "net/url"}

// impureNames are the functions of otherwise pure packages that are not.
var impureNames = map[string]map[string]string{
	"time": {
		"Now": clock, "Since": clock, "Until": clock,
		"Sleep": timer, "After": timer, "AfterFunc": timer, "Tick": timer, "NewTimer": timer, "NewTicker": timer,
	},
	"fmt": {
		"Print": printing, "Printf": printing, "Println": printing,
		"Scan": printing, "Scanf": printing, "Scanln": printing,
	},
}

// seededRandom are the names of math/rand and math/rand/v2 that need a source
// of the caller's; all others draw from a source of the process.
var seededRandom = map[string]bool{
	"New": true, "NewSource": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true,
	"Rand": true, "Source": true, "Source64": true, "PCG": true, "ChaCha8": true, "Zipf": true,
}

// What to do instead.
const (
	clock     = "reads the clock; take the time as an argument"
	timer     = "sets a timer; return a deadline and let the caller wait for it"
	printing  = "talks to the terminal; return the text"
	chance    = "draws from the process's random source; take a *rand.Rand as an argument"
	parallel  = "starts a goroutine; return what is to be done and let the caller do it"
	channels  = "uses a channel; take and return values"
	worldly   = "reaches out of the program; take what it would give as an argument, or move this code to a package that is not pure"
	unchecked = "hides which package a name is from; import it by its name"
)

// Purity finds what the pure packages of table do though they must not.
// That their imports are pure too makes it hold for all they depend on.
func Purity(m *Module, table map[string]Rule) []Finding {
	var found []Finding
	for _, p := range m.Packages {
		if !table[p.Name].Pure {
			continue
		}
		for _, file := range p.Files {
			report := func(pos token.Pos, what, why string) {
				found = append(found, m.find(pos, "package %s is pure, but %s %s", p.Name, what, why))
			}
			for _, spec := range file.Imports {
				checkPureImport(m, table, spec, report)
			}
			checkPureCode(file, report)
		}
	}
	return found
}

// reporter takes one finding: where, what stands there, and what is wrong with
// it.
type reporter func(pos token.Pos, what, why string)

// checkPureImport reports an import that is not pure.
func checkPureImport(m *Module, table map[string]Rule, spec *ast.ImportSpec, report reporter) {
	imported := importPath(spec)
	if spec.Name != nil && spec.Name.Name == "." {
		report(spec.Pos(), "the dot import of "+imported, unchecked)
	}
	if name, own := m.name(imported); own {
		if !table[name].Pure {
			report(spec.Pos(), name, "is not; take what it would give as an argument")
		}
		return
	}
	for _, root := range impureImports {
		if below(imported, root) && !slices.Contains(pureImports, imported) {
			report(spec.Pos(), imported, worldly)
		}
	}
}

// checkPureCode reports the statements, types and calls that are not pure.
func checkPureCode(file *ast.File, report reporter) {
	imports := localNames(file)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n.Pos(), "this statement", parallel)
		case *ast.ChanType:
			report(n.Pos(), "this type", channels)
		case *ast.SelectStmt:
			report(n.Pos(), "this statement", channels)
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				report(n.Pos(), f.Name, printing)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			if why := impure(imports[x.Name], n.Sel.Name); why != "" {
				report(n.Pos(), x.Name+"."+n.Sel.Name, why)
			}
		}
		return true
	})
}

// impure says why a name of an imported package is not pure, or nothing.
func impure(importPath, name string) string {
	if importPath == "math/rand" || importPath == "math/rand/v2" {
		if seededRandom[name] {
			return ""
		}
		return chance
	}
	return impureNames[importPath][name]
}

// localNames maps the names by which a file calls its imports to their paths.
func localNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		imported := importPath(spec)
		name := path.Base(imported)
		if version := strings.TrimPrefix(name, "v"); version != name && strings.Trim(version, "0123456789") == "" {
			name = path.Base(path.Dir(imported))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}
