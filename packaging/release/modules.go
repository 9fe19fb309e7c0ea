package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// standardLibrary is the name that scanners for vulnerabilities have for it.
const standardLibrary = "stdlib"

// module is one that is linked into programs.
type module struct {
	path     string
	version  string   // v1.2.3; of the standard library 1.26.1
	programs []string // that link it, sorted
	licence  string   // SPDX
	texts    []string // the licence, and a notice that goes with it
}

// linkedModules reads out of the programs what they are made of, and finds its
// licences where the go command has its source.
func linkedModules(archs []string) ([]module, error) {
	found := map[string]*module{}
	for _, arch := range archs {
		for _, program := range shipped {
			info, err := buildinfo.ReadFile(programOf(arch, program))
			if err != nil {
				return nil, err
			}
			note(found, standardLibrary, strings.TrimPrefix(info.GoVersion, "go"), program)
			for _, dep := range info.Deps {
				note(found, dep.Path, dep.Version, program)
			}
		}
	}
	var modules []module
	for _, m := range found {
		if err := m.findLicence(); err != nil {
			return nil, err
		}
		modules = append(modules, *m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

// note takes down that a program links a module.
func note(found map[string]*module, path, version, program string) {
	if found[path] == nil {
		found[path] = &module{path: path, version: version}
	}
	if m := found[path]; !slices.Contains(m.programs, program) {
		m.programs = append(m.programs, program)
		slices.Sort(m.programs)
	}
}

// findLicence reads the licence of a module, and the notice that Apache-2.0 wants
// to be passed on.
func (m *module) findLicence() error {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m.path)
	if m.path == standardLibrary {
		list = exec.Command("go", "env", "GOROOT")
	}
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	dir := strings.TrimSpace(string(out))
	text, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return fmt.Errorf("the licence of %s: %w", m.path, err)
	}
	m.texts = []string{string(text)}
	if notice, err := os.ReadFile(filepath.Join(dir, "NOTICE")); err == nil {
		m.texts = append(m.texts, string(notice))
	}
	m.licence, err = licenceOf(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	return nil
}

// licenceOf knows a licence by what only it says. A file may hold two.
func licenceOf(text string) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	var known []string
	for _, l := range []struct{ spdx, says string }{
		{"Apache-2.0", "Apache License, Version 2.0"},
		{"Apache-2.0", "Apache License Version 2.0, January 2004"},
		{"BSD-3-Clause", "Neither the name of"},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	} {
		if strings.Contains(text, l.says) && !slices.Contains(known, l.spdx) {
			known = append(known, l.spdx)
		}
	}
	if len(known) == 0 && strings.Contains(text, "Redistribution and use in source and binary forms") {
		known = []string{"BSD-2-Clause"}
	}
	if len(known) == 0 {
		return "", fmt.Errorf("its licence is not known here; say in licenceOf what it is known by")
	}
	return strings.Join(known, " AND "), nil
}

// packagingFile is what nfpm reads.
const packagingFile = "packaging/nfpm.yaml"

// checkLicence holds the packages' licence against what is linked.
func checkLicence(modules []module) error {
	text, err := os.ReadFile(packagingFile)
	if err != nil {
		return err
	}
	if line := "license: " + licences(modules); !strings.Contains(string(text), "\n"+line+"\n") {
		return fmt.Errorf("%s: the line is to be %q, by what the programs link", packagingFile, line)
	}
	return nil
}

// licences are those of all that is shipped.
func licences(modules []module) string {
	all := []string{"Apache-2.0"} // svckit's own
	for _, m := range modules {
		all = append(all, strings.Split(m.licence, " AND ")...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " AND ")
}

const rule = "--------------------------------------------------------------------------------\n"

// thirdParty are the licences of what is linked, each with its notice. Debian
// wants the text of Apache-2.0 not repeated: short refers to its copy.
func thirdParty(modules []module, short bool) []byte {
	var b strings.Builder
	for _, m := range modules {
		name := m.path + " " + m.version
		if m.path == standardLibrary {
			name = "the standard library of Go " + m.version
		}
		fmt.Fprintf(&b, "%s%s\nin %s\nlicence: %s\n\n", rule, name, strings.Join(m.programs, ", "), m.licence)
		for i, text := range m.texts {
			if i == 0 && short && m.licence == "Apache-2.0" {
				text = "The text is in /usr/share/common-licenses/Apache-2.0.\n"
			}
			b.WriteString(strings.TrimSpace(text) + "\n\n")
		}
	}
	return []byte(b.String())
}

// copyrightFile is Debian's: debian-policy, 12.5.
func copyrightFile(modules []module) []byte {
	return append([]byte(copyrightHead), thirdParty(modules, true)...)
}

const copyrightHead = `svckit, from https://github.com/svckit/svckit

Copyright (C) 2026 the svckit authors

Licensed under the Apache License, Version 2.0. The text of the licence is in
/usr/share/common-licenses/Apache-2.0.

The programs are linked statically. What follows are the licences of what is in
them beside svckit's own code.

`
