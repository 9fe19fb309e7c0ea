package history

import (
	"path"
	"strings"
)

// Svcrun is where the svcrun of a unit keeps what it remembers, as its command
// line says. An empty directory is none.
type Svcrun struct {
	StateDir   string // of the records of its runs
	RuntimeDir string // of what its start delay depends on
}

// ParseSvcrun finds the directories in a command of ExecStart=; no where the
// command is none of svcrun's.
func ParseSvcrun(argv []string) (s Svcrun, ok bool) {
	if len(argv) == 0 || path.Base(argv[0]) != "svcrun" {
		return Svcrun{}, false
	}
	for i, word := range argv[1:] {
		if word == "--" {
			break
		}
		name, value, given := strings.Cut("-"+strings.TrimLeft(word, "-"), "=")
		if !given && i+2 < len(argv) {
			value = argv[i+2]
		}
		switch name {
		case "-state-dir":
			s.StateDir = absolute(value)
		case "-runtime-dir":
			s.RuntimeDir = absolute(value)
		}
	}
	return s, true
}

// absolute is the directory if it can be meant: svcrun takes no other.
func absolute(dir string) string {
	if !path.IsAbs(dir) {
		return ""
	}
	return path.Clean(dir)
}
