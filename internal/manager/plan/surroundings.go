package plan

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/unitgen/unit"
)

// This file is what a process of a service finds when it starts.

// environment reads the words of Environment=, each a NAME=value.
func (r *reader) environment(value string) error {
	words, err := syntax.SplitCommand(value)
	if err != nil {
		return err
	}
	for _, word := range words {
		assignment, err := r.names.resolve(word)
		if err != nil {
			return err
		}
		if name, _, ok := strings.Cut(assignment, "="); !ok || !unit.IsVariable(name) {
			return fmt.Errorf("a word is no NAME=value") // which one may be a secret
		}
		r.service.Surroundings.Env = append(r.service.Surroundings.Env, assignment)
	}
	return nil
}

func (r *reader) environmentFile(value string) error {
	file, err := r.names.resolve(value)
	if err != nil {
		return err
	}
	if !path.IsAbs(strings.TrimPrefix(file, "-")) {
		return fmt.Errorf("%q is no absolute path", file)
	}
	r.service.Surroundings.EnvFiles = append(r.service.Surroundings.EnvFiles, file)
	return nil
}

func (r *reader) credential(value string) error {
	text, err := r.names.resolve(value)
	if err != nil {
		return err
	}
	name, file, ok := strings.Cut(text, ":")
	if !ok || name == "" || strings.Contains(name, "/") || !path.IsAbs(file) {
		return fmt.Errorf("%q is not NAME:PATH", text)
	}
	r.service.Surroundings.Credentials = append(r.service.Surroundings.Credentials, Credential{name, file})
	return nil
}

// noFile reads a limit of open files. A hard limit above the soft one is left
// as it is.
func (r *reader) noFile(value string) error {
	soft, hard, two := strings.Cut(value, ":")
	if two && hard != soft {
		r.ignore("LimitNOFILE=:" + hard)
	}
	if soft == "infinity" {
		r.service.Surroundings.NoFile = math.MaxUint64
		return nil
	}
	n, err := strconv.ParseUint(soft, 10, 64)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is no number of open files", value)
	}
	r.service.Surroundings.NoFile = n
	return nil
}

// dirs reads the names of directories below one of the manager's.
func (r *reader) dirs(value, below, variable string) error {
	for word := range strings.FieldsSeq(value) {
		name, err := r.names.resolve(word)
		if err != nil {
			return err
		}
		if clean := path.Clean("/" + name); clean == "/" || clean != "/"+name {
			return fmt.Errorf("%q is no relative path below %s", name, below)
		}
		r.service.Surroundings.Dirs = append(r.service.Surroundings.Dirs, Dir{
			Path: path.Join(below, name), Variable: variable, Runtime: variable == "RUNTIME_DIRECTORY",
		})
	}
	return nil
}

// defaultSocketMode is that of a socket's file (systemd.socket(5)).
const defaultSocketMode = 0o666

// listen adds a socket of a kind.
func (r *reader) listen(value, kind string) error {
	address, err := r.names.resolve(value)
	if err != nil {
		return err
	}
	r.sockets = append(r.sockets, Socket{Address: address, Kind: kind})
	return nil
}

func (r *reader) socketMode(value string) error {
	mode, err := strconv.ParseUint(value, 8, 12)
	if err != nil {
		return fmt.Errorf("%q is no mode of a file", value)
	}
	r.socket.Mode = uint32(mode)
	return nil
}
