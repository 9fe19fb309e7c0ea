package arch

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// root is the module's directory, seen from this one.
const root = "../.."

// loadOnce reads the tree for all tests of this file.
var loadOnce = sync.OnceValues(func() (*Module, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	return Load(dir)
})

func tree(t *testing.T) *Module {
	t.Helper()
	m, err := loadOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Packages) == 0 {
		t.Fatal("the module has no packages; go list found nothing")
	}
	return m
}

// report fails the test with each finding on a line of its own.
func report(t *testing.T, found []Finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	report(t, Arrows(tree(t), Table))
}

func TestPurePackagesHaveNoClockNoGoroutineNoDescriptor(t *testing.T) {
	report(t, Purity(tree(t), Table))
}

func TestProgramsLinkNothingForbidden(t *testing.T) {
	for program, forbidden := range Links {
		report(t, Linked(tree(t), program, forbidden))
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	report(t, PackageComments(tree(t)))
}

func TestFunctionsAndFilesFitTheirLimits(t *testing.T) {
	report(t, Sizes(tree(t), HouseLimits, LongFunctions))
}

func TestNothingNamesThePlacesOfItsMakers(t *testing.T) {
	found, err := Mentions(os.DirFS(root), PrivatePlaces)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestDependenciesAreExplained(t *testing.T) {
	const docs = "docs/dependencies.md"
	text, err := os.ReadFile(filepath.Join(root, docs))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := ReadGoMod(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var tools GoMod
	for _, file := range []string{"tools/go.mod", "tools/nfpm/go.mod", "tools/freeze/go.mod"} {
		tool, err := ReadGoMod(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		tools.Tool = append(tools.Tool, tool.Tool...)
	}
	if !mod.Tidied() {
		t.Skip("SKIP: go.mod marks every requirement as indirect; run go mod tidy, then this test can compare")
	}
	report(t, Dependencies(tree(t), docs, ParseDependencies(text), mod, tools))
}
