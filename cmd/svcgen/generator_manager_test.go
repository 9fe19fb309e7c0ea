package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestVersionIsInTheNameOfTheManagersLibrary(t *testing.T) {
	for text, want := range map[string]int{
		"7f00-7f01 r--p 00000000 fe:00 1 /usr/lib/x86_64-linux-gnu/libsystemd.so.0.45.0\n" +
			"7f02-7f03 r--p 00000000 fe:00 2 /usr/lib/x86_64-linux-gnu/systemd/libsystemd-shared-257.so\n": 257, // Debian
		"/usr/lib64/systemd/libsystemd-shared-257.9-1.fc42.so":              257, // Fedora
		"/usr/lib/systemd/libsystemd-shared-252.so (deleted)":               252, // after an upgrade
		"/nix/store/abc-systemd-258.2/lib/systemd/libsystemd-shared-258.so": 258,
		"/usr/lib/systemd/libsystemd-shared-260~rc1-1.so":                   260,
		"libsystemd-shared-247":                                             247,
		"/usr/bin/bash":                                                     0,
		"":                                                                  0,
		"libsystemd-shared-.so":                                             0,
		"libsystemd-shared-99999999999999999999.so":                         0,
		"/lib/libsystemd-core-257.so":                                       0,
	} {
		got, err := libraryVersion([]byte(text))
		if want != 0 && (got != want || err != nil) || want == 0 && err == nil {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestProgramThatIsNoSystemdHasNoVersion(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(t.TempDir(), "text")
	writeTo(t, text, "#!/bin/sh\n")
	for _, programs := range [][]string{{"/nowhere"}, {"/nowhere", self}, {text}, {t.TempDir()}} {
		if number, err := installedVersion(programs...); err == nil {
			t.Errorf("%v: %d", programs, number)
		}
	}
}
