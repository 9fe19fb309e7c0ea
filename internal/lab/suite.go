package lab

import "slices"

// A Suite is a Debian suite whose systemd can be booted.
type Suite string

// The suites, each chosen for its systemd. The numbers are those of today and
// are for orientation only: a test asks [Machine.Version].
const (
	Bullseye Suite = "bullseye" // 247; optional, old servers
	Bookworm Suite = "bookworm" // 252; Debian 12, and near RHEL 9
	Trixie   Suite = "trixie"   // 257; Debian 13, and near RHEL 10
	Sid      Suite = "sid"      // the newest, 262 and later
)

// Suites are the suites that a full test run boots.
func Suites() []Suite { return []Suite{Bookworm, Trixie, Sid} }

// common is what every root holds beside Debian's essential packages: systemd
// with the buses it speaks, a client for health endpoints, and two daemons
// that know nothing of readiness or watchdogs.
var common = [...]string{
	"systemd", "systemd-sysv", "dbus", "procps", "iproute2", "curl", "redis-server", "nginx",
}

// packages is the suite's package list. Bookworm still has to be told that
// /usr is merged already, or it pulls in all of perl to merge it.
func (s Suite) packages() []string {
	list := slices.Clone(common[:])
	switch s {
	case Bullseye:
		return append(list, "policykit-1")
	case Bookworm:
		return append(list, "polkitd", "usr-is-merged")
	default:
		return append(list, "polkitd")
	}
}
