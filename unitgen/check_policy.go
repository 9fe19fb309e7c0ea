package unitgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// checkPolicy reports what the keys of a service say against each other, and
// completes what follows from others. What only a default says against the
// service is no error: it gives way.
func (r *reader) checkPolicy(p *Policy) {
	if p.Scope == ScopeUser {
		r.checkUserScope(p)
	}
	r.checkWatchdog(p)
	r.checkCredentials(p)
	r.checkMemory(p)
	r.checkSockets(p)
	r.checkExtra(p)
	if r.says("on_give_up") && r.says("on_each_failure") {
		r.failAt([]string{"on_each_failure"}, "on_each_failure is told of the last failure as well; remove on_give_up, or this")
	}
}

// ofSystemOnly are what policies name most and a user's manager does not have
// (systemd.special(7)).
var ofSystemOnly = []string{
	"local-fs.target", "multi-user.target", "network-online.target", "network.target", "nss-lookup.target", "remote-fs.target",
	"sysinit.target", "time-sync.target",
}

// checkUserScope refuses what the manager of a user cannot do.
func (r *reader) checkUserScope(p *Policy) {
	for key, why := range map[string]string{
		"user":        "a user's manager runs all services as that user",
		"group":       "a user's manager runs all services as that user",
		"hardening":   "a user's manager has no right to keep a service from anything",
		"credentials": "a user's manager hands none out; name the file in env: instead",
	} {
		if r.says(key) && (key != "hardening" || p.Hardening != HardeningOff) {
			r.failAt([]string{key}, "%s has no effect with scope: user, as %s; remove it", key, why)
		}
	}
	for _, secret := range r.secrets {
		r.fail(secret.at, "a check with a secret cannot be with scope: user: a user's manager hands no credentials out; write the header into a file, as header_file: PATH names it")
	}
	p.User, p.Group, p.Hardening, p.Credentials = "", "", HardeningOff, nil
	for key, units := range map[string][]string{
		"after": p.After, "wants": p.Wants, "requires": p.Requires, "part_of": p.PartOf, "install.wanted_by": p.WantedBy,
	} {
		for _, unit := range units {
			if r.says(key) && slices.Contains(ofSystemOnly, unit) {
				r.failAt([]string{key}, "%s: a user's manager has no %s; remove it", key, unit)
			}
		}
	}
	if !r.says("install.wanted_by") {
		p.WantedBy = []string{"default.target"}
	}
}

// checkWatchdog refuses what has no effect without live checks, or with them.
func (r *reader) checkWatchdog(p *Policy) {
	switch {
	case len(p.Live.Checks) == 0 && r.says("live.on_unhealthy"):
		r.failAt([]string{"live.on_unhealthy"}, "live.on_unhealthy has no effect without live.checks; add a check, or remove it")
	case len(p.Live.Checks) > 0 && r.says("watchdog") && p.Watchdog == WatchdogWrapper:
		r.failAt([]string{"watchdog"}, "watchdog: wrapper has no effect beside live.checks, which bring the heartbeats; remove it")
	}
}

// checkCredentials refuses a check that names a credential which is none.
func (r *reader) checkCredentials(p *Policy) {
	for key, checks := range map[string][]watchdog.Check{"ready.checks": p.Ready.Checks, "live.checks": p.Live.Checks} {
		for _, check := range checks {
			name, is := strings.CutPrefix(check.HTTP.HeaderFile, credentialSpecifier)
			known := slices.ContainsFunc(p.Credentials, func(c Credential) bool { return c.Name == name })
			if is && !known && !strings.HasPrefix(name, ownCredentials) {
				r.failAt([]string{key}, "%s: header_file: %%d/%s is no credential of the service; write credentials: {%s: /etc/credstore/%s}", key, name, name, name)
			}
		}
	}
}

// checkMemory refuses a limit that is never reached because of a lower one.
func (r *reader) checkMemory(p *Policy) {
	high, hasHigh := lookup(p.Resources, "MemoryHigh")
	most, hasMost := lookup(p.Resources, "MemoryMax")
	if !hasHigh || !hasMost {
		return
	}
	throttled, err := syntax.ParseSize(string(high.Value))
	if err != nil {
		return // a percentage, or infinity: only the machine knows
	}
	if killed, err := syntax.ParseSize(string(most.Value)); err == nil && throttled >= killed {
		r.failAt([]string{"resources.memory_high"}, "resources.memory_high %s is never reached: at memory_max %s a process is killed; lower it", high.Value, most.Value)
	}
}

// maxSockets bounds the sockets of a service: far above what one needs, and
// below the descriptors that it may have.
const maxSockets = 32

// checkSockets refuses an address that stands twice.
func (r *reader) checkSockets(p *Policy) {
	seen := map[string]bool{}
	for i, s := range p.Sockets {
		if address := s.Kind + " " + s.Listen; seen[address] {
			r.failAt([]string{"sockets"}, "sockets[%d]: %s stands twice; remove one of the two", i, quoted(s.Listen))
		} else {
			seen[address] = true
		}
	}
	if len(p.Sockets) > maxSockets {
		r.failAt([]string{"sockets"}, "sockets has %d items; at most %d are read", len(p.Sockets), maxSockets)
	}
}

// checkExtra refuses what would cut svcrun off.
func (r *reader) checkExtra(p *Policy) {
	service := p.Extra["Service"]
	if families, given := lookup(service, "RestrictAddressFamilies"); given && !allowsUnix(service) {
		r.fail(families.at, "extra.Service.RestrictAddressFamilies: svcrun speaks to systemd by AF_UNIX; let it be among them")
	}
	closed, given := lookup(service, "NoExecPaths")
	if _, opened := lookup(service, "ExecPaths"); given && !opened && p.Hardening != HardeningStrict {
		r.fail(closed.at, "extra.Service.NoExecPaths: svcrun could not be executed; name its directory in ExecPaths, or write hardening: strict, which does")
	}
}

// allowsUnix says whether the address families that a service is restricted to
// have AF_UNIX among them: the first list says whether it allows or denies.
func allowsUnix(service []Setting) bool {
	var allowed, denied []string
	for _, s := range service {
		if s.Directive != "RestrictAddressFamilies" {
			continue
		}
		if deny, is := strings.CutPrefix(string(s.Value), "~"); is {
			denied = append(denied, strings.Fields(deny)...)
		} else {
			allowed = append(allowed, strings.Fields(string(s.Value))...)
		}
	}
	return !slices.Contains(denied, "AF_UNIX") && (len(allowed) == 0 || slices.Contains(allowed, "AF_UNIX"))
}

// unitName is the name of a unit that a policy makes beside the service's.
func (p Policy) unitName(suffix, kind string) string {
	base, template := strings.CutSuffix(p.Name, "@")
	if template {
		return fmt.Sprintf("%s%s@.%s", base, suffix, kind)
	}
	return fmt.Sprintf("%s%s.%s", base, suffix, kind)
}
