package supervise

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// withheld are variables that mean svcrun itself, and would mislead whoever
// inherits them (sd_notify(3), sd_watchdog_enabled(3)). LISTEN_PIDFDID= names
// the process once more, by what svcrun cannot say in time; without it LISTEN_PID=
// alone counts (sd_listen_fds(3)).
var withheld = []string{"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PIDFDID"}

// activation are the variables of socket activation (sd_listen_fds(3)), and the
// one that names the process that the manager executed (systemd.exec(5)). The
// shim has the pids among them be the child's.
var activation = []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}

const execPID = "SYSTEMD_EXEC_PID"

// activated says whether the manager has passed descriptors to this process.
func activated(environ []string, pid int) bool {
	fds, err := strconv.Atoi(Variable(environ, "LISTEN_FDS"))
	return err == nil && fds > 0 && Variable(environ, "LISTEN_PID") == strconv.Itoa(pid)
}

// childEnv is the child's environment: svcrun's own, with svcrun's socket in
// the place of the manager's, without what means svcrun itself, whose pid is
// pid, but for what the shim has mean the child, and with the time that the
// child has for its start and its stop.
func childEnv(o Options, socket string, pid int, shim bool) []string {
	kept := o.Environ
	for _, v := range withheld {
		if v != "WATCHDOG_USEC" || !heeds(o.Machine.Live) {
			kept = without(kept, v)
		}
	}
	if !shim || !activated(o.Environ, pid) {
		kept = without(kept, activation...)
	}
	if !shim || Variable(o.Environ, execPID) != strconv.Itoa(pid) {
		kept = without(kept, execPID)
	}
	kept = withoutEntry(kept, "RUNTIME_DIRECTORY", o.RuntimeDir)
	kept = withoutEntry(kept, "STATE_DIRECTORY", o.StateDir)
	for _, own := range []struct{ name, value string }{
		{"NOTIFY_SOCKET", socket},
		{"SVCKIT_START_BUDGET_USEC", notify.Microseconds(o.Machine.StartTimeout)},
		{"SVCKIT_STOP_BUDGET_USEC", notify.Microseconds(o.Machine.Drain.StepsBudget() - 2*o.Machine.Drain.KillWait)},
	} {
		kept = append(without(kept, own.name), own.name+"="+own.value) // of two, getenv(3) finds the first
	}
	return kept
}

// helperEnv is the environment of probes and hooks: they must see neither
// notify socket, nor think that they are the service.
func helperEnv(environ []string) []string {
	return without(without(without(environ, withheld...), activation...), execPID)
}

// heeds says whether the child's own heartbeats are wanted.
func heeds(live []watchdog.Check) bool {
	return slices.ContainsFunc(live, func(c watchdog.Check) bool { return c.Kind == watchdog.Notify })
}

// Variable is the value of an environment variable, "" where it is not set.
func Variable(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// without is environ without some variables.
func without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, ok := strings.Cut(entry, "=")
		return ok && slices.Contains(names, name)
	})
}

// withoutEntry is environ without one directory in a colon-separated list.
func withoutEntry(environ []string, name, dir string) []string {
	if dir == "" {
		return environ
	}
	environ = slices.Clone(environ)
	for i, entry := range environ {
		list, ok := strings.CutPrefix(entry, name+"=")
		if !ok {
			continue
		}
		rest := slices.DeleteFunc(strings.Split(list, ":"), func(d string) bool { return path.Clean(d) == path.Clean(dir) })
		if len(rest) == 0 {
			return slices.Delete(environ, i, i+1)
		}
		environ[i] = name + "=" + strings.Join(rest, ":")
	}
	return environ
}
