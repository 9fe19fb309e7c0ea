package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the module's directory, seen from this one.
const root = "../.."

// code is the source of a program: all packages of the module that it links.
type code struct{ files []*ast.File }

var read = map[string]code{} // the tests of this file do not run side by side

// codeOf reads the source of a program.
func codeOf(t *testing.T, name string) code {
	t.Helper()
	if c, ok := read[name]; ok {
		return c
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}\n{{end}}{{end}}{{end}}", "./cmd/"+name)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	var c code
	for path := range strings.FieldsSeq(string(out)) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(path), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, file)
	}
	read[name] = c
	return c
}

var (
	oneArgument  = regexp.MustCompile(`^([gG]etenv|[lL]ookup(Env)?)$`)
	anyArguments = regexp.MustCompile(`^(Variable|without(Entry)?)$`)

	variable = regexp.MustCompile(`^[A-Z][A-Z0-9_]{3,}$`)
	exitName = regexp.MustCompile(`^[eE]xit[A-Z]`)
)

// libraries read variables for us.
var libraries = map[string][]string{
	"UserConfigDir": {"XDG_CONFIG_HOME", "HOME"}, "LookPath": {"PATH"}, "CommandContext": {"PATH"}, "Command": {"PATH"},
}

// variables are those that the code may read: every text like one's name in a
// function that reads the environment, or in what that function names.
func (c code) variables() []string {
	found := map[string]bool{}
	for _, file := range c.files {
		values := map[string]ast.Node{} // of the constants and variables of the file
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						for i := range min(len(v.Names), len(v.Values)) {
							values[v.Names[i].Name] = v.Values[i]
						}
					}
				}
			}
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			names, texts := used(f)
			for _, name := range names {
				for _, read := range libraries[name] {
					found[read] = true
				}
			}
			if !readsEnvironment(f) {
				continue
			}
			for _, name := range names {
				if value, ok := values[name]; ok {
					_, more := used(value)
					texts = append(texts, more...)
				}
			}
			for _, text := range texts {
				if variable.MatchString(text) {
					found[text] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// readsEnvironment says whether a function calls one that reads a variable, or
// leaves one out.
func readsEnvironment(f *ast.FuncDecl) bool {
	reads := false
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		var name string
		switch callee := call.Fun.(type) {
		case *ast.Ident:
			name = callee.Name
		case *ast.SelectorExpr:
			name = callee.Sel.Name
		}
		reads = reads || oneArgument.MatchString(name) && len(call.Args) == 1 || anyArguments.MatchString(name)
		return true
	})
	return reads
}

// used are the names and the texts in a piece of code.
func used(node ast.Node) (names, texts []string) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			names = append(names, n.Name)
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				texts = append(texts, text)
			}
		}
		return true
	})
	return names, texts
}

// exitCodes are those that have a name in the code, with 0 and 1.
func (c code) exitCodes() []string {
	found := map[string]bool{"0": true, "1": true}
	for _, file := range c.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				for i := range min(len(v.Names), len(v.Values)) {
					if lit, ok := v.Values[i].(*ast.BasicLit); ok && lit.Kind == token.INT && exitName.MatchString(v.Names[i].Name) {
						found[lit.Value] = true
					}
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// wordsOf are the values of the constants of a type of words.
func (c code) wordsOf(typeName string) []string {
	var words []string
	for _, file := range c.files {
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := v.Type.(*ast.Ident); ok && name.Name == typeName {
				_, texts := used(v)
				words = append(words, slices.DeleteFunc(texts, func(text string) bool { return text == "" })...)
			}
			return true
		})
	}
	return words
}

// section is a part of a page's source, from its heading to the next.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	text, err := sources.ReadFile("pages/" + page + ".md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := bytes.Cut(text, []byte("# "+heading+"\n"))
	if !ok {
		t.Fatalf("%s has no section %s", page, heading)
	}
	part, _, _ := bytes.Cut(after, []byte("\n# "))
	return string(part)
}

// elsewhere are variables that a program's code reads and its page does not
// tell of, with the reason.
var elsewhere = map[string]map[string]string{
	"svcstat": {
		"FRSXMK":  "options of less(1)",
		"MESSAGE": journalField, "MESSAGE_ID": journalField, "PRIORITY": journalField, "SYSLOG_IDENTIFIER": journalField,
		"OBJECT_SYSTEMD_UNIT": journalField, "OBJECT_SYSTEMD_USER_UNIT": journalField,
	},
}

const journalField = "a field of the journal"

func TestEveryVariableThatTheCodeReadsIsInThePage(t *testing.T) {
	for _, program := range programs {
		var told []string
		for _, term := range regexp.MustCompile("(?m)^(`.*`)\n: ").FindAllStringSubmatch(section(t, program+".1", "ENVIRONMENT"), -1) {
			for name := range strings.SplitSeq(term[1], ", ") {
				told = append(told, strings.Trim(name, "`"))
			}
		}
		known := slices.DeleteFunc(codeOf(t, program).variables(), func(name string) bool { return elsewhere[program][name] != "" })
		compare(t, program+"(1), ENVIRONMENT", told, known)
	}
}

func TestEveryExitCodeIsInThePage(t *testing.T) {
	for _, program := range programs {
		var told []string
		for _, term := range regexp.MustCompile(`(?m)^(\d+(?:, \d+)*)\n: `).FindAllStringSubmatch(section(t, program+".1", "EXIT STATUS"), -1) {
			told = append(told, strings.Split(term[1], ", ")...)
		}
		compare(t, program+"(1), EXIT STATUS", told, codeOf(t, program).exitCodes())
	}
}

// compare says what only one of two lists has.
func compare(t *testing.T, where string, told, known []string) {
	t.Helper()
	for _, name := range known {
		if !slices.Contains(told, name) {
			t.Errorf("%s: nothing is said of %s", where, name)
		}
	}
	for _, name := range told {
		if !slices.Contains(known, name) {
			t.Errorf("%s: %s is told of, and the code has no such thing", where, name)
		}
	}
}

// TestEveryWordOfAFieldIsInThePage compares the fields that hold one of a few
// words with the types of these.
func TestEveryWordOfAFieldIsInThePage(t *testing.T) {
	for _, of := range []struct{ program, object, field, typeName string }{
		{"svcstat", "why", "standing", "Standing"},
		{"svcstat", "why", "no_restart", "Reason"},
		{"svcstat", "step", "step", "Step"},
		{"svcstat", "run", "start", "Start"},
		{"svcgen", "file", "state", "state"},
		{"svcgen", "service", "scope", "Scope"},
	} {
		_, object, _ := strings.Cut(section(t, of.program+".1", "JSON FORMAT"), "@object "+of.object+"\n")
		text := regexp.MustCompile(`(?m)^` + of.field + `\n(: .*\n(?:  .*\n)*)`).FindString(object)
		var told []string
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
			told = append(told, word[1])
		}
		compare(t, of.program+"(1), "+of.object+"."+of.field, told, codeOf(t, of.program).wordsOf(of.typeName))
	}
}
