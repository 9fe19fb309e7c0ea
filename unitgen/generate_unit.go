package unitgen

import (
	"slices"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/unitgen/unit"
)

// networkOnline is the target that nothing pulls in but those who wait for it
// (systemd.special(7)).
const networkOnline = "network-online.target"

// unitSection writes [Unit]: what the service is, and what it has to do with
// other units.
func (w *writer) unitSection(s *unit.Section) {
	p := w.policy
	w.plain(s, "Description", p.Description)
	w.dependencies(s, "After", p.After, p.SocketUnits())
	if slices.Contains(p.After, networkOnline) && !slices.Contains(p.Wants, networkOnline) {
		s.Comment("after: of " + networkOnline + " pulls it in as well.")
		s.Add("Wants", networkOnline)
	}
	w.dependencies(s, "Wants", p.Wants, nil)
	w.dependencies(s, "Requires", p.Requires, p.SocketUnits())
	w.dependencies(s, "PartOf", p.PartOf, nil)
	w.onFailure(s)
	if p.Restart.When != never {
		w.startLimit(s)
	}
	w.extra(s)
}

// dependencies writes those of the policy, and those on the service's sockets:
// a service that is started by hand has them too.
func (w *writer) dependencies(s *unit.Section, name string, units, sockets []string) {
	if w.policy.IsTemplate() {
		sockets = ofInstance(sockets)
	}
	if all := slices.Concat(units, sockets); len(all) > 0 {
		s.Add(name, names(all))
	}
}

// onFailure writes what is started when the service fails. Up to systemd 253
// OnFailure= is for a failure after which no restart comes; from 254 on it is
// for each, unless RestartMode=direct hides those in between
// (systemd: src/core/unit.c, unit_notify; systemd.service(5)).
func (w *writer) onFailure(s *unit.Section) {
	p := w.policy
	w.warnings = append(w.warnings, giveUpWarnings(p)...)
	tellsEach := w.target.Can(eachFailure) || p.Restart.When == never
	switch {
	case len(p.OnEachFailure) > 0 && !tellsEach:
		w.refuse("on_each_failure", "on_each_failure: %s tells of the last failure only; write on_give_up, or target systemd 254 or later", w.target)
	case len(p.OnEachFailure) > 0:
		s.Comment("on_each_failure: at each failure, whether a restart follows or not.")
		s.Add("OnFailure", names(p.OnEachFailure))
	case len(p.OnGiveUp) > 0 && p.Restart.When == never:
		s.Comment("on_give_up: at the first failure, as no restart follows.")
		s.Add("OnFailure", names(p.OnGiveUp))
	case len(p.OnGiveUp) > 0 && tellsEach:
		s.Comment("on_give_up: at the last failure only, as RestartMode=direct below hides those before it.\n" +
			"A stop that needed SIGKILL is such a failure too.")
		s.Add("OnFailure", names(p.OnGiveUp))
	case len(p.OnGiveUp) > 0:
		s.Comment("on_give_up: " + w.target.String() + " comes to this when no restart follows, and only then.")
		s.Add("OnFailure", names(p.OnGiveUp))
	}
}

// giveUpWarnings tell of an on_give_up that nothing comes to.
func giveUpWarnings(p Policy) []Warning {
	restarts := (p.Restart.When == "always" || p.Restart.When == "on-failure") && len(p.Restart.NeverOn.Words()) == 0
	if len(p.OnGiveUp) == 0 || !restarts || !p.Restart.GiveUp.Never() {
		return nil
	}
	return []Warning{{Position: p.where("on_give_up"), Message: "on_give_up is told of a stop that needed SIGKILL and of nothing else, " +
		"as restart.give_up is never; set it, or write on_each_failure"}}
}

// restartMode writes how restarts look to other units, where on_give_up needs it.
func (w *writer) restartMode(s *unit.Section) {
	p := w.policy
	if len(p.OnGiveUp) == 0 || p.Restart.When == never || !w.target.Can(eachFailure) {
		return
	}
	s.Comment("Between restarts the unit is not failed, and those that require it are left alone.")
	s.Add("RestartMode", "direct")
}

// installSection writes what `systemctl enable` does.
func (w *writer) installSection(f *unit.File) {
	p := w.policy
	if len(p.WantedBy) == 0 && len(p.Sockets) == 0 && len(p.Extra["Install"]) == 0 {
		return
	}
	s := f.Section("Install")
	if len(p.WantedBy) > 0 {
		s.Add("WantedBy", names(p.WantedBy))
	}
	if sockets := p.SocketUnits(); len(sockets) > 0 {
		if p.IsTemplate() {
			sockets = ofInstance(sockets)
		}
		s.Add("Also", names(sockets))
	}
	w.extra(s)
}

// extra writes the policy's own directives at a section's end.
func (w *writer) extra(s *unit.Section) {
	settings := w.policy.Extra[s.Name]
	if len(settings) == 0 {
		return
	}
	if s.Name != "Install" {
		s.Blank()
	}
	s.Comment("extra: of the policy, as it stands there.")
	for _, setting := range settings {
		_, known := firstVersions[setting.Directive]
		switch {
		case !slices.Contains(directiveSection[s.Name], setting.Directive) && !isPrivate(setting.Directive):
			w.warnUnknown(s.Name, setting)
		case known && !w.target.Has(setting.Directive):
			w.lacks(s, setting.Directive+"=", "extra: is without it.")
			continue
		}
		s.Add(setting.Directive, setting.Value)
	}
}

// isPrivate says whether systemd leaves a name to others (systemd.unit(5)).
func isPrivate(directive string) bool { return len(directive) > 2 && directive[:2] == "X-" }

// warnUnknown tells of a directive that systemd will ignore.
func (w *writer) warnUnknown(section string, s Setting) {
	text := "extra." + section + ": systemd knows no directive " + s.Directive + "= there, and will ignore it"
	if near, ok := syntax.Nearest(s.Directive, directiveSection[section]); ok {
		text += "; did you mean " + near + "="
	}
	w.warnings = append(w.warnings, Warning{Position: s.at, Message: text})
}
