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
	Source string // what the header says that the unit was made from
	Svcrun string // svcrun's absolute path; DefaultSvcrun if empty

	// SourcePath is the policy's absolute path where the unit is made anew of it
	// at each reload of the manager, by a systemd.generator(7); else empty.
	SourcePath string
}

// File is a file to write.
type File struct {
	Name   string
	Dir    string // where it belongs
	Secret bool   // nobody but root may read it
	Text   []byte

	// Unit is what Text says, without its heading; nil of what is no unit.
	Unit *unit.File
	// Install is what enabling the unit does; nil where that is nothing.
	Install *unit.Section
}

// Where an administrator's units belong (systemd.unit(5)).
const (
	systemUnits = "/etc/systemd/system"
	userUnits   = "/etc/systemd/user"
)

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
	w := &writer{policy: p, target: t, options: o, derived: derived}
	w.service()
	w.sockets()
	w.companion()
	if len(w.errs) > 0 {
		return Result{}, w.errs.sorted()
	}
	if w.err != nil {
		return Result{}, Errors{{p.where("name"), w.err.Error()}}
	}
	return Result{Files: append(w.files, w.secrets...), Warnings: append(warnings, w.warnings...)}, nil
}

// writer makes the files of a policy, and keeps what is wrong.
type writer struct {
	policy  Policy
	target  Target
	options Options
	derived Derived

	files    []File
	secrets  []File
	warnings []Warning
	errs     Errors // what the target cannot do
	err      error  // what no line can carry; the first
}

// service writes the service's own unit.
func (w *writer) service() {
	var f unit.File
	w.unitSection(f.Section("Unit"))
	w.serviceSection(f.Section("Service"))
	w.installSection(&f)
	w.finish(w.policy.Unit(), f)
}

// finish makes a file of a unit: it is signed, and goes where the policy's
// manager looks for units.
func (w *writer) finish(name string, f unit.File) {
	w.sourcePath(&f)
	body, err := f.Bytes()
	w.fail(err)
	dir := systemUnits
	if w.policy.Scope == ScopeUser {
		dir = userUnits
	}
	w.files = append(w.files, File{
		Name: name, Dir: dir, Text: sign(heading(name, w.options, w.target), body), Unit: &f, Install: installOf(f),
	})
}

// sourcePath names the policy to systemd, which shows it in `systemctl status`
// and says there when the policy has changed since (systemd.generator(7)).
func (w *writer) sourcePath(f *unit.File) {
	if w.options.SourcePath == "" {
		return
	}
	path, err := unit.Plain(w.options.SourcePath)
	w.fail(err)
	s := f.Section("Unit")
	s.Lines = slices.Insert(s.Lines, 0, unit.Line(unit.Directive{Name: "SourcePath", Parts: []unit.Value{path}}))
}

// installOf is a unit's [Install], if it has one.
func installOf(f unit.File) *unit.Section {
	for _, s := range f.Sections {
		if s.Name == "Install" {
			return s
		}
	}
	return nil
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// refuse reports that the target cannot do what a key asks.
func (w *writer) refuse(path, format string, args ...any) {
	w.errs = append(w.errs, Error{w.policy.where(path), fmt.Sprintf(format, args...)})
}

// plain adds a directive that takes its text as it is, if there is any.
func (w *writer) plain(s *unit.Section, name, text string) {
	if text == "" {
		return
	}
	quoted, err := unit.Plain(text)
	if err != nil {
		w.fail(fmt.Errorf("%s=: %w", name, err))
	}
	s.Add(name, quoted)
}

// command quotes a command line: the program, and each argument as a word.
func (w *writer) command(argv []string) unit.Value {
	line, err := unit.ExecPath(argv[0])
	w.fail(err)
	for _, arg := range argv[1:] {
		quoted, err := unit.ExecArg(arg)
		w.fail(err)
		line += " " + quoted
	}
	return line
}

// names joins names of units, which Read has checked. Specifiers in them are
// meant.
func names(units []string) unit.Value { return unit.Value(strings.Join(units, " ")) }

// CheckFiles reports files of one name that two services would write.
func CheckFiles(policies []Policy, results []Result) error {
	var errs Errors
	makers := map[string]Policy{}
	for i, result := range results {
		for _, file := range result.Files {
			path := file.Dir + "/" + file.Name
			if first, taken := makers[path]; taken {
				errs = append(errs, Error{policies[i].where("name"), fmt.Sprintf(
					"name: %s is written for %s at %s as well; give one of the two another name", file.Name, first.Unit(), first.where("name"))})
				continue
			}
			makers[path] = policies[i]
		}
	}
	return errs.sorted()
}
