package manager

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/svckit/svckit/internal/manager/plan"
)

// Host is where the directories of services are on this machine, and who runs
// them: as systemd's own manager has it where that is root, else as a user's
// manager (systemd.exec(5), systemd.unit(5)).
type Host struct {
	Root                                 bool
	Runtime, State, Cache, Logs, Config  string
	UID                                  int
	UserName, Group, HomeDir, Shell, Dir string // Dir is this manager's own

	made []string // directories that Close removes
}

// ThisHost finds it out, and makes a directory for this manager, which Close
// removes. Where none can be made, as in a container that is all read-only, it
// does without: only credentials need it. getenv reads the caller's environment.
func ThisHost(getenv func(string) string) *Host {
	h := &Host{Root: os.Geteuid() == 0, UID: os.Geteuid()}
	h.whoAmI(getenv)
	if h.Root {
		h.Runtime, h.State, h.Cache, h.Logs, h.Config = "/run", "/var/lib", "/var/cache", "/var/log", "/etc"
	} else {
		h.State = either(getenv("XDG_STATE_HOME"), filepath.Join(h.HomeDir, ".local/state"))
		h.Cache = either(getenv("XDG_CACHE_HOME"), filepath.Join(h.HomeDir, ".cache"))
		h.Config = either(getenv("XDG_CONFIG_HOME"), filepath.Join(h.HomeDir, ".config"))
		h.Logs = filepath.Join(h.State, "log")
		h.Runtime = getenv("XDG_RUNTIME_DIR")
	}
	for _, parent := range []string{h.Runtime, os.TempDir()} {
		if parent == "" {
			continue
		}
		if dir, err := os.MkdirTemp(parent, "svcgen-run-"); err == nil {
			h.own(dir, parent)
			break
		}
	}
	h.Runtime = either(h.Runtime, "/run/user/"+strconv.Itoa(h.UID))
	return h
}

// own has a directory be the manager's. Services that are other users find their
// sockets there, and nothing else. Where it is not in the runtime directory, as
// there is none or none to write to, that is in it.
func (h *Host) own(dir, parent string) {
	_ = os.Chmod(dir, 0o711)
	h.Dir, h.made = dir, []string{dir}
	if parent != h.Runtime {
		h.Runtime = filepath.Join(dir, "run")
		_ = os.Mkdir(h.Runtime, 0o755)
	}
}

// whoAmI fills in the caller, as far as anybody knows about it: a container may
// have no /etc/passwd.
func (h *Host) whoAmI(getenv func(string) string) {
	h.UserName, h.HomeDir, h.Shell = getenv("USER"), getenv("HOME"), getenv("SHELL")
	if me, err := user.LookupId(strconv.Itoa(h.UID)); err == nil {
		h.UserName, h.HomeDir = me.Username, either(h.HomeDir, me.HomeDir)
		h.Shell = either(shellOf(me.Username), h.Shell)
	}
	if group, err := user.LookupGroupId(strconv.Itoa(os.Getegid())); err == nil {
		h.Group = group.Name
	}
	h.HomeDir = either(h.HomeDir, "/")
	h.UserName = either(h.UserName, strconv.Itoa(h.UID))
}

// Close removes what ThisHost has made.
func (h *Host) Close() {
	for _, dir := range h.made {
		_ = os.RemoveAll(dir)
	}
}

// System is what the specifiers of units stand for here.
func (h *Host) System() plan.System {
	return plan.System{
		Runtime: h.Runtime, State: h.State, Cache: h.Cache, Logs: h.Logs, Config: h.Config,
		Credentials: h.credentials(),
	}
}

func (h *Host) credentials() string {
	return filepath.Join(either(h.Dir, h.Runtime+"/svcgen-run"), "credentials")
}

// Credentials is where a unit finds its credentials.
func (h *Host) Credentials(unit string) string { return filepath.Join(h.credentials(), unit) }

// either is the first of two that says anything.
func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
