package unitgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

// Target is what the systemd that is to run a unit can do. It is a profile and
// no version number, since distributions take parts of newer versions back.
type Target struct {
	Name    string
	Systemd int    // the version that it is based on
	Note    string // what there is to know about it, if anything

	minor     int      // the distribution's first minor release that has the backports
	backports []string // directives and NAME=VALUE that it has though its version has not
}

// TargetHost stands for the machine that svcgen runs on. What that is, only
// the program can tell.
const TargetHost = "host"

// The versions of systemd that svckit knows. A target of an upstream version
// is called v and the number.
const (
	oldestSystemd = 239
	newestSystemd = 262
)

// untried is the Note of targets that no test boots.
const untried = "units can be generated for it; svckit is not tried there"

// targets are the profiles that there are. The backports were read from the
// distributions' sources (systemd-rhel8 of RHEL 8.10, systemd-rhel9 of 9.4).
var targets = []Target{
	{Name: "debian11", Systemd: 247},
	{Name: "debian12", Systemd: 252},
	{Name: "debian13", Systemd: 257},
	{Name: "ubuntu20.04", Systemd: 245, Note: untried},
	{Name: "ubuntu22.04", Systemd: 249},
	{Name: "ubuntu24.04", Systemd: 255},
	{Name: "rhel8", Systemd: 239, Note: "RHEL 8.10; " + untried, minor: 10, backports: []string{
		"AllowedCPUs", "AllowedMemoryNodes", "CPUQuotaPeriodSec", "DefaultMemoryLow", "DefaultMemoryMin", "ExecCondition",
		"IODeviceLatencyTargetSec", "LogRateLimitBurst", "LogRateLimitIntervalSec", "MemoryMin", "NUMAMask", "NUMAPolicy",
		"RestrictSUIDSGID",
	}},
	{Name: "rhel9", Systemd: 252, Note: "RHEL 9.4 and later; v252 for earlier ones", minor: 4, backports: []string{
		"ReloadSignal", "Type=notify-reload",
	}},
	{Name: "rhel10", Systemd: 257},
	upstream(255), upstream(256), upstream(257), upstream(258),
	upstream(259), upstream(260), upstream(261), upstream(262),
}

// upstream is systemd as it was released.
func upstream(version int) Target {
	return Target{Name: "v" + strconv.Itoa(version), Systemd: version}
}

// String is how texts name the target: with the version that it is based on.
func (t Target) String() string {
	if t.Name == upstream(t.Systemd).Name {
		return fmt.Sprintf("systemd %d", t.Systemd)
	}
	return fmt.Sprintf("%s (systemd %d)", t.Name, t.Systemd)
}

// Targets are all profiles.
func Targets() []Target { return slices.Clone(targets) }

// Has says whether the target knows a directive, such as RestartSteps. What
// nobody knows it does not have, but for the X- names that systemd leaves to
// others.
func (t Target) Has(directive string) bool {
	if strings.HasPrefix(directive, "X-") || slices.Contains(t.backports, directive) {
		return true
	}
	first, known := firstVersions[directive]
	last, ends := lastVersions[directive]
	return known && first <= t.Systemd && (!ends || t.Systemd <= last)
}

// HasValue says whether the target knows a value of a directive, such as
// notify-reload of Type=.
func (t Target) HasValue(directive, value string) bool {
	both := directive + "=" + value
	first, later := firstVersions[both]
	return t.Has(directive) && (!later || first <= t.Systemd || slices.Contains(t.backports, both))
}

// LookupTarget finds a profile by its name. Any version of systemd from 239 on
// is one as well: v254.
func LookupTarget(name string) (Target, error) {
	for _, t := range targets {
		if t.Name == name {
			return t, nil
		}
	}
	if number, ok := strings.CutPrefix(name, "v"); ok {
		if version, err := strconv.Atoi(number); err == nil {
			return lookupVersion(name, version)
		}
	}
	names := targetNames()
	if near, ok := syntax.Nearest(name, names); ok {
		return Target{}, fmt.Errorf("unknown target %q; did you mean %s", name, near)
	}
	return Target{}, fmt.Errorf("unknown target %q; known are %s", name, strings.Join(names, ", "))
}

func lookupVersion(name string, version int) (Target, error) {
	if version < oldestSystemd || version > newestSystemd || name != upstream(version).Name {
		return Target{}, fmt.Errorf("unknown target %q; systemd is known from v%d to v%d", name, oldestSystemd, newestSystemd)
	}
	return upstream(version), nil
}

func targetNames() []string {
	var names []string
	for _, t := range targets {
		names = append(names, t.Name)
	}
	return names
}

// CheckTarget says what is wrong with the name of a target, if anything.
func CheckTarget(name string) error {
	if name == TargetHost {
		return nil
	}
	_, err := LookupTarget(name)
	return err
}
