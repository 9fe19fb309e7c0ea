package main

import (
	"slices"
	"testing"

	"github.com/svckit/svckit/unitgen"
)

func TestEachFileGoesToWhereItBelongs(t *testing.T) {
	files := []unitgen.File{
		{Name: "a.service", Dir: "/etc/systemd/system"}, {Name: "b.service", Dir: "/etc/systemd/user"}, {Name: "c", Dir: "/etc/credstore", Secret: true},
	}
	for dir, want := range map[string][]string{
		"":                             {"/etc/systemd/system/a.service", "/etc/systemd/user/b.service", "/etc/credstore/c"},
		"out":                          {"out/a.service", "out/b.service", "out/c"},
		"/etc/systemd/system/":         {"/etc/systemd/system/a.service", "/etc/systemd/user/b.service", "/etc/credstore/c"},
		"/run/systemd/system":          {"/run/systemd/system/a.service", "/etc/systemd/user/b.service", "/etc/credstore/c"},
		"/home/u/.config/systemd/user": {"/etc/systemd/system/a.service", "/home/u/.config/systemd/user/b.service", "/etc/credstore/c"},
	} {
		r := report{files: files, dir: dir}
		if got := r.paths(); !slices.Equal(got, want) {
			t.Errorf("-o %s: %q, want %q", dir, got, want)
		}
		if copies := r.copies(); (len(copies) > 0) != (dir == "out" || dir == "") {
			t.Errorf("-o %s: %q is to be copied", dir, copies)
		}
	}
}
