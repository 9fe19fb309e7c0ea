package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/verbs"
)

// machine is a host that says so of itself.
func machine(release, version string, booted bool) host {
	return host{
		release:  func() ([]byte, error) { return []byte(release), nil },
		isBooted: func() bool { return booted },
		manager:  func() (string, error) { return version, nil },
	}
}

func TestHostIsATargetOnlyIfItsSystemdRuns(t *testing.T) {
	for _, test := range []struct {
		name        string
		host        host
		want, wrong string
	}{
		{"Debian 12", machine("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n", "252.39-1~deb12u2", true), "debian12", ""},
		{"Debian 13, other quotes", machine("# a comment\nID='debian'\nVERSION_ID='13'\n", "257.13-1~deb13u1", true), "debian13", ""},
		{"Debian 12 with a systemd of its backports", machine("ID=debian\nVERSION_ID=12\n", "254.26-1~bpo12+1", true), "v254", ""},
		{"a rebuild of RHEL", machine("ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.6\"\n", "252-51.el9_6.2", true), "rhel9", ""},
		{"a release candidate", machine("ID=arch\n", "260~rc1-1", true), "v260", ""},
		{"no os-release", machine("", "259", true), "v259", ""},
		{"no systemd", machine("ID=debian\nVERSION_ID=\"12\"\n", "252", false), "", "no systemd runs here"},
		{"an old one", machine("ID=centos\nVERSION_ID=7\n", "219", true), "", "this machine runs systemd 219; svckit knows 239 and later"},
		{"an odd one", machine("ID=debian\n", "v257", true), "", `calls its version "v257", which is no number`},
		{"a silent one", machine("ID=debian\n", "", true), "", "is no number"},
	} {
		target, err := test.host.target()
		if target.Name != test.want || (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: got %q, %v", test.name, target.Name, err)
		}
	}
}

func TestHostThatCannotBeAskedIsNoGuess(t *testing.T) {
	h := machine("ID=debian\nVERSION_ID=13\n", "257", true)
	h.release = func() ([]byte, error) { return nil, errors.New("no such file") }
	if got, err := h.target(); err != nil || got.Name != "v257" {
		t.Errorf("without os-release: got %v, %v", got, err)
	}
	h.manager = func() (string, error) { return "", errors.New("connection refused") }
	if got, err := h.target(); err == nil || !strings.Contains(err.Error(), "does not tell its version: connection refused") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWithoutATargetTheHostIsAskedAndTheFlagIsNamed(t *testing.T) {
	debian := func(version, systemd string, booted bool) program {
		return program{host: machine("ID=debian\nVERSION_ID="+version+"\n", systemd, booted)}
	}
	for _, test := range []struct {
		flag, policy string
		program      program
		want         string
	}{
		{"", "", debian("12", "252", true), "debian12"},
		{"host", "debian12", debian("13", "257", true), "debian13"},
		{"", "host", debian("13", "257", true), "debian13"},
		{"debian12", "debian13", debian("13", "257", true), "debian12"},
		{"", "debian13", debian("12", "252", false), "debian13"},
	} {
		if got, err := test.program.target(test.flag, test.policy); err != nil || got.Name != test.want {
			t.Errorf("--target=%q, target: %q: got %q, %v; want %q", test.flag, test.policy, got.Name, err, test.want)
		}
	}
	_, err := debian("12", "252", false).target("", "")
	if verbs.Code(err) != verbs.ExitUsage || !strings.Contains(err.Error(), "name the target, such as --target=debian13") {
		t.Errorf("got %v", err)
	}
}
