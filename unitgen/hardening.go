package unitgen

import (
	"path"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/unitgen/unit"
	"github.com/svckit/svckit/watchdog"
)

// restriction is one directive of a hardening level, and the reason for it.
type restriction struct {
	directive string
	value     unit.Value
	why       string
}

// restrictions are those of the policy's level.
func restrictions(p Policy, svcrun string) []restriction {
	switch p.Hardening {
	case HardeningOff:
	case HardeningBaseline:
		return baseline(p, "full", "/usr, /boot and /etc are read-only.")
	case HardeningStrict:
		all := baseline(p, "strict", "All is read-only but the service's directories; ReadWritePaths= in extra: names more.")
		return slices.Concat(all, strict(p), executables(p, svcrun))
	}
	return nil
}

// baseline is what an ordinary service does not notice.
func baseline(p Policy, system unit.Value, why string) []restriction {
	home, whyHome := unit.Value("yes"), "The homes of users are not there."
	if slices.ContainsFunc(slices.Concat(programs(p), lookedAt(p)), inHome) {
		home, whyHome = "read-only", "The homes of users are read-only: what the policy names is in one."
	}
	return []restriction{
		{"NoNewPrivileges", "yes", "No program that it starts gains rights, as by setuid."},
		{"ProtectSystem", system, why},
		{"ProtectHome", home, whyHome},
		{"PrivateTmp", "yes", "A /tmp of its own."},
		{"ProtectKernelTunables", "yes", "No change to /proc/sys and /sys."},
		{"ProtectKernelModules", "yes", "No kernel modules."},
		{"ProtectKernelLogs", "yes", "No access to the kernel's log."},
		{"ProtectControlGroups", "yes", "Control groups are read-only, which is enough for a memory check."},
		{"ProtectHostname", "yes", "No change of the host's name."},
		{"RestrictSUIDSGID", "yes", "No setuid or setgid files are made."},
		{"RestrictRealtime", "yes", "No realtime scheduling, which can starve the machine."},
		{"LockPersonality", "yes", "No other execution domain."},
		{"SystemCallArchitectures", "native", "No system calls of another architecture, which filters may not see."},
	}
}

// strict is what a service may notice that does more than its policy says.
func strict(p Policy) []restriction {
	all := []restriction{
		{"PrivateDevices", "yes", "No devices but null, zero, random and the like."},
		{"ProtectClock", "yes", "No change of the clock."},
		{"RestrictNamespaces", "yes", "No namespaces of its own, as containers have."},
		{"RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6", "Sockets: AF_UNIX, by which svcrun speaks to systemd, and IP for the service and its checks."},
		{"SystemCallFilter", "@system-service", "The system calls of ordinary services."},
		{"SystemCallErrorNumber", "EPERM", "Another one fails, and is not the service's end."},
		boundingSet(p),
	}
	if !runsAsRoot(p) {
		all = append(all, restriction{"ProtectProc", "invisible", "No sight of processes of other users; its own are svcrun's too."})
	}
	return all
}

// rootCapabilities are what a daemon of root's needs that binds low ports,
// reads its files and hands its work to another user.
var rootCapabilities = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_KILL", "CAP_NET_BIND_SERVICE", "CAP_SETGID", "CAP_SETUID",
}

// boundingSet bounds the powers of root, or leaves none to another user but
// those that extra hands out.
func boundingSet(p Policy) restriction {
	ambient, _ := lookup(p.Extra["Service"], "AmbientCapabilities")
	granted := strings.Fields(string(ambient.Value))
	switch {
	case !runsAsRoot(p) && len(granted) > 0:
		return restriction{"CapabilityBoundingSet", names(granted), "None of root's powers but those of AmbientCapabilities=."}
	case !runsAsRoot(p):
		return restriction{"CapabilityBoundingSet", "", "None of root's powers."}
	}
	bound, why := rootCapabilities, "Of root's powers those by which a daemon binds low ports and hands its work to another user."
	if asksForOwner(p) {
		bound = append(slices.Clone(bound), "CAP_SYS_PTRACE")
		why += "\nCAP_SYS_PTRACE shows the checks which process a socket belongs to."
	}
	return restriction{"CapabilityBoundingSet", names(bound), why}
}

