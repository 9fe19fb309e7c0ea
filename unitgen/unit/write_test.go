package unit

import (
	"strings"
	"testing"
)

func TestFileIsPrintedInItsOrder(t *testing.T) {
	var f File
	f.Comment("written by hand\nin two lines")
	u := f.Section("Unit")
	u.Add("Description", "a service")
	s := f.Section("Service")
	s.Comment("why")
	s.Add("Restart", "no")
	s.Blank()
	s.Add("ExecStart", "/bin/a", "--flag=%t/x", "-- /bin/b")
	u.Add("After", "b.service")
	u.Add("After", "a.service")
	f.Sections = append(f.Sections, &Section{Name: "Unit", Lines: []Line{Comment{Text: ""}}})
	want := `# written by hand
# in two lines

[Unit]
Description=a service
After=b.service
After=a.service

[Service]
# why
Restart=no

ExecStart=/bin/a \
    --flag=%t/x \
    -- /bin/b

[Unit]
#
`
	got, err := f.Bytes()
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	if values := s.Lookup("ExecStart"); len(values) != 1 || values[0] != "/bin/a --flag=%t/x -- /bin/b" {
		t.Errorf("Lookup found %q", values)
	}
	if values := u.Lookup("After"); strings.Join(values, "|") != "b.service|a.service" {
		t.Errorf("Lookup found %q", values)
	}
	if f.Section("Unit") != u {
		t.Error("Section did not return the first of its name")
	}
}

func TestNoTextLeavesItsLine(t *testing.T) {
	for name, test := range map[string]struct {
		build func(*File)
		want  string
	}{
		"a newline in a value":         {func(f *File) { f.Section("S").Add("A", "x\nB=y") }, "control character"},
		"a continued comment":          {func(f *File) { f.Section("S").Add("A", "x", "# y") }, "looks like a comment"},
		"an empty continued line":      {func(f *File) { f.Section("S").Add("A", "x", "") }, "empty"},
		"a backslash at the end":       {func(f *File) { f.Section("S").Add("A", `x\`) }, `ends in a \`},
		"three backslashes at the end": {func(f *File) { f.Section("S").Add("A", `x\\\`) }, `ends in a \`},
		"a value that is too long":     {func(f *File) { f.Section("S").Add("A", Value(strings.Repeat("x", maxLine))) }, "bytes"},
		"a directive with a blank":     {func(f *File) { f.Section("S").Add("A B", "x") }, "no name of a directive"},
		"a directive without a name":   {func(f *File) { f.Section("S").Add("", "x") }, "no name of a directive"},
		"a section with a newline":     {func(f *File) { f.Section("S]\n[T").Add("A", "x") }, "no name of a section"},
		"a directive in the head":      {func(f *File) { f.Head = append(f.Head, Directive{Name: "A"}) }, "before the first section"},
		"invalid UTF-8":                {func(f *File) { f.Section("S").Add("A", "\xff") }, "UTF-8"},
	} {
		var f File
		test.build(&f)
		if text, err := f.Bytes(); err == nil || !strings.Contains(err.Error(), test.want) || text != nil {
			t.Errorf("%s: got %v and %q, want an error with %q", name, err, text, test.want)
		}
	}
}

func TestBackslashPairsEndALineAsTheyAre(t *testing.T) {
	var f File
	f.Section("S").Add("A", `x\\`)
	f.Section("S").Add("B", `y`)
	text, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	all, err := readUnit(string(text))
	if err != nil || len(all) != 2 || all[0].value != `x\\` {
		t.Errorf("read as %v, %v", all, err)
	}
}

func TestCommentsStayComments(t *testing.T) {
	for _, text := range []string{"a\nExecStart=/bin/evil", "a\r\nB=c", "ends in \\", "bell\x07", "\xff\xfe", "a\u0085B=c"} {
		var f File
		f.Comment(text)
		f.Section("S").Comment(text)
		f.Section("S").Add("A", "x")
		out, err := f.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		all, err := readUnit(string(out))
		if err != nil || len(all) != 1 || all[0].name != "A" {
			t.Errorf("comment %q is read as %v, %v", text, all, err)
		}
	}
}
