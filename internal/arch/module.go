package arch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the source of one Go module, as `go list -deps` sees it.
type Module struct {
	Path     string // github.com/svckit/svckit
	Dir      string
	Fset     *token.FileSet
	Packages []*Package // the module's own, sorted by name

	// imports is the import graph of everything that is linked, the
	// standard library included: what a program links is read off it.
	imports map[string][]string
}

// Package is one package of the module.
type Package struct {
	Name       string // the import path below the module: policy, cmd/svcrun
	ImportPath string
	Dir        string
	Files      []*ast.File // without tests
	TestFiles  []*ast.File
}

// Finding is one place where the tree is not as it should be.
type Finding struct {
	Pos  token.Position
	Text string
}

// String is the finding as a compiler would print it.
func (f Finding) String() string { return f.Pos.String() + ": " + f.Text }

// listed is what is read of each package that `go list -json` prints.
type listed struct {
	ImportPath                                   string
	Dir                                          string
	GoFiles, CgoFiles, TestGoFiles, XTestGoFiles []string
	Imports                                      []string
	Module                                       *struct {
		Path string
		Main bool
	}
}

// Load reads the module in dir. Packages that do not compile are read as far
// as they parse: that they fail is the compiler's to say.
func Load(dir string) (*Module, error) {
	list := exec.Command("go", "list", "-e", "-deps",
		"-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,Module", "./...")
	list.Dir = dir
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", list, err, stderr.Bytes())
	}
	m := &Module{Dir: dir, Fset: token.NewFileSet(), imports: map[string][]string{}}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", list, err)
		}
		if err := m.add(l); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(m.Packages, func(a, b *Package) int { return cmp.Compare(a.Name, b.Name) })
	return m, nil
}

// add takes a listed package into the graph and, if it is the module's own,
// parses its files.
func (m *Module) add(l listed) error {
	m.imports[l.ImportPath] = l.Imports
	if l.Module == nil || !l.Module.Main {
		return nil
	}
	m.Path = l.Module.Path
	p := &Package{
		Name:       strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, m.Path), "/"),
		ImportPath: l.ImportPath,
		Dir:        l.Dir,
	}
	var err error
	if p.Files, err = m.parse(l.Dir, l.GoFiles, l.CgoFiles); err != nil {
		return err
	}
	if p.TestFiles, err = m.parse(l.Dir, l.TestGoFiles, l.XTestGoFiles); err != nil {
		return err
	}
	if len(p.Files)+len(p.TestFiles) > 0 { // none where build constraints leave it empty
		m.Packages = append(m.Packages, p)
	}
	return nil
}

// parse reads the named files of dir, with their comments.
func (m *Module) parse(dir string, lists ...[]string) ([]*ast.File, error) {
	var files []*ast.File
	for _, name := range slices.Concat(lists...) {
		file, err := parser.ParseFile(m.Fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// name is the import path below the module, and whether it is the module's.
func (m *Module) name(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, m.Path+"/")
}

// find makes a Finding at a position of a parsed file.
func (m *Module) find(pos token.Pos, format string, args ...any) Finding {
	at := m.Fset.Position(pos)
	if rel, err := filepath.Rel(m.Dir, at.Filename); err == nil {
		at.Filename = rel
	}
	return Finding{Pos: at, Text: fmt.Sprintf(format, args...)}
}

// importPath is what an import declaration names.
func importPath(spec *ast.ImportSpec) string {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // not Go: the parser has let nothing such through
		return spec.Path.Value
	}
	return path
}

// below says whether path is root or stands in the tree under it.
func below(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}
