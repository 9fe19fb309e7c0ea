package unitgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svckit/svckit/unitgen/unit"
)

// DefaultSvcrun is where svckit's package installs svcrun.
const DefaultSvcrun = "/usr/bin/svcrun"

// Options are what a unit depends on beside its policy and target.
type Options struct {
	Source string // the policy file's name, for the header
	Svcrun string // svcrun's absolute path; DefaultSvcrun if empty
}

// File is a unit file to write.
type File struct {
	Name string
	Text []byte
}

// Result is what Generate made of a policy.
type Result struct {
	Files    []File
	Warnings []Warning
}

// Generate writes the units of a policy for a target. It returns Errors where
// the target cannot do what the policy asks.
func Generate(p Policy, t Target, o Options) (Result, error) {
	if o.Svcrun == "" {
		o.Svcrun = DefaultSvcrun
	}
	derived, warnings, err := Derive(p, t)
	if err != nil {
		return Result{}, err
	}
	exec, err := command(p, o.Svcrun)
	if err != nil {
		return Result{}, fmt.Errorf("svcrun: %w", err)
	}
	w := &writer{policy: p, target: t, derived: derived}
	w.unitSection(w.file.Section("Unit"))
	w.serviceSection(w.file.Section("Service"), exec, o.Svcrun)
	if len(p.WantedBy) > 0 {
		w.file.Section("Install").Add("WantedBy", names(p.WantedBy))
	}
	if w.err != nil {
		return Result{}, w.err
	}
	body, err := w.file.Bytes()
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", p.Unit(), err)
	}
	text := sign(heading(p.Unit(), o.Source, t), body)
	return Result{Files: []File{{p.Unit(), text}}, Warnings: append(warnings, w.warnings...)}, nil
}

// writer fills in a unit, and keeps the first error.
type writer struct {
	policy  Policy
	target  Target
	derived Derived
	file    unit.File

	warnings []Warning
	err      error
}

// plain adds a directive that takes its text as it is, if there is any.
func (w *writer) plain(s *unit.Section, name, text string) {
	if text == "" {
		return
	}
	quoted, err := unit.Plain(text)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s=: %w", name, err)
	}
	s.Add(name, quoted)
}

// names joins names of units, which Read has checked.
func names(units []string) unit.Value { return unit.Value(strings.Join(units, " ")) }

// networkOnline is the target that nothing pulls in but those who wait for it
// (systemd.special(7)).
const networkOnline = "network-online.target"

func (w *writer) unitSection(s *unit.Section) {
	p := w.policy
	w.plain(s, "Description", p.Description)
	if len(p.After) > 0 {
		s.Add("After", names(p.After))
	}
	if slices.Contains(p.After, networkOnline) {
		s.Comment("after: of " + networkOnline + " pulls it in as well.")
		s.Add("Wants", networkOnline)
	}
	if p.Restart.When != never {
		w.startLimit(s)
	}
}

func (w *writer) serviceSection(s *unit.Section, exec []unit.Value, svcrun string) {
	p := w.policy
	w.serviceType(s)
	s.Add("ExecStart", exec...)
	w.reload(s, svcrun)
	w.plain(s, "User", p.User)
	w.plain(s, "Group", p.Group)
	w.plain(s, "WorkingDirectory", p.WorkingDir)
	for _, v := range p.Env {
		assignment, err := unit.Assignment(v.Name, v.Value)
		if err != nil && w.err == nil {
			w.err = fmt.Errorf("env.%s: %w", v.Name, err)
		}
		s.Add("Environment", assignment)
	}
	s.Blank()
	w.restart(s)
	s.Blank()
	w.timeouts(s)
	s.Blank()
	w.stop(s)
	s.Blank()
	w.surroundings(s)
}
