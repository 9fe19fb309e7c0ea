package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/arch"
	"github.com/svckit/svckit/internal/docs"
	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/unitgen"
)

var update = flag.Bool("update", false, "write what is generated of the docs anew; commit only what you understand")

var machines labtest.Pool

func TestMain(m *testing.M) { os.Exit(machines.Main(m)) }

// root is the module's directory.
const root = "../.."

// pages are all pages of docs, and the README.
func pages(t *testing.T) []docs.Page {
	t.Helper()
	files := []string{"README.md"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 5 {
		t.Fatalf("%d pages found: %v", len(files), err)
	}
	var all []docs.Page
	for _, file := range files {
		all = append(all, readPage(t, file))
	}
	return all
}

func readPage(t *testing.T, file string) docs.Page {
	t.Helper()
	page, err := docs.ParsePage(file, readFile(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// marked are the blocks of a page that have one of the roles, with their marks.
// With no roles given it is all of them.
func marked(t *testing.T, page docs.Page, roles ...docs.Role) (blocks []docs.Block, marks []docs.Mark) {
	t.Helper()
	for _, block := range page.Blocks {
		mark, err := block.ReadMark()
		if err != nil {
			t.Error(err)
			continue
		}
		if len(roles) == 0 || slices.Contains(roles, mark.Role) {
			blocks, marks = append(blocks, block), append(marks, mark)
		}
	}
	return blocks, marks
}

func TestEveryBlockSaysWhereItRuns(t *testing.T) {
	for _, page := range pages(t) {
		blocks, marks := marked(t, page)
		for i, block := range blocks {
			isConsole, runs := block.Info == "console", marks[i].Role == docs.RunHere || marks[i].Role == docs.RunLab
			if isConsole != runs && marks[i].Role != docs.NotRun {
				t.Errorf("%s: a block of %q is marked %q", block.Place, block.Info, block.Mark)
			}
			if _, err := block.Commands(); isConsole && err != nil {
				t.Error(err)
			}
		}
	}
}

func TestEveryRelativeLinkLeadsSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		for _, link := range page.Links {
			file, anchor, _ := strings.Cut(link.Target, "#")
			if strings.Contains(file, "://") {
				continue
			}
			path := page.Name
			if file != "" {
				path = filepath.Join(filepath.Dir(page.Name), file)
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %v", link.Place, err)
				continue
			}
			if anchor != "" && !readPage(t, path).HasAnchor(anchor) {
				t.Errorf("%s: %s has no heading #%s", link.Place, path, anchor)
			}
		}
	}
}

func TestEveryPolicyOfTheDocsIsGeneratedForEveryTarget(t *testing.T) {
	for _, page := range pages(t) {
		blocks, marks := marked(t, page, docs.File, docs.Part, docs.Refused)
		for i, block := range blocks {
			if block.Info != "yaml" {
				continue
			}
			err := generate(block.Place, completed(block, marks[i]))
			switch isRefused := marks[i].Role == docs.Refused; {
			case isRefused && err == nil:
				t.Errorf("%s: svcgen takes what is marked as refused", block.Place)
			case !isRefused && err != nil:
				t.Errorf("%v; if that is meant, mark it %q", err, "refused: NAME")
			}
		}
	}
}

// generate makes the units of a policy for every target.
func generate(place, text string) error {
	policies, err := unitgen.Read(place, []byte(text))
	if err != nil {
		return err
	}
	for _, policy := range policies {
		for _, target := range unitgen.Targets() {
			if _, err := unitgen.Generate(policy, target, unitgen.Options{}); err != nil {
				return fmt.Errorf("for %s: %w", target.Name, err)
			}
		}
	}
	return nil
}

// completed is a block's policy, with the two keys that every policy needs.
func completed(block docs.Block, mark docs.Mark) string {
	text := block.Text
	for _, key := range []string{"exec: /opt/app\n", "name: app\n"} {
		name, _, _ := strings.Cut(key, " ")
		if mark.Role == docs.Part && !strings.HasPrefix(text, name) && !strings.Contains(text, "\n"+name) {
			text = key + text
		}
	}
	return text
}

// reason finds the names of the reasons in the source of history/why.
var reason = regexp.MustCompile(`Reason = "([a-z-]+)"`)

func TestEveryCauseAndReasonIsInTheDocs(t *testing.T) {
	page := readFile(t, "docs/why.md")
	causes, reasons, _ := strings.Cut(page, "## No restart came")
	for _, cause := range history.Causes() {
		if !strings.Contains(causes, "\n| `"+string(cause)+"` |") {
			t.Errorf("docs/why.md does not tell of the cause %s", cause)
		}
	}
	names := reason.FindAllStringSubmatch(readFile(t, "history/why/answer.go"), -1)
	for _, name := range names {
		if !strings.Contains(reasons, "`"+name[1]+"`") {
			t.Errorf("docs/why.md does not tell of the reason %s", name[1])
		}
	}
	if len(names) < 10 {
		t.Errorf("%d reasons found in history/why", len(names))
	}
}

// layer finds the lines of the table of packages in docs/architecture.md.
var layer = regexp.MustCompile("(?m)^\\| (programs|act|decide|prove)\\b.*\\| (`.*`) \\|$")

func TestPackagesOfTheDocsAreThoseOfTheCode(t *testing.T) {
	rank := map[string]int{} // of the line that a package stands in
	for i, line := range layer.FindAllStringSubmatch(readFile(t, "docs/architecture.md"), -1) {
		for _, name := range strings.Fields(strings.ReplaceAll(line[2], "`", "")) {
			rank[name] = i + 1
			rule, known := arch.Table[name]
			if !known || rule.Pure != (line[1] == "decide") {
				t.Errorf("docs/architecture.md has %s under %q; in the table of internal/arch it is there: %v, pure: %v", name, line[1], known, rule.Pure)
			}
		}
	}
	for name, from := range rank {
		for _, imported := range arch.Table[name].Imports {
			if to := rank[imported]; to > 0 && to < from {
				t.Errorf("docs/architecture.md has %s above %s, which imports it", imported, name)
			}
		}
	}
	if len(rank) < 20 {
		t.Errorf("%d packages found in docs/architecture.md", len(rank))
	}
}
