package unitgen

import (
	"strings"
	"testing"
)

func TestChecksumTellsWhoWroteAUnit(t *testing.T) {
	unit := generated(t, "name: x\nexec: /bin/x\n", "debian13")
	lines := strings.SplitAfter(unit, "\n")
	for name, test := range map[string]struct {
		text string
		want Authorship
	}{
		"as written":                 {unit, Untouched},
		"printed with its place":     {PathComment("/etc/systemd/system/x.service") + "\n" + unit, Untouched},
		"a line more at the end":     {unit + "Nice=5\n", Edited},
		"a line more at the top":     {"# mine\n" + unit, Edited},
		"a changed directive":        {strings.Replace(unit, "Restart=", "Restart=no#", 1), Edited},
		"a changed heading":          {strings.Replace(unit, "x.yaml", "y.yaml", 1), Edited},
		"a changed checksum":         {strings.Replace(unit, "sha256:", "sha256:0", 1), Edited},
		"without its last newline":   {strings.TrimSuffix(unit, "\n"), Edited},
		"without the checksum":       {strings.ReplaceAll(unit, lines[2], ""), Foreign},
		"another's":                  {"[Service]\nExecStart=/bin/true\n", Foreign},
		"empty":                      {"", Foreign},
		"a checksum within a line":   {"Description=" + checksumMark + "\n", Foreign},
		"nothing but a place":        {"# /etc/x\n", Foreign},
		"a heading that is no place": {"# / a\n" + unit, Edited},
	} {
		if got := AuthorOf([]byte(test.text)); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	if !strings.HasPrefix(lines[2], checksumMark) {
		t.Errorf("line 3 is %q", lines[2])
	}
}

func TestASourceNameCannotLeaveTheHeading(t *testing.T) {
	p := mustRead(t, "name: x\nexec: /bin/x\n")
	result, err := Generate(p, profile(t, "debian13"), Options{Source: "a\n[Service]\nExecStart=/bin/evil\n.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(result.Files[0].Text)) {
		if strings.HasPrefix(line, "ExecStart=/bin/evil") {
			t.Fatalf("the source's name became a directive:\n%s", result.Files[0].Text)
		}
	}
	if got := AuthorOf(result.Files[0].Text); got != Untouched {
		t.Errorf("got %v", got)
	}
}
