package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/verbs"
)

func TestHostIsATargetOnlyIfItsSystemdRuns(t *testing.T) {
	for _, test := range []struct {
		name, release string
		booted        bool
		want, wrong   string
	}{
		{"Debian 12", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n", true, "debian12", ""},
		{"Debian 13, other quotes", "# a comment\nID='debian'\nVERSION_ID='13'\n", true, "debian13", ""},
		{"no systemd", "ID=debian\nVERSION_ID=\"12\"\n", false, "", "no systemd runs here"},
		{"another release", "ID=debian\nVERSION_ID=\"11\"\n", true, "", "this machine runs debian 11, which this version of svckit has no target for"},
		{"another system", "ID=alpine\nVERSION_ID=3.20\n", true, "", "this machine runs alpine 3.20"},
		{"no release", "", true, "", "has no target for"},
	} {
		h := host{func() ([]byte, error) { return []byte(test.release), nil }, func() bool { return test.booted }}
		target, err := h.target()
		if target.Name != test.want || (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: got %q, %v", test.name, target.Name, err)
		}
	}
	h := host{func() ([]byte, error) { return nil, errors.New("no such file") }, func() bool { return true }}
	if _, err := h.target(); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

func TestWithoutATargetTheHostIsAskedAndTheFlagIsNamed(t *testing.T) {
	debian := func(version string, booted bool) program {
		return program{host: host{func() ([]byte, error) { return []byte("ID=debian\nVERSION_ID=" + version + "\n"), nil }, func() bool { return booted }}}
	}
	for _, test := range []struct {
		flag, policy string
		program      program
		want         string
	}{
		{"", "", debian("12", true), "debian12"},
		{"host", "debian12", debian("13", true), "debian13"},
		{"", "host", debian("13", true), "debian13"},
		{"debian12", "debian13", debian("13", true), "debian12"},
		{"", "debian13", debian("12", false), "debian13"},
	} {
		if got, err := test.program.target(test.flag, test.policy); err != nil || got.Name != test.want {
			t.Errorf("--target=%q, target: %q: got %q, %v; want %q", test.flag, test.policy, got.Name, err, test.want)
		}
	}
	_, err := debian("12", false).target("", "")
	if verbs.Code(err) != verbs.ExitUsage || !strings.Contains(err.Error(), "name the target, with --target=debian12 or --target=debian13") {
		t.Errorf("got %v", err)
	}
}
