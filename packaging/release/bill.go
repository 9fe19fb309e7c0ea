package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"
)

// The bill of materials by cyclonedx.org, version 1.6: the programs with their
// sums, and the modules that are linked into each, as they are read out of the
// programs themselves.

type bill struct {
	Format       string           `json:"bomFormat"`
	Spec         string           `json:"specVersion"`
	Version      int              `json:"version"`
	Metadata     billMetadata     `json:"metadata"`
	Components   []billComponent  `json:"components"`
	Dependencies []billDependency `json:"dependencies"`
}

type billMetadata struct {
	Timestamp string        `json:"timestamp"`
	Component billComponent `json:"component"`
}

type billComponent struct {
	Type     string        `json:"type"`
	Ref      string        `json:"bom-ref"`
	Name     string        `json:"name"`
	Version  string        `json:"version"`
	Hashes   []billHash    `json:"hashes,omitempty"`
	Licences []billLicence `json:"licenses,omitempty"`
	PURL     string        `json:"purl,omitempty"`
}

type billHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type billLicence struct {
	Expression string `json:"expression"`
}

type billDependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// modulePath is svckit's own.
const modulePath = "github.com/svckit/svckit"

// purlOf is the address of a module: github.com/package-url/purl-spec.
func purlOf(path, version string) string { return "pkg:golang/" + path + "@" + version }

// writeBill writes the bill of materials of a release.
func writeBill(w io.Writer, j job, m material) error {
	root := billComponent{
		Type: "application", Ref: "svckit", Name: "svckit", Version: j.number,
		Licences: []billLicence{{"Apache-2.0"}}, PURL: purlOf(modulePath, j.tag),
	}
	b := bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: billMetadata{Timestamp: j.when.Format(time.RFC3339), Component: root},
	}
	var all []string
	for _, arch := range j.archs {
		for _, program := range shipped {
			sum, err := sumOf(programOf(arch, program))
			if err != nil {
				return err
			}
			ref := program + "-" + arch
			all = append(all, ref)
			b.Components = append(b.Components, billComponent{
				Type: "application", Ref: ref, Name: program + " (linux/" + arch + ")", Version: j.number,
				Hashes: []billHash{{"SHA-256", sum}}, Licences: []billLicence{{"Apache-2.0"}},
			})
			b.Dependencies = append(b.Dependencies, billDependency{ref, linkedBy(m.modules, program)})
		}
	}
	b.Dependencies = append([]billDependency{{root.Ref, all}}, b.Dependencies...)
	for _, mod := range m.modules {
		purl := purlOf(mod.path, mod.version)
		b.Components = append(b.Components, billComponent{
			Type: "library", Ref: purl, Name: mod.path, Version: strings.TrimPrefix(mod.version, "v"),
			Licences: []billLicence{{mod.licence}}, PURL: purl,
		})
		b.Dependencies = append(b.Dependencies, billDependency{purl, []string{}})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(b)
}

// linkedBy are the modules that a program links.
func linkedBy(modules []module, program string) []string {
	refs := []string{}
	for _, m := range modules {
		if slices.Contains(m.programs, program) {
			refs = append(refs, purlOf(m.path, m.version))
		}
	}
	return refs
}
