package docs

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const madeUp = `# A page, made up

See [the other](other.md#its-head) and ` + "`a[i](j)`" + `.

<!-- run: lab, exits 65, within 1m -->
` + "```console" + `
$ echo \
  one
one
$ false
` + "```" + `

` + "```yaml" + `
# no head
` + "```" + `
`

func TestPageIsReadWithItsBlocksLinksAndAnchors(t *testing.T) {
	page, err := ParsePage("page.md", madeUp)
	if err != nil {
		t.Fatal(err)
	}
	want := Page{
		Name: "page.md",
		Blocks: []Block{
			{Place: "page.md:6", Info: "console", Text: "$ echo \\\n  one\none\n$ false\n", Mark: "run: lab, exits 65, within 1m"},
			{Place: "page.md:13", Info: "yaml", Text: "# no head\n"},
		},
		Links: []Link{{"page.md:3", "other.md#its-head"}},
		heads: []string{"a-page-made-up"},
	}
	if diff := cmp.Diff(want, page, cmp.AllowUnexported(Page{})); diff != "" {
		t.Error(diff)
	}
	if !page.HasAnchor("a-page-made-up") || page.HasAnchor("no-head") {
		t.Error("the anchors are not those of the headings")
	}
	if _, err := ParsePage("page.md", "text\n```\nno end\n"); err == nil || !strings.Contains(err.Error(), "page.md:2") {
		t.Errorf("a block without an end: %v", err)
	}
}

func TestMarksAreReadAndUnknownOnesRefused(t *testing.T) {
	for text, want := range map[string]Mark{
		"run: here":                       {Role: RunHere},
		"run: lab, exits 65, within 1m":   {Role: RunLab, Exits: 65, Within: time.Minute},
		"run: no, the package is not yet": {Role: NotRun, Name: "the package is not yet"},
		"file: /etc/a.yaml":               {Role: File, Name: "/etc/a.yaml"},
		"refused: a.yaml":                 {Role: Refused, Name: "a.yaml"},
		"part of a policy":                {Role: Part},
		"generated: states, all of them":  {Role: Generated, Name: "states, all of them"},
	} {
		if got, err := (Block{Mark: text}).ReadMark(); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "run", "run: there", "run: no", "run: lab, exit 65", "run: lab, within 1", "run: here, exits", "file: ", "x"} {
		if got, err := (Block{Place: "page.md:7", Mark: text}).ReadMark(); err == nil || !strings.Contains(err.Error(), "page.md:7") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestSpliceReplacesOneBlock(t *testing.T) {
	page := "a\n<!-- generated: x -->\n```text\nold\n```\nb\n<!-- generated: y -->\n```\n```\n"
	got, err := Splice(page, "x", "new\nlines\n")
	if want := strings.Replace(page, "old", "new\nlines", 1); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := Splice(page, "z", ""); err == nil {
		t.Error("a block that is not there was replaced")
	}
	if _, err := Splice("<!-- generated: x -->\n```\n", "x", ""); err == nil {
		t.Error("a block without an end was replaced")
	}
}
