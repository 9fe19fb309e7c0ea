package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/svckit/svckit/unitgen"
)

// host is what svcgen asks of the machine that it runs on.
type host struct {
	release  func() ([]byte, error) // os-release(5)
	isBooted func() bool            // sd_booted(3)
}

// thisHost asks the real one.
func thisHost() host {
	return host{
		release: func() ([]byte, error) { return os.ReadFile("/etc/os-release") },
		isBooted: func() bool {
			info, err := os.Lstat("/run/systemd/system")
			return err == nil && info.IsDir()
		},
	}
}

// target is the profile of the machine. It is no guess: a release without a
// profile, or without a running systemd, is an error.
func (h host) target() (unitgen.Target, error) {
	if !h.isBooted() {
		return unitgen.Target{}, fmt.Errorf("no systemd runs here that could be the target")
	}
	text, err := h.release()
	if err != nil {
		return unitgen.Target{}, fmt.Errorf("cannot tell which system this is: %w", err)
	}
	release := releaseFields(string(text))
	target, err := unitgen.LookupTarget(release["ID"] + release["VERSION_ID"])
	if err != nil {
		return unitgen.Target{}, fmt.Errorf("this machine runs %s %s, which this version of svckit has no target for", release["ID"], release["VERSION_ID"])
	}
	return target, nil
}

// releaseFields reads NAME=value lines, with the quotes that os-release(5) allows.
func releaseFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			fields[name] = strings.Trim(value, `"'`)
		}
	}
	return fields
}
