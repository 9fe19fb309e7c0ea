package supervise

import (
	"path"
	"slices"
	"strings"

	"github.com/svckit/svckit/notify"
	"github.com/svckit/svckit/watchdog"
)

// withheld are variables that mean svcrun itself, and would mislead whoever
// inherits them (sd_notify(3), sd_watchdog_enabled(3), systemd.exec(5)).
var withheld = []string{"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "SYSTEMD_EXEC_PID", "LISTEN_PIDFDID"}

// childEnv is the child's environment: svcrun's own, with svcrun's socket in
// the place of the manager's, without what means svcrun itself, and with the
// time that the child has for its start and its stop.
func childEnv(o Options, socket string) []string {
	kept := o.Environ
	for _, v := range withheld {
		if v != "WATCHDOG_USEC" || !heeds(o.Machine.Live) {
			kept = without(kept, v)
		}
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
	for _, v := range append(withheld, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES") {
		environ = without(environ, v)
	}
	return environ
}

// heeds says whether the child's own heartbeats are wanted.
func heeds(live []watchdog.Check) bool {
	return slices.ContainsFunc(live, func(c watchdog.Check) bool { return c.Kind == watchdog.Notify })
}

// without is environ without a variable.
func without(environ []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, name+"=")
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
