package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/manager"
	"github.com/svckit/svckit/unitgen"
)

// host is what svcgen asks of the machine that it runs on.
type host struct {
	release  func() ([]byte, error) // os-release(5)
	isBooted func() bool            // sd_booted(3)
	defaults string                 // the file of defaults, which need not be there
	manager  func() (string, error) // the running manager's version: "257.13-1~deb13u1"

	places func() *manager.Host // where svcgen run has the directories of services
}

// thisHost asks the real one.
func thisHost() host {
	return host{
		release: func() ([]byte, error) { return os.ReadFile("/etc/os-release") },
		isBooted: func() bool {
			info, err := os.Lstat("/run/systemd/system")
			return err == nil && info.IsDir()
		},
		defaults: "/etc/svckit/defaults.yaml",
		manager:  askManager,
		places:   func() *manager.Host { return manager.ThisHost(os.Getenv) },
	}
}

// managerBound is how long the manager may take to tell its version.
const managerBound = 5 * time.Second

// askManager asks the manager that runs, which after an upgrade without
// `systemctl daemon-reexec` is not the one on the disk.
func askManager() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), managerBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemctl", "show", "--property=Version", "--value")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// target is the profile of the machine. It is no guess: where no manager
// answers, there is none.
func (h host) target() (unitgen.Target, error) {
	if !h.isBooted() {
		return unitgen.Target{}, fmt.Errorf("no systemd runs here that could be the target")
	}
	version, err := h.manager()
	if err != nil {
		return unitgen.Target{}, fmt.Errorf("the systemd that runs here does not tell its version: %w", err)
	}
	number, err := systemdVersion(version)
	if err != nil {
		return unitgen.Target{}, err
	}
	return h.targetOf(number)
}

// targetOf is the profile of the machine if its manager is of that version.
func (h host) targetOf(number int) (unitgen.Target, error) {
	text, err := h.release()
	if err != nil {
		text = nil // os-release(5) may be missing; the version alone is a target too
	}
	release := releaseFields(string(text))
	return unitgen.HostTarget(unitgen.Host{
		Systemd: number, ID: release["ID"], IDLike: release["ID_LIKE"], VersionID: release["VERSION_ID"],
	})
}

// systemdVersion is the number at the head of a version: 257 of
// 257.13-1~deb13u1, 252 of 252-32.el9, 258 of 258~rc1 (which has all of it).
func systemdVersion(text string) (int, error) {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	number, err := strconv.Atoi(text[:end])
	if err != nil {
		return 0, fmt.Errorf("the systemd that runs here calls its version %.40q, which is no number", text)
	}
	return number, nil
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
