package docs

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Role is what a block is to a test.
type Role string

// The roles.
const (
	RunHere   Role = "run: here"        // commands for the machine that the test runs on
	RunLab    Role = "run: lab"         // commands for a machine of the lab
	NotRun    Role = "run: no"          // Mark.Name says why
	File      Role = "file"             // Mark.Name is its path
	Refused   Role = "refused"          // a File that is no good policy, and is not meant to be
	Part      Role = "part of a policy" // keys of one
	Generated Role = "generated"        // Mark.Name says of what
)

// Mark is the comment before a block.
type Mark struct {
	Role   Role
	Name   string
	Exits  int           // how the last command ends
	Within time.Duration // by when the output has to be as it stands; 0 for at once
}

// ReadMark reads the comment before a block.
func (b Block) ReadMark() (Mark, error) {
	role, rest, _ := strings.Cut(b.Mark, ", ")
	name, value, _ := strings.Cut(role, ": ")
	switch m := (Mark{Role: Role(role)}); {
	case m.Role == RunHere, m.Role == RunLab:
		return m.withOptions(rest, b.Place)
	case m.Role == NotRun && rest != "":
		m.Name = rest
		return m, nil
	case m.Role == Part:
		return m, nil
	case value != "" && (Role(name) == File || Role(name) == Refused || Role(name) == Generated):
		return Mark{Role: Role(name), Name: strings.TrimPrefix(b.Mark, name+": ")}, nil
	case b.Mark == "":
		return m, fmt.Errorf("%s: the block has no comment before it that says where it runs; see CONTRIBUTING.md", b.Place)
	}
	return Mark{}, fmt.Errorf("%s: nothing is known of a block that is marked %q; see the comment of internal/docs", b.Place, b.Mark)
}

// withOptions reads what follows after where the block runs.
func (m Mark) withOptions(text, place string) (Mark, error) {
	if text == "" {
		return m, nil
	}
	for option := range strings.SplitSeq(text, ", ") {
		name, value, _ := strings.Cut(option, " ")
		var err error
		switch name {
		case "exits":
			m.Exits, err = strconv.Atoi(value)
		case "within":
			m.Within, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("%q is no option of it", option)
		}
		if err != nil {
			return m, fmt.Errorf("%s: %q: %w", place, m.Role, err)
		}
	}
	return m, nil
}