// runsAsRoot says whether the service begins as root.
func runsAsRoot(p Policy) bool {
	dynamic, _ := lookup(p.Extra["Service"], "DynamicUser")
	switch strings.ToLower(string(dynamic.Value)) {
	case "yes", "true", "on", "1", "y", "t":
		return false
	}
	return p.User == "" || p.User == "root" || p.User == "0"
}

// asksForOwner says whether a check looks for the process behind a socket,
// which of another user's only CAP_SYS_PTRACE shows (proc_pid_fd(5)).
func asksForOwner(p Policy) bool {
	return slices.ContainsFunc(slices.Concat(p.Ready.Checks, p.Live.Checks), func(c watchdog.Check) bool {
		return c.Owned || c.Kind == watchdog.Listen
	})
}

// executables says what may be executed, and mapped as code: the system's own
// programs and libraries, and where the policy's are. What the service can
// write, it cannot execute.
func executables(p Policy, svcrun string) []restriction {
	dirs := []string{"/usr"}
	for _, program := range append([]string{svcrun}, programs(p)...) {
		if dir := programDir(program); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	var words []string
	for _, dir := range dirs {
		word, err := unit.ExecPath(dir)
		if err != nil {
			word = "" // refused where the command is written
		}
		words = append(words, string(word))
	}
	return []restriction{
		{"NoExecPaths", names(writable(p)), "Nothing is executed, or mapped as code, where the service might write: a path of its own mount is named again;"},
		{"ExecPaths", names(words), "only what is below these is: svcrun, the service, its hooks and checks, and the system's libraries."},
	}
}

// writable are / and, below it, what is a mount of its own because the service
// may write there: NoExecPaths=/ does not reach those
// (systemd: src/core/namespace.c, make_noexec).
func writable(p Policy) []string {
	paths := []string{"/", "-/tmp", "-/var/tmp", "-/dev/shm", "%t/" + ownDirectory, "%S/" + ownDirectory}
	for _, kind := range []struct {
		specifier string
		dirs      []string
	}{{"%t", p.Dirs.Runtime}, {"%S", p.Dirs.State}, {"%C", p.Dirs.Cache}, {"%L", p.Dirs.Logs}, {"%E", p.Dirs.Config}} {
		for _, dir := range kind.dirs {
			paths = append(paths, kind.specifier+"/"+unit.Readable(dir))
		}
	}
	for _, setting := range p.Extra["Service"] {
		if setting.Directive == "ReadWritePaths" {
			paths = append(paths, strings.Fields(string(setting.Value))...)
		}
	}
	return paths
}

// programs are those that the policy names.
func programs(p Policy) []string {
	commands := append([][]string{p.Exec, p.Drain.PreStop, p.Reload.Command}, p.StartPre...)
	for _, check := range slices.Concat(p.Ready.Checks, p.Live.Checks) {
		if argv, err := syntax.SplitCommand(check.Target); check.Kind == watchdog.Exec && err == nil {
			commands = append(commands, argv)
		}
	}
	var all []string
	for _, argv := range commands {
		if len(argv) > 0 {
			all = append(all, path.Clean(argv[0]))
		}
	}
	return all
}

// lookedAt are the paths, beside programs, that the service or its checks look at.
func lookedAt(p Policy) []string {
	paths := []string{p.WorkingDir + "/"}
	for _, check := range slices.Concat(p.Ready.Checks, p.Live.Checks) {
		target := strings.TrimPrefix(strings.TrimPrefix(check.Target, "http+unix:"), "http://unix:")
		paths = append(paths, target, check.HTTP.HeaderFile)
	}
	return paths
}

// systemDirs are links into /usr (file-hierarchy(7)).
var systemDirs = []string{"/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/"}

// programDir is the directory that a program has with all that belongs to it:
// below /opt and /home the part that is one package's or user's.
func programDir(program string) string {
	if slices.ContainsFunc(systemDirs, func(dir string) bool { return strings.HasPrefix(program, dir) }) {
		return "/usr"
	}
	parts := strings.Split(program, "/")
	if len(parts) > 3 && (parts[1] == "opt" || parts[1] == "srv") {
		return strings.Join(parts[:3], "/")
	}
	if dir := path.Dir(program); dir != "/" {
		return dir
	}
	return program
}

// inHome says whether a path is one that ProtectHome= is about.
func inHome(name string) bool {
	return strings.HasPrefix(name, "/home/") || strings.HasPrefix(name, "/root/") || strings.HasPrefix(name, "/run/user/")
}
