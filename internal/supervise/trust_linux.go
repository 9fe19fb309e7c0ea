package supervise

import (
	"os"
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/proc"
	"github.com/svckit/svckit/notify/socket"
)

// trusts says whether a datagram is the service's: its sender is in svcrun's
// own cgroup or below, where a service with Delegate= puts its parts; or it has
// already gone, and had the uid of svcrun or of the main process. Of the main
// process one look is enough: its number is its own until its status is taken.
func (s *service) trusts(d socket.Datagram) bool {
	isMain := d.PID != 0 && d.PID == s.main.pid && s.main.adopted == nil && !s.main.over
	if isMain && s.main.trusted {
		return true
	}
	group := cgroupOf(strconv.Itoa(d.PID))
	if group != "" {
		inside := within(group, s.cgroup)
		s.main.trusted = s.main.trusted || isMain && inside
		return inside
	}
	if d.UID == uint32(os.Getuid()) {
		return true
	}
	s.seeUID()
	return s.main.uidSeen && d.UID == s.main.uid
}

// within says whether a cgroup is own or below it. Nothing counts as below the
// root, whose name ends in a slash: that would be everybody.
func within(group, own string) bool {
	return group == own || strings.HasPrefix(group, own+"/")
}

// cgroupOf is a process's cgroup of the unified hierarchy, which is where a
// unit's processes are; of all hierarchies where there is no unified one; and
// "" where the process has gone (cgroups(7)).
func cgroupOf(pid string) string {
	text, err := proc.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "0::") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return string(text)
}

// uidOf is a process's effective uid, as proc_pid_status(5) shows it; the owner
// of its directory is root after a change of uid.
func uidOf(pid int) (uint32, bool) {
	text, err := proc.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	_, line, _ := strings.Cut(string(text), "\nUid:\t")
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return 0, false
	}
	uid, err := strconv.ParseUint(fields[1], 10, 32)
	return uint32(uid), err == nil
}
