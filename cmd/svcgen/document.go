package main

import (
	"encoding/json"
	"path/filepath"

	"github.com/svckit/svckit/unitgen"
)

// service is one service of a policy file, with what was made of it.
type service struct {
	policy unitgen.Policy
	target unitgen.Target
	result unitgen.Result
}

// report is what generate has to tell.
type report struct {
	services []service
	files    []unitgen.File // of all services
	makers   []int          // which service each file is of
	source   string
	dir      string  // "" where the units are printed
	states   []state // of each file, where they are written
}

// add appends a service and its files.
func (r *report) add(s service) {
	for _, file := range s.result.Files {
		r.files, r.makers = append(r.files, file), append(r.makers, len(r.services))
	}
	r.services = append(r.services, s)
}

// path is where a file of the report stands or belongs. Where units go to the
// place that systemd takes them from, what is no unit of that manager's goes to
// its own.
func (r report) path(i int) string {
	file, dir := r.files[i], r.dir
	if dir == "" || isUnitDir(dir) && filepath.Base(dir) != filepath.Base(file.Dir) {
		dir = file.Dir
	}
	return filepath.Join(dir, file.Name)
}

func (r report) paths() []string {
	paths := make([]string, len(r.files))
	for i := range r.files {
		paths[i] = r.path(i)
	}
	return paths
}

// state is what became of a file of the report.
func (r report) state(i int) state {
	if r.states == nil {
		return printed
	}
	return r.states[i]
}

// document is what generate prints with --json, as svcgen(1) describes it.
// Fields are added and never renamed.
type document struct {
	Schema   int               `json:"schema"`
	Target   string            `json:"target"` // of the first service
	Services []documentService `json:"services"`
	Files    []documentFile    `json:"files"`
	Warnings []documentWarning `json:"warnings"`
}

type documentService struct {
	Unit   string `json:"unit"`
	Scope  string `json:"scope"`
	Target string `json:"target"`
}

type documentFile struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Unit   string `json:"unit"` // of the service that it is for
	State  state  `json:"state"`
	Secret bool   `json:"secret,omitempty"` // its text is not told
	Text   string `json:"text"`
}

type documentWarning struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`

	Replaced bool `json:"replaced,omitempty"`
}

func (p program) printDocument(r report) error {
	d := document{Schema: 1, Target: r.services[0].target.Name, Files: []documentFile{}, Warnings: []documentWarning{}}
	for _, s := range r.services {
		d.Services = append(d.Services, documentService{s.policy.Unit(), string(s.policy.Scope), s.target.Name})
		for _, w := range s.result.Warnings {
			d.Warnings = append(d.Warnings, documentWarning{w.File, w.Line, w.Column, w.Message, w.Replaced})
		}
	}
	for i, file := range r.files {
		told := documentFile{
			Name: file.Name, Path: r.path(i), Unit: r.services[r.makers[i]].policy.Unit(), State: r.state(i), Secret: file.Secret,
		}
		if !file.Secret {
			told.Text = string(file.Text)
		}
		d.Files = append(d.Files, told)
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}
