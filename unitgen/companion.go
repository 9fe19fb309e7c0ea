package unitgen

import (
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
)

// A manager from 254 to 257 counts restarts, and forgets them on demand only.
// The companion demands it: a timer that every start of the service starts
// anew, and its service, which looks whether the service is up still. The
// timer is started by a command and has no dependency on the service: from 257
// on, any job that pulls in the start of a service ends its wait for the next
// restart at once, which makes a hot loop (systemd: src/core/service.c,
// service_start).

// systemctlPath is where systemctl is on all targets that need it.
const systemctlPath = "/usr/bin/systemctl"

// systemctl is systemctl for the manager that runs the service.
func (p Policy) systemctl() unit.Value {
	if p.Scope == ScopeUser {
		return systemctlPath + " --user"
	}
	return systemctlPath
}

// settleName is the companion's name without its type; of a template that of
// the template.
func (p Policy) settleName() string {
	base, template := strings.CutSuffix(p.Name, "@")
	if template {
		return base + "-settle@"
	}
	return base + "-settle"
}

// instance is what stands behind the @ in the names of units that belong to
// the same instance.
func (p Policy) instance() string {
	if p.IsTemplate() {
		return "%i"
	}
	return ""
}

// settleCommand starts the companion anew. What becomes of it is no matter of
// the service's, and it needs rights that the service's user has not.
func (p Policy) settleCommand() unit.Value {
	privileged := unit.Value("+-")
	if p.Scope == ScopeUser {
		privileged = "-"
	}
	return privileged + p.systemctl() + " --no-block restart " + unit.Value(p.settleName()+p.instance()) + ".timer"
}

// companion writes the units of the companion, if there is one.
func (w *writer) companion() {
	if !w.derived.Restarts.Settles() {
		return
	}
	for _, part := range []struct {
		suffix string
		fill   func(*unit.File)
	}{{".timer", w.settleTimer}, {".service", w.settleService}} {
		var file unit.File
		part.fill(&file)
		w.finish(w.policy.settleName()+part.suffix, file)
	}
}

// served is the service's name as its companion has it.
func (w *writer) served() unit.Value {
	return unit.Value(w.policy.Name+w.policy.instance()) + ".service"
}

func (w *writer) settleTimer(file *unit.File) {
	s := file.Section("Unit")
	s.Add("Description", "Forgets the failures of "+w.served()+" after a long run")
	s.Comment("Every start of the service starts the timer anew, and a crash loop has many.")
	s.Add("StartLimitIntervalSec", "0")
	s = file.Section("Timer")
	s.Comment("restart.stable_after")
	s.Add("OnActiveSec", exact(w.derived.Restarts.Stable.After))
	s.Add("AccuracySec", "1s")
}

func (w *writer) settleService(file *unit.File) {
	s := file.Section("Unit")
	s.Add("Description", "Forgets the failures of "+w.served())
	s.Add("StartLimitIntervalSec", "0")
	s = file.Section("Service")
	s.Add("Type", "oneshot")
	s.Comment("A service that is down, or waits for its restart, has not come through.")
	s.Add("ExecCondition", w.policy.systemctl()+" -q is-active "+w.served())
	s.Add("ExecStart", w.policy.systemctl()+" reset-failed "+w.served())
}
