package watchdog

import (
	"fmt"
	"strings"
)

// This file is what a Monitor tells of its checks.

// Check is the check that id names.
func (m *Monitor) Check(id ID) Check { return m.checks[id].Check }

// Failure is how often a check has failed in a row, and what it said last.
func (m *Monitor) Failure(id ID) (times int, said string) {
	return m.checks[id].failures, m.checks[id].failure
}

// Pending names the first ready check that does not hold, and what it said.
func (m *Monitor) Pending() (label, said string) {
	for _, s := range m.checks {
		if s.ready && !s.holding {
			return s.Label(), s.failure
		}
	}
	return "", ""
}

// Summary is one line for STATUS=: "ready 1/2, waiting for tcp:…: connection
// refused" while starting, "live 2/2" while serving, with what fails.
func (m *Monitor) Summary() string {
	word, failing := "live", ", failing: "
	if !m.serving {
		word, failing = "ready", ", waiting for "
	}
	var total, good int
	var bad []string
	for _, s := range m.checks {
		if s.ready == m.serving {
			continue
		}
		total++
		if s.failure == "" && (s.holding || m.serving) {
			good++
			continue
		}
		bad = append(bad, describe(s))
	}
	if total == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %d/%d", word, good, total)
	if len(bad) > 0 {
		text += failing + strings.Join(bad, ", ")
	}
	return text
}

// describe is a check with what it said last.
func describe(s *state) string {
	switch {
	case s.Kind == Notify && s.ready:
		return "the service's own READY=1"
	case s.Kind == FD && s.failure == "":
		return "the service's newline on descriptor " + s.Target
	case s.failure == "":
		return s.Label()
	}
	return s.Label() + " (" + s.failure + ")"
}
