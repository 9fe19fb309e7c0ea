package unitgen

import (
	"slices"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
	"github.com/svckit/svckit/watchdog"
)

// socketGroup is the sockets of one unit: those of one name, as
// FileDescriptorName= is for all of a unit's sockets.
type socketGroup struct {
	unit    string
	name    string
	sockets []Socket
}

// socketGroups are the socket units of a policy. The first has the service's
// name, so that systemd knows whose it is; the others have their own in it.
func (p Policy) socketGroups() []socketGroup {
	var groups []socketGroup
	for _, s := range p.Sockets {
		i := slices.IndexFunc(groups, func(g socketGroup) bool { return g.name == s.Name })
		if i < 0 {
			suffix := ""
			switch {
			case len(groups) > 0 && s.Name == "":
				suffix = "-sockets"
			case len(groups) > 0:
				suffix = "-" + s.Name
			}
			groups, i = append(groups, socketGroup{unit: p.unitName(suffix, "socket"), name: s.Name}), len(groups)
		}
		groups[i].sockets = append(groups[i].sockets, s)
	}
	return groups
}

// SocketUnits are the names of the policy's socket units.
func (p Policy) SocketUnits() []string {
	var units []string
	for _, g := range p.socketGroups() {
		units = append(units, g.unit)
	}
	return units
}

// ofInstance are names of templates with the instance put in.
func ofInstance(units []string) []string {
	var instances []string
	for _, u := range units {
		instances = append(instances, strings.Replace(u, "@.", "@%i.", 1))
	}
	return instances
}

// sockets writes the socket units.
func (w *writer) sockets() {
	for i, g := range w.policy.socketGroups() {
		var f unit.File
		if w.policy.Description != "" {
			w.plain(f.Section("Unit"), "Description", w.policy.Description+", its sockets")
		}
		s := f.Section("Socket")
		for _, socket := range g.sockets {
			w.plain(s, listenDirectives[socket.Kind], socket.Listen)
		}
		w.socketFile(s, g.sockets)
		w.plain(s, "FileDescriptorName", g.name)
		if i > 0 {
			s.Comment("Without this it would be for a service of its own name.")
			s.Add("Service", ofInstanceValue(w.policy.Unit()))
		}
		f.Section("Install").Add("WantedBy", "sockets.target")
		w.finish(g.unit, f)
	}
	w.warnings = append(w.warnings, socketWarnings(w.policy)...)
}

func ofInstanceValue(name string) unit.Value { return names(ofInstance([]string{name})) }

var listenDirectives = map[string]string{
	kindStream: "ListenStream", kindDatagram: "ListenDatagram", kindSeqpacket: "ListenSequentialPacket",
}

// socketFile writes who may use the files of Unix sockets: it is one answer
// for all sockets of a unit.
func (w *writer) socketFile(s *unit.Section, all []Socket) {
	var sockets []Socket
	for _, socket := range all {
		if strings.HasPrefix(socket.Listen, "/") {
			sockets = append(sockets, socket)
		}
	}
	if len(sockets) == 0 {
		return
	}
	for _, directive := range []struct {
		name string
		of   func(Socket) string
	}{
		{"SocketUser", func(s Socket) string { return s.User }},
		{"SocketGroup", func(s Socket) string { return s.Group }},
		{"SocketMode", func(s Socket) string { return s.Mode }},
	} {
		value := directive.of(sockets[0])
		for _, socket := range sockets[1:] {
			if directive.of(socket) != value {
				w.refuse("sockets", "sockets: those of one name share mode, user and group; give %s a name of its own", quoted(socket.Listen))
				return
			}
		}
		w.plain(s, directive.name, value)
	}
}

// socketWarnings tell of ready checks that hold before the service runs, as
// systemd itself listens.
func socketWarnings(p Policy) []Warning {
	var warnings []Warning
	for _, check := range p.Ready.Checks {
		if check.Kind != watchdog.TCP && check.Kind != watchdog.Unix {
			continue
		}
		if slices.ContainsFunc(p.Sockets, func(s Socket) bool { return s.Listen == check.Target }) {
			warnings = append(warnings, Warning{Position: p.where("ready.checks"), Message: "ready.checks: " + check.Label() + " holds before the service runs, as systemd listens there for it; take a check that wants an answer, such as http"})
		}
	}
	return warnings
}
