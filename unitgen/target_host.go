package unitgen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Host is what a machine says of itself.
type Host struct {
	Systemd   int    // the version of the manager that runs
	ID        string // ID= of os-release(5)
	IDLike    string // ID_LIKE=
	VersionID string // VERSION_ID=
}

// HostTarget is the profile of a machine: its distribution's where its manager
// is the one that the distribution ships, else the upstream version's, which
// has no backports. A systemd newer than all that are known is taken for the
// newest.
func HostTarget(h Host) (Target, error) {
	if h.Systemd < oldestSystemd {
		return Target{}, fmt.Errorf("this machine runs systemd %d; svckit knows %d and later", h.Systemd, oldestSystemd)
	}
	for _, t := range targets {
		if t.Systemd == h.Systemd && h.is(t) {
			return t, nil
		}
	}
	return upstream(min(h.Systemd, newestSystemd)), nil
}

// is says whether the machine's distribution is the target's. The rebuilds of
// RHEL have its versions; CentOS Stream has no minor ones and is ahead of them.
func (h Host) is(t Target) bool {
	id := h.ID
	if id == "centos" || id == "ol" || slices.Contains(strings.Fields(h.IDLike), "rhel") {
		id = "rhel"
	}
	if id+h.VersionID == t.Name {
		return true
	}
	major, minor, _ := strings.Cut(h.VersionID, ".")
	number, err := strconv.Atoi(minor)
	return id == "rhel" && id+major == t.Name && err == nil && number >= t.minor
}
