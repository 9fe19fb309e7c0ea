package unitgen

import (
	"path"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
)

// DefaultTasksMax bounds what a fork bomb can do before a stop catches up with
// it, where the policy has no bound of its own.
const DefaultTasksMax = "4096"

// surroundings writes what svcrun and the service need around them.
func (w *writer) surroundings(s *unit.Section) {
	s.Comment("The journal shows the service's name, not svcrun's.")
	w.plain(s, "SyslogIdentifier", identifier(w.policy))
	if _, given := lookup(w.policy.Resources, "TasksMax"); !given {
		s.Comment("A limit, so that a service which forks without end can still be stopped.")
		s.Add("TasksMax", DefaultTasksMax)
	}
	for _, setting := range w.policy.Resources {
		s.Add(setting.Directive, setting.Value)
	}
	s.Comment("svcrun's own directories: its socket for the service, and its records.")
	d := w.policy.Dirs
	w.directories(s, "RuntimeDirectory", append([]string{ownDirectory}, d.Runtime...))
	s.Add("RuntimeDirectoryPreserve", "restart")
	w.directories(s, "StateDirectory", append([]string{ownDirectory}, d.State...))
	w.directories(s, "CacheDirectory", d.Cache)
	w.directories(s, "LogsDirectory", d.Logs)
	w.directories(s, "ConfigurationDirectory", d.Config)
}

// directories writes the directories of a kind; no name of theirs needs quotes.
func (w *writer) directories(s *unit.Section, name string, dirs []string) {
	if len(dirs) > 0 {
		s.Add(name, unit.Value(unit.Readable(strings.Join(dirs, " "))))
	}
}

// identifier is the program's name; the unit's where no directive can carry
// that.
func identifier(p Policy) string {
	program := path.Base(p.Exec[0])
	if _, err := unit.Plain(program); err != nil {
		return strings.TrimSuffix(p.Name, "@")
	}
	return program
}
