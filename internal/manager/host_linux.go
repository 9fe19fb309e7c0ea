package manager

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

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

	lock *os.File // on Dir, for as long as this process lives
}

// ownPrefix begins the names of managers' own directories.
const ownPrefix = "svcgen-run-"

// ThisHost finds it out, and makes a directory for this manager, which Close
// removes. Where none can be made, as in a container that is all read-only, it
// does without: only credentials need it. getenv reads the caller's environment.
func ThisHost(getenv func(string) string) *Host {
	h := &Host{Root: os.Geteuid() == 0, UID: os.Geteuid()}
	h.whoAmI(getenv)
	if h.Root {
		h.Runtime, h.State, h.Cache, h.Logs, h.Config = "/run", "/var/lib", "/var/cache", "/var/log", "/etc"
	} else {
		h.userPlaces(getenv)
	}
	for _, parent := range []string{h.Runtime, os.TempDir()} {
		if parent == "" {
			continue
		}
		h.removeStale(parent)
		if dir, err := os.MkdirTemp(parent, ownPrefix); err == nil {
			h.own(dir, parent)
			break
		}
	}
	h.Runtime = either(h.Runtime, "/run/user/"+strconv.Itoa(h.UID))
	return h
}

// userPlaces are a user's. A variable that is no absolute path counts for nothing
// (XDG Base Directory Specification).
func (h *Host) userPlaces(getenv func(string) string) {
	h.State = either(absolute(getenv("XDG_STATE_HOME")), filepath.Join(h.HomeDir, ".local/state"))
	h.Cache = either(absolute(getenv("XDG_CACHE_HOME")), filepath.Join(h.HomeDir, ".cache"))
	h.Config = either(absolute(getenv("XDG_CONFIG_HOME")), filepath.Join(h.HomeDir, ".config"))
	h.Logs = filepath.Join(h.State, "log")
	h.Runtime = absolute(getenv("XDG_RUNTIME_DIR"))
}

// own has a directory be the manager's. Services that are other users find their
// sockets there, and nothing else. Where it is not in the runtime directory, as
// there is none or none to write to, that is in it.
func (h *Host) own(dir, parent string) {
	_ = os.Chmod(dir, 0o711)
	h.Dir = dir
	h.lock, _ = lockDir(dir)
	if parent != h.Runtime {
		h.Runtime = filepath.Join(dir, "run")
		_ = os.Mkdir(h.Runtime, 0o755)
	}
}

// whoAmI fills in the caller, as far as anybody knows about it: a container may
// have no /etc/passwd.
func (h *Host) whoAmI(getenv func(string) string) {
	h.UserName, h.HomeDir, h.Shell = getenv("USER"), absolute(getenv("HOME")), getenv("SHELL")
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
	if h.Dir == "" {
		return
	}
	_ = os.RemoveAll(h.Dir)
	if h.lock != nil {
		_ = h.lock.Close()
	}
}

// staleAge is how old a directory has to be that belongs to a manager that is
// gone: one that has just been made is not locked yet.
const staleAge = time.Minute

// removeStale removes what managers of this user have left that were killed:
// there may be credentials in it.
func (h *Host) removeStale(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, ownPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < staleAge || !isOwnedBy(info, h.UID) {
			continue
		}
		if lock, err := lockDir(dir); err == nil {
			units, _ := filepath.Glob(filepath.Join(dir, "credentials", "*"))
			for _, credentials := range units {
				takeCredentials(credentials)
			}
			_ = os.RemoveAll(dir)
			_ = lock.Close()
		}
	}
}

func isOwnedBy(info os.FileInfo, uid int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == uid
}

// lockDir locks a directory until the file is closed, or this process dies.
func lockDir(dir string) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
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

// absolute is a path that is, or nothing.
func absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return ""
}

// either is the first of two that says anything.
func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
