// Command release makes svckit's packages and releases out of programs, manual
// pages and completions that stand in ./build:
//
//	go run ./packaging/release -version v1.2.3 -dist dist deb rpm
//	go run ./packaging/release -version v1.2.3 -dist dist release
//
// It runs in the module's directory; `make deb rpm release` builds what it needs
// first. Each architecture gets one tree (stage.go), out of which its tarball and
// its packages are made, these by nfpm as packaging/nfpm.yaml says.
//
// Invariant: what it writes depends on the commit and on the version alone. The
// one time in it is SOURCE_DATE_EPOCH, that of the commit; modes, owners, names
// and the order of files are set and not found.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	buildDir = "build" // of what goes in, and of what is made on the way
	sumsFile = "SHA256SUMS"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// job is what is to be made.
type job struct {
	tag    string // as it is stamped into the programs: v1.2.3, or what git describe says
	number string // of packages and files: 1.2.3
	when   time.Time
	archs  []string // by Go's names, which are Debian's too
	dist   string
	told   io.Writer
}

// run makes what the command line asks for.
func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	tag := flags.String("version", "", "the version, such as v1.2.3, or what git describe says of a commit")
	archs := flags.String("arch", "amd64 arm64", "the architectures")
	dist := flags.String("dist", "dist", "the directory for what is made")
	if err := flags.Parse(args); err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH is to be the commit's time: git log -1 --format=%ct")
	}
	j := job{tag: *tag, when: time.Unix(seconds, 0).UTC(), archs: strings.Fields(*archs), dist: *dist, told: stdout}
	if j.number, err = packageVersion(j.tag, j.when); err != nil {
		return err
	}
	if err := os.MkdirAll(j.dist, 0o755); err != nil {
		return err
	}
	return j.make(flags.Args())
}

// make makes the things that are named.
func (j job) make(things []string) error {
	formats := things
	whole := slices.Equal(things, []string{"release"})
	if whole {
		formats = []string{"deb", "rpm"}
		if err := j.releasable(); err != nil {
			return err
		}
	}
	for _, format := range formats {
		if format != "deb" && format != "rpm" {
			return fmt.Errorf("%q cannot be made; name deb, rpm or both, or release alone", format)
		}
	}
	material, err := j.gather()
	if err != nil {
		return err
	}
	var made []string
	for _, arch := range j.archs {
		files, err := j.forArchitecture(material, arch, formats, whole)
		if err != nil {
			return err
		}
		made = append(made, files...)
	}
	if whole {
		return j.finish(material, made)
	}
	return nil
}

// forArchitecture makes the packages and, for a release, the tarball of one
// architecture, and returns their names.
func (j job) forArchitecture(m material, arch string, formats []string, tarball bool) ([]string, error) {
	stage, err := j.stage(m, arch)
	if err != nil {
		return nil, err
	}
	var made []string
	for _, format := range formats {
		name, err := j.pack(stage, arch, format)
		if err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	if tarball {
		name := fmt.Sprintf("svckit_%s_linux_%s", j.number, arch)
		if err := j.write(name+".tar.gz", func(w io.Writer) error { return archive(w, treeOf(stage), name, j.when) }); err != nil {
			return nil, err
		}
		made = append(made, name+".tar.gz")
	}
	return made, nil
}

// finish writes what a release has once: the bill of materials and the sums.
func (j job) finish(m material, made []string) error {
	bill := fmt.Sprintf("svckit_%s.cdx.json", j.number)
	if err := j.write(bill, func(w io.Writer) error { return writeBill(w, j, m) }); err != nil {
		return err
	}
	return j.write(sumsFile, func(w io.Writer) error { return sums(w, j.dist, append(made, bill)) })
}

// write writes a file of the dist directory, whole or not at all.
func (j job) write(name string, content func(io.Writer) error) error {
	unfinished := filepath.Join(j.dist, "."+name+".unfinished")
	file, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	err = errors.Join(content(file), file.Close())
	if err == nil {
		err = os.Rename(unfinished, filepath.Join(j.dist, name))
	}
	if err != nil {
		_ = os.Remove(unfinished)
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintln(j.told, filepath.Join(j.dist, name))
	return err
}

// releasable says why a version may not be released, if it may not.
func (j job) releasable() error {
	if !releaseTag.MatchString(j.tag) {
		return fmt.Errorf("version %q is none of a release; write VERSION=v1.2.3", j.tag)
	}
	if err := checkCommit(j.tag); err != nil {
		return err
	}
	text, err := os.ReadFile(changelogFile)
	if err != nil {
		return err
	}
	return checkChangelog(parseChangelog(string(text)), strings.TrimPrefix(j.tag, "v"), j.when)
}
