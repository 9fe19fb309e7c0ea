package unitgen

import (
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
)

// add writes a directive under a comment that says what it is for. Where the
// target does not have it, or not this value, it is left out: the unit says so
// in its place and a warning says so now. It is the way in for every directive
// younger than the oldest target.
func (w *writer) add(s *unit.Section, name string, value unit.Value, purpose string) bool {
	what := name + "="
	if w.target.Has(name) {
		what += string(value)
	}
	if !w.target.HasValue(name, string(value)) {
		w.lacks(s, what, "lost: "+purpose)
		return false
	}
	if purpose != "" {
		s.Comment(purpose)
	}
	s.Add(name, value)
	return true
}

// lacks says that the target does not have something, and what comes of it.
func (w *writer) lacks(s *unit.Section, what, consequence string) {
	w.loses(s, w.target.String()+" has no "+what+"; "+consequence)
}

// loses says in the unit and in a warning what is not as the policy would have it.
func (w *writer) loses(s *unit.Section, text string) {
	s.Comment(text)
	w.warnings = append(w.warnings, Warning{Message: strings.TrimSuffix(text, ".")})
}

// replaces says that the target does not have something, and what does it there.
func (w *writer) replaces(s *unit.Section, what, by string) {
	w.lacks(s, what, by)
	w.warnings[len(w.warnings)-1].Replaced = true
}
