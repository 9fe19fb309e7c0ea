package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Need is something that the lab lacks on this machine.
type Need struct {
	What string // "the program mmdebstrap"
	Cure string // "apt-get install -y mmdebstrap"
}

func (n Need) String() string { return n.What + " (cure: " + n.Cure + ")" }

// A MissingError says that no lab can be on this machine, and why. It is not a
// failure of what was to be tested.
type MissingError struct {
	Needs []Need
}

func (e *MissingError) Error() string {
	texts := make([]string, len(e.Needs))
	for i, need := range e.Needs {
		texts[i] = need.String()
	}
	return "no systemd lab on this machine, missing: " + strings.Join(texts, "; ")
}

// Missing returns all that keeps the suites from being built and booted here.
// It is empty where they can be.
func (l *Lab) Missing(ctx context.Context, suites ...Suite) []Need {
	needs := l.missingForBoot()
	for _, s := range suites {
		if l.hasRoot(s) {
			continue
		}
		for _, need := range l.missingForBuild(ctx, s) {
			needs = appendNew(needs, need)
		}
	}
	return needs
}

// missingForBoot is what a boot from a built root lacks.
func (l *Lab) missingForBoot() []Need { return l.probed() }

// probe asks the machine itself: it tries every step, rather than guess from
// versions and capabilities what would be allowed.
func (l *Lab) probe() []Need {
	if os.Geteuid() != 0 {
		return []Need{{"root's privileges", "run as root, or in a container started with --privileged"}}
	}
	needs := missingPrograms(map[string]string{
		"unshare": "util-linux", "nsenter": "util-linux", "mount": "mount", "setpriv": "util-linux",
	})
	if len(needs) > 0 {
		return needs
	}
	if err := l.prepare(); err != nil {
		return []Need{{"a cache directory: " + err.Error(), "set " + cacheVar + " to a directory that can be written"}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := script(probeScript, machineNamespaces, "LAB_WORK="+l.mountPoint(), "LAB_NAME="+l.newName()+"-probe")
	report, err := runScript(ctx, cmd)
	if err != nil {
		return []Need{{"namespaces of our own: " + err.Error(), cures["mount"]}}
	}
	return needsOf(report)
}

// cures are by the keys of probe.sh.
var cures = map[string]string{
	"mount":   "give the process CAP_SYS_ADMIN, for instance with docker run --privileged",
	"overlay": "load the kernel's overlay module: modprobe overlay",
	"cgroup":  "a kernel with cgroup version 2 that may be mounted; in a container: docker run --privileged --cgroupns=private",
}

// needsOf reads what probe.sh printed; one need per key, for the steps after
// the first one that fails tend to fail because of it.
func needsOf(report string) []Need {
	var needs []Need
	seen := map[string]bool{}
	for line := range strings.Lines(report) {
		key, reason, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !seen[key] && cures[key] != "" {
			seen[key] = true
			needs = append(needs, Need{What: "the right to " + key + ": " + reason, Cure: cures[key]})
		}
	}
	return needs
}

// missingForBuild is what the bootstrap of a suite lacks.
func (l *Lab) missingForBuild(ctx context.Context, s Suite) []Need {
	needs := missingPrograms(map[string]string{"mmdebstrap": "mmdebstrap"})
	if l.Mirror == "" {
		return append(needs, Need{
			"a Debian mirror: the apt sources name none",
			"set " + mirrorVar + ", for instance to http://deb.debian.org/debian",
		})
	}
	if err := l.reachMirror(ctx, s); err != nil {
		needs = append(needs, Need{
			fmt.Sprintf("the suite %s on the mirror %s: %v", s, l.Mirror, err),
			"give the machine a network, or set " + mirrorVar + " to a mirror that it reaches",
		})
	}
	return needs
}

// aptHelper downloads as apt does, with its proxies and its kinds of URI.
const aptHelper = "/usr/lib/apt/apt-helper"

// reachMirror asks the mirror for the suite's release file.
func (l *Lab) reachMirror(ctx context.Context, s Suite) error {
	if _, err := os.Stat(aptHelper); err != nil {
		return nil // no apt of Debian's here; the build will tell
	}
	dir, err := os.MkdirTemp("", "svckit-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	url := strings.TrimSuffix(l.Mirror, "/") + "/dists/" + string(s) + "/InRelease"
	cmd := exec.CommandContext(ctx, aptHelper, "-o", "Acquire::Retries=3", "-o", "Acquire::http::Timeout=20",
		"-o", "APT::Sandbox::User=root", "download-file", url, filepath.Join(dir, "InRelease"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(string(out), 1))
	}
	return nil
}

// missingPrograms looks for programs on the scripts' PATH; packages are by
// program.
func missingPrograms(packages map[string]string) []Need {
	var needs []Need
	for program, pkg := range packages {
		if !onPath(program) {
			needs = appendNew(needs, Need{"the program " + program, "apt-get install -y " + pkg})
		}
	}
	return needs
}

func onPath(program string) bool {
	for _, dir := range filepath.SplitList(guestPath) {
		if info, err := os.Stat(filepath.Join(dir, program)); err == nil && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

func appendNew(needs []Need, need Need) []Need {
	for _, known := range needs {
		if known == need {
			return needs
		}
	}
	return append(needs, need)
}
