package main

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svckit/svckit/internal/manual/cmdline"
	"github.com/svckit/svckit/internal/manual/completion"
	"github.com/svckit/svckit/internal/manual/page"
)

// programs are those with a page and completions.
var programs = []string{"svcrun", "svcgen", "svcstat"}

// sources are the pages' prose, NAME.SECTION.md each.
//
//go:embed pages
var sources embed.FS

// maker makes all files.
type maker struct {
	root          string // of the module
	date, version string

	asked map[string]cmdline.Program // those that have told
}

// pages are the manual pages, by their paths, and what they say nothing of.
func (m *maker) pages() (files map[string]string, gaps []string, err error) {
	entries, err := sources.ReadDir("pages")
	if err != nil {
		return nil, nil, err
	}
	policy, err := os.ReadFile(filepath.Join(m.root, "docs/policy.md"))
	if err != nil {
		return nil, nil, err
	}
	files = map[string]string{}
	for _, entry := range entries {
		file := strings.TrimSuffix(entry.Name(), ".md")
		p := page.Page{Date: m.date, Version: "svckit " + m.version, Tables: map[string]string{"policy": string(policy)}}
		p.Name, p.Section, _ = strings.Cut(file, ".")
		if slices.Contains(programs, p.Name) {
			if p.Program, err = m.ask(p.Name); err != nil {
				return nil, nil, err
			}
		}
		source, err := sources.ReadFile("pages/" + entry.Name())
		if err != nil {
			return nil, nil, err
		}
		p.Source = string(source)
		roff, missing, err := page.Make(p)
		if err != nil {
			return nil, nil, err
		}
		files["man/"+file] = roff
		for _, gap := range missing {
			gaps = append(gaps, string(gap))
		}
	}
	return files, gaps, nil
}

// completions are the completions of all programs, by their paths.
func (m *maker) completions() (map[string]string, error) {
	files := map[string]string{}
	for _, name := range programs {
		p, err := m.ask(name)
		if err != nil {
			return nil, err
		}
		for path, make := range map[string]func(cmdline.Program) (string, error){
			"bash/" + name: completion.Bash, "zsh/_" + name: completion.Zsh, "fish/" + name + ".fish": completion.Fish,
		} {
			if files["completions/"+path], err = make(p); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// ask has a program tell its own command line. Its flags but the tag are those
// of make build, so that most of it is compiled already.
func (m *maker) ask(name string) (cmdline.Program, error) {
	if p, ok := m.asked[name]; ok {
		return p, nil
	}
	cmd := exec.Command("go", "run", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-tags="+cmdline.Tag+",urfave_cli_no_docs", "./cmd/"+name)
	cmd.Dir = m.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return cmdline.Program{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	p, err := cmdline.Read(bytes.NewReader(out))
	if err == nil {
		m.asked[name] = p
	}
	return p, err
}

// write writes files below a directory, each at once and whole.
func write(dir string, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		temporary := path + ".new"
		if err := os.WriteFile(temporary, []byte(files[name]), 0o644); err != nil {
			return err
		}
		if err := os.Rename(temporary, path); err != nil {
			return err
		}
	}
	return nil
}
