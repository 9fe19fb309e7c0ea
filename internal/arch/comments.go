package arch

import (
	"go/ast"
	"strings"
)

// PackageComments finds the packages that do not say what they are: one
// comment before one package clause, in doc.go by habit, which starts as
// godoc wants it.
func PackageComments(m *Module) []Finding {
	var found []Finding
	for _, p := range m.Packages {
		if file := p.first(); !saysWhatItIs(file) {
			found = append(found, m.find(file.Package, "package %s has no package comment; "+
				"give it a doc.go that starts with %q and says what it is, its invariants and its entry point",
				p.Name, opening(file)))
		}
	}
	return found
}

// saysWhatItIs says whether the file's package comment opens as it should.
func saysWhatItIs(file *ast.File) bool {
	return file.Doc != nil && strings.HasPrefix(file.Doc.Text(), opening(file))
}

// opening is how godoc wants a package comment to start.
func opening(file *ast.File) string {
	if file.Name.Name == "main" {
		return "" // "Svcrun is …", "Command svcrun …": both are usual
	}
	return "Package " + strings.TrimSuffix(file.Name.Name, "_test") + " "
}
