package unitgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

// Target is what the systemd that is to run a unit can do. It is a profile and
// no version number, since distributions take parts of newer versions back.
type Target struct {
	Name    string
	Systemd string // the version that it ships, for people
	Ladder  bool   // RestartSteps= and RestartMaxDelaySec= (systemd 254)

	NotifyReload bool // Type=notify-reload and ReloadSignal= (systemd 253)
}

// TargetHost stands for the machine that svcgen runs on. What that is, only
// the program can tell.
const TargetHost = "host"

// targets are the profiles that there are.
var targets = []Target{
	{Name: "debian12", Systemd: "252"},
	{Name: "debian13", Systemd: "257", Ladder: true, NotifyReload: true},
}

// laterTargets are names of the format that this version has no profile for.
var laterTargets = []string{
	"debian11", "rhel10", "rhel8", "rhel9", "ubuntu20.04", "ubuntu22.04", "ubuntu24.04",
	"v255", "v256", "v257", "v258", "v259", "v260", "v261", "v262",
}

// Targets are the names of all profiles.
func Targets() []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	return names
}

// LookupTarget finds a profile by its name.
func LookupTarget(name string) (Target, error) {
	for _, t := range targets {
		if t.Name == name {
			return t, nil
		}
	}
	known := strings.Join(Targets(), ", ")
	if slices.Contains(laterTargets, name) {
		return Target{}, fmt.Errorf("this version of svckit does not have the target %q; known are %s", name, known)
	}
	if near, ok := syntax.Nearest(name, Targets()); ok {
		return Target{}, fmt.Errorf("unknown target %q; did you mean %s", name, near)
	}
	return Target{}, fmt.Errorf("unknown target %q; known are %s", name, known)
}

// CheckTarget says what is wrong with the name of a target, if anything.
func CheckTarget(name string) error {
	if name == TargetHost {
		return nil
	}
	_, err := LookupTarget(name)
	return err
}
