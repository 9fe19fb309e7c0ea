package e2e

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/internal/lab/labtest"
	"github.com/svckit/svckit/unitgen"
)

// canRead says whether a systemd can read what is written for a target without
// finding anything too new in it. RHEL 9 has parts of 253.
func canRead(version int, t unitgen.Target) bool {
	if t.Name == "rhel9" {
		return version >= 253
	}
	return version >= t.Systemd
}

// TestSystemdHasNothingToSayAboutTheUnitsOfAnyTarget has each systemd read what
// is generated for every target that is no younger, of policies that say all
// that a policy can say about the targets' differences. What is too new for it
// it has to name: that shows that it would name anything.
func TestSystemdHasNothingToSayAboutTheUnitsOfAnyTarget(t *testing.T) {
	policies, err := os.ReadFile("testdata/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		var good, tooNew []string
		for _, target := range unitgen.Targets() {
			policy := strings.ReplaceAll(string(policies), "NAME", "on-"+strings.ReplaceAll(target.Name, ".", "-"))
			for name, text := range generate(t, policy, target.Name) {
				file := path.Join("/run/svcgen-verify", name)
				m.Write(file, text, 0o644)
				if canRead(m.Version(), target) {
					good = append(good, file)
				} else if target.Has("RestartSteps") && strings.HasSuffix(name, "-plain.service") {
					tooNew = append(tooNew, file)
				}
			}
		}
		analyze := []string{"systemd-analyze", "verify", "--man=no", "--recursive-errors=no"}
		if said := m.Try(append(analyze, good...)...); said.Stdout+said.Stderr != "" || said.Code != 0 {
			t.Errorf("systemd %d says of %d units (%d):\n%s%s", m.Version(), len(good), said.Code, said.Stdout, said.Stderr)
		}
		if m.Version() >= 254 { // plain units hold nothing that is younger
			return
		}
		said := m.Try(append(analyze, tooNew...)...)
		if got := strings.Count(said.Stdout+said.Stderr, "RestartSteps"); got != len(tooNew) || got == 0 {
			t.Errorf("systemd %d finds RestartSteps= in %d of %d units:\n%s%s", m.Version(), got, len(tooNew), said.Stdout, said.Stderr)
		}
	})
}

// TestTableOfDirectivesIsTheManagersOwn compares the table with what each
// manager says that it reads.
func TestTableOfDirectivesIsTheManagersOwn(t *testing.T) {
	table, err := os.ReadFile("../../../unitgen/directives.tsv")
	if err != nil {
		t.Fatal(err)
	}
	onEach(t, func(t *testing.T, m *labtest.Machine) {
		target, err := unitgen.LookupTarget(target(m))
		if err != nil {
			t.Fatal(err)
		}
		reads := dumped(m)
		for line := range strings.Lines(string(table)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			for name := range strings.FieldsSeq(fields[2]) {
				key := fields[0] + "." + name
				if fields[0] != "Notify" && !strings.Contains(name, "=") && target.Has(name) != reads[key] {
					t.Errorf("systemd %d reads %s: %v; the table of %s says %v", m.Version(), key, reads[key], target.Name, target.Has(name))
				}
				delete(reads, key)
			}
		}
		if len(reads) > 0 {
			t.Errorf("the table lacks %v", reads)
		}
	})
}

// dumped are the directives of services, and of what svcgen writes for them,
// that a manager reads, each with its section.
func dumped(m *labtest.Machine) map[string]bool {
	reads, section := map[string]bool{}, ""
	for line := range strings.Lines(m.Run("/lib/systemd/systemd", "--dump-configuration-items")) {
		line = strings.TrimSpace(line)
		if name, isSection := strings.CutPrefix(line, "["); isSection {
			section = strings.TrimSuffix(name, "]")
		}
		directive, _, isDirective := strings.Cut(line, "=")
		if isDirective && slices.Contains([]string{"Unit", "Service", "Install", "Socket", "Timer"}, section) {
			reads[section+"."+directive] = true
		}
	}
	return reads
}
