package main

import (
	"encoding/json"
	"path/filepath"

	"github.com/svckit/svckit/unitgen"
)

// report is what generate has to tell.
type report struct {
	policy unitgen.Policy
	target unitgen.Target
	result unitgen.Result
	source string
	dir    string  // "" where the units are printed
	states []state // of each file, where they are written
}

// path is where a file of the report stands or belongs.
func (r report) path(i int) string {
	dir := r.dir
	if dir == "" {
		dir = systemUnits
	}
	return filepath.Join(dir, r.result.Files[i].Name)
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
	Target   string            `json:"target"`
	Files    []documentFile    `json:"files"`
	Warnings []documentWarning `json:"warnings"`
}

type documentFile struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	State state  `json:"state"`
	Text  string `json:"text"`
}

type documentWarning struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

func (p program) printDocument(r report) error {
	d := document{Schema: 1, Target: r.target.Name, Files: []documentFile{}, Warnings: []documentWarning{}}
	for i, file := range r.result.Files {
		d.Files = append(d.Files, documentFile{file.Name, r.path(i), r.state(i), string(file.Text)})
	}
	for _, w := range r.result.Warnings {
		d.Warnings = append(d.Warnings, documentWarning{w.File, w.Line, w.Column, w.Message})
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(d)
}
