package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// programs are those that people call; shipped are all, with svcrun's helper.
var (
	programs = []string{"svcrun", "svcgen", "svcstat"}
	shipped  = append(slices.Clip(programs), "svckit-probe")
)

// sources are what is shipped as it stands, and where in the tree.
var sources = []struct{ place, pattern string }{
	{".", "README.md"},
	{".", "CHANGELOG.md"},
	{".", "LICENSE"},
	{"docs", "docs/*.md"},
	{"docs", "docs/*.json"},
	{"docs", "docs/*.svg"},
	{"docs/adr", "docs/adr/*.md"},
	{"examples", "examples/*.yaml"},
	{"man", buildDir + "/man/*.[15]"},
	{"completions/bash", buildDir + "/completions/bash/*"},
	{"completions/zsh", buildDir + "/completions/zsh/*"},
	{"completions/fish", buildDir + "/completions/fish/*"},
	{"systemd/system", "packaging/systemd/system/*"},
	{"systemd/user", "packaging/systemd/user/*"},
}

// material is what both architectures have in common.
type material struct {
	docs    map[string]string // place in the tree → file of the repository
	modules []module          // that the programs are made of
	changes []byte            // the packages' changelog
	log     []byte            // CHANGELOG.md
}

// gather finds what goes into the packages, and refuses to make any that lack a
// manual page or a completion.
func (j job) gather() (material, error) {
	m := material{docs: map[string]string{}}
	for _, from := range sources {
		files, err := filepath.Glob(from.pattern)
		if err != nil {
			return m, err
		}
		for _, file := range files {
			m.docs[filepath.Join(from.place, filepath.Base(file))] = file
		}
	}
	for _, page := range []string{"svcrun.1", "svcgen.1", "svcstat.1", "svckit-policy.5"} {
		if m.docs["man/"+page] == "" {
			return m, fmt.Errorf("%s/man/%s is missing; run make man", buildDir, page)
		}
	}
	for _, p := range programs {
		for _, place := range []string{"bash/" + p, "zsh/_" + p, "fish/" + p + ".fish"} {
			if m.docs["completions/"+place] == "" {
				return m, fmt.Errorf("%s/completions/%s is missing; run make completions", buildDir, place)
			}
		}
	}
	var err error
	if m.log, err = os.ReadFile(changelogFile); err != nil {
		return m, err
	}
	if m.changes, err = packageChangelog(parseChangelog(string(m.log)), j); err != nil {
		return m, err
	}
	if m.modules, err = linkedModules(j.archs); err != nil {
		return m, err
	}
	return m, checkLicence(m.modules)
}

// stageOf is the directory out of which everything of an architecture is made:
// treeOf is the tree of the tarball, beside it stands what only packages have.
func stageOf(arch string) string { return filepath.Join(buildDir, "stage", arch) }

func treeOf(stage string) string { return filepath.Join(stage, "tree") }

// programOf is where make has built a program.
func programOf(arch, program string) string { return filepath.Join(buildDir, arch, program) }

// stage lays the tree of an architecture anew.
func (j job) stage(m material, arch string) (string, error) {
	stage := stageOf(arch)
	if err := os.RemoveAll(stage); err != nil {
		return "", err
	}
	s := stager{dir: stage}
	for _, program := range shipped {
		s.copy("tree/bin/"+program, programOf(arch, program), 0o755)
	}
	for place, file := range m.docs {
		s.copy("tree/"+place, file, 0o644)
		if strings.HasPrefix(place, "man/") {
			s.gzip(place+".gz", file)
		}
	}
	s.put("tree/THIRD-PARTY-LICENSES", thirdParty(m.modules, false), 0o644)
	s.gzip("changelog.gz", changelogFile)
	s.put("copyright", copyrightFile(m.modules), 0o644)
	s.put("../changelog.yaml", m.changes, 0o644) // where nfpm.yaml, which takes no variable there, has it
	return stage, s.err
}

// stager writes files with modes that no umask changes, up to the first error.
type stager struct {
	dir string
	err error
}

func (s *stager) put(place string, text []byte, mode fs.FileMode) {
	if s.err != nil {
		return
	}
	path := filepath.Join(s.dir, place)
	if s.err = os.MkdirAll(filepath.Dir(path), 0o755); s.err != nil {
		return
	}
	if s.err = os.WriteFile(path, text, mode); s.err == nil {
		s.err = os.Chmod(path, mode)
	}
}

func (s *stager) read(file string) []byte {
	if s.err != nil {
		return nil
	}
	var text []byte
	text, s.err = os.ReadFile(file)
	return text
}

func (s *stager) copy(place, file string, mode fs.FileMode) { s.put(place, s.read(file), mode) }

// gzip packs a file without a name or a time, as Debian wants manual pages and
// changelogs.
func (s *stager) gzip(place, file string) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, _ = w.Write(s.read(file)) // to memory
		err = w.Close()
	}
	if s.err == nil {
		s.err = err
	}
	s.put(place, packed.Bytes(), 0o644)
}
