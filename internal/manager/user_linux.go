package manager

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/svckit/svckit/internal/manager/plan"
)

// identity is whom a service runs as.
type identity struct {
	credential *syscall.Credential // nil for the caller
	name       string
	home       string
	shell      string
	login      bool // HOME= and its like tell of it
}

// identify finds whom a service runs as, as systemd does: the groups are those
// of the user, the first of them Group= where that is said (systemd.exec(5)).
func (h *Host) identify(s *plan.Service, asMe bool) (identity, error) {
	at := s.Surroundings
	mine := identity{name: h.UserName, home: h.HomeDir, shell: h.Shell, login: !h.Root}
	if asMe || at.User == "" && at.Group == "" {
		return mine, nil
	}
	if !h.Root {
		if (at.User == "" || at.User == h.UserName || at.User == strconv.Itoa(h.UID)) && (at.Group == "" || h.isOwnGroup(at.Group)) {
			return mine, nil
		}
		return identity{}, &RefusedError{Unit: s.Name, User: at.User, Group: at.Group}
	}
	who, err := lookUp(at.User, at.Group)
	if err != nil {
		return identity{}, &RefusedError{Unit: s.Name, User: at.User, Group: at.Group, Reason: err}
	}
	return who, nil
}

// isOwnGroup says whether a group is the caller's first one.
func (h *Host) isOwnGroup(group string) bool {
	return group == h.Group || group == strconv.Itoa(os.Getegid())
}

// lookUp is a user with its groups, or root with a group.
func lookUp(name, group string) (identity, error) {
	who := identity{credential: &syscall.Credential{}}
	if name != "" {
		u, err := byNameOrNumber(name)
		if err != nil {
			return identity{}, err
		}
		who.name, who.home, who.shell, who.login = u.Username, u.HomeDir, shellOf(u.Username), true
		if who.credential.Uid, err = number(u.Uid); err != nil {
			return identity{}, err
		}
		if who.credential.Gid, err = number(u.Gid); err != nil {
			return identity{}, err
		}
		who.credential.Groups = groupsOf(u)
	}
	if group != "" {
		gid, err := groupNumber(group)
		if err != nil {
			return identity{}, err
		}
		who.credential.Gid = gid
		if !slices.Contains(who.credential.Groups, gid) {
			who.credential.Groups = append(who.credential.Groups, gid)
		}
	}
	return who, nil
}

// byNameOrNumber finds a user; one that has only a number needs no entry.
func byNameOrNumber(name string) (*user.User, error) {
	u, err := user.Lookup(name)
	if err == nil {
		return u, nil
	}
	if _, bad := number(name); bad != nil {
		return nil, fmt.Errorf("there is no such user on this machine")
	}
	if u, err = user.LookupId(name); err == nil {
		return u, nil
	}
	return &user.User{Username: name, Uid: name, Gid: name, HomeDir: "/"}, nil
}

func groupsOf(u *user.User) []uint32 {
	ids, _ := u.GroupIds() // who is in no list is in its own group alone
	var groups []uint32
	for _, id := range ids {
		if n, err := number(id); err == nil {
			groups = append(groups, n)
		}
	}
	return groups
}

func groupNumber(group string) (uint32, error) {
	if g, err := user.LookupGroup(group); err == nil {
		return number(g.Gid)
	}
	n, err := number(group)
	if err != nil {
		return 0, fmt.Errorf("there is no group %s on this machine", group)
	}
	return n, nil
}

func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// shellOf is a user's login shell as passwd(5) has it, which package os/user
// leaves out.
func shellOf(name string) string {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == 7 && fields[0] == name {
			return fields[6]
		}
	}
	return ""
}
