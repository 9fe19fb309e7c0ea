package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandsAreReadWithTheirOutput(t *testing.T) {
	got, err := Block{Text: "$ echo \\\n  one\none\n\ntwo\n$ true\n"}.Commands()
	want := []Command{{Text: "echo \\\n  one\n", Want: "one\n\ntwo\n"}, {Text: "true\n"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := (Block{Text: "one\n$ true\n"}).Commands(); err == nil {
		t.Error("a block that begins with output was read")
	}
}

func TestOutputMatchesButForWhatVaries(t *testing.T) {
	for _, c := range []struct {
		want, got string
		matches   bool
	}{
		{"", "", true},
		{"", "x\n", false},
		{"a\n", "", false},
		{"a\n", "a", true},
		{"a  b  \n", "a b\n", true},
		{"a b\n", "a  c\n", false},
		{"…\n", "", true},
		{"a\n…\nz\n", "a\nb\nc\nz\n", true},
		{"a\n…\nz\n", "a\nz\ny\n", false},
		{"pid …, up\n", "pid 12, up\n", true},
		{"pid …, up\n", "pid 12\n, up\n", false},
		{"at 2026-01-01 00:00:00 after 1.5s\n", "at 2031-12-31 23:59:59 after 17ms\n", true},
		{"after 1.50s\n", "after 2min 3s\n", true},
		{"within 15s\n", "within 17s\n", false}, // a number that somebody chose
		{"2min 15s\n", "1min\n", false},
		{"(a.b)*\n", "(a.b)*\n", true},
		{"a.b\n", "axb\n", false},
	} {
		if err := Match(c.want, c.got); (err == nil) != c.matches {
			t.Errorf("want %q, got %q: %v", c.want, c.got, err)
		}
	}
}
