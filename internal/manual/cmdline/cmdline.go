package cmdline

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Tag is the build tag of a program that tells its own command line.
const Tag = "svckit_manual"

// Program is a program with what it takes.
type Program struct {
	Name  string
	Flags []Flag // those that need no verb
	Verbs []Verb
	Wraps bool // what follows its flags is a command that it runs

	// Objects are those of the JSON documents, each after the one that names it first.
	Objects []Object
	// Choices are the values that a placeholder can have, where they are a few words.
	Choices map[string][]string
	// Meanings are those of words, where the program has them.
	Meanings map[string]string
}

// Verb is what one verb takes.
type Verb struct {
	Name      string
	Usage     string   // one line
	Arguments []string // placeholders: UNIT, PATTERN...
	Flags     []Flag
	Document  string // the Object that it prints as JSON; "" for none
}

// Flag is one flag.
type Flag struct {
	Names []string // the long one first, without dashes
	Value string   // its value's placeholder; "" for none
	Help  string   // one line
	Again bool     // it may be given more than once

	Default string // of the value, where Help does not tell it
}

// Object is one kind of JSON object.
type Object struct {
	Name   string
	Fields []Field
}

// Field is one field of an object.
type Field struct {
	Name string
	Type string // "integer or null", "array of run"
}

// Tell writes p for Read.
func (p Program) Tell(w io.Writer) error { return json.NewEncoder(w).Encode(p) }

// Read reads what Tell has written.
func Read(r io.Reader) (Program, error) {
	var p Program
	if err := json.NewDecoder(r).Decode(&p); err != nil {
		return p, fmt.Errorf("what a program tells of its command line: %w", err)
	}
	return p, nil
}

// Verb is the verb of that name.
func (p Program) Verb(name string) (Verb, bool) {
	i := slices.IndexFunc(p.Verbs, func(v Verb) bool { return v.Name == name })
	if i < 0 {
		return Verb{}, false
	}
	return p.Verbs[i], true
}

// Object is the object of that name.
func (p Program) Object(name string) (Object, bool) {
	i := slices.IndexFunc(p.Objects, func(o Object) bool { return o.Name == name })
	if i < 0 {
		return Object{}, false
	}
	return p.Objects[i], true
}

// CommonFlags are those that most verbs have, and three at least, in the same
// words.
func (p Program) CommonFlags() []Flag {
	var common []Flag
	for _, v := range p.Verbs {
		for _, f := range v.Flags {
			has := len(p.Verbs) - len(p.Without(f))
			if has >= 3 && 2*has > len(p.Verbs) && !slices.ContainsFunc(common, f.Equal) {
				common = append(common, f)
			}
		}
	}
	return common
}

// Without are the names of the verbs that lack a flag.
func (p Program) Without(f Flag) []string {
	var names []string
	for _, v := range p.Verbs {
		if !slices.ContainsFunc(v.Flags, f.Equal) {
			names = append(names, v.Name)
		}
	}
	return names
}

// Equal says whether two flags are the same in all.
func (f Flag) Equal(other Flag) bool {
	return slices.Equal(f.Names, other.Names) && f.Value == other.Value && f.Help == other.Help && f.Default == other.Default
}

// Typed are the names as they are typed: --output, -o.
func (f Flag) Typed() []string {
	typed := make([]string, len(f.Names))
	for i, name := range f.Names {
		typed[i] = "--" + name
		if len(name) == 1 {
			typed[i] = "-" + name
		}
	}
	return typed
}

// ChoicesOf are the words that a flag takes: those that its placeholder lists
// (fail|success), or that the program has for it.
func (p Program) ChoicesOf(f Flag) []string {
	if words := strings.Split(f.Value, "|"); len(words) > 1 {
		return words
	}
	return p.Choices[f.Value]
}
