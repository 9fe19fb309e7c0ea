package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/svckit/svckit/unitgen"
)

// sharedLibrary begins the name of the library that each systemd has of its
// own, with the version behind it: libsystemd-shared-257.13-1.so. Distributions
// put more behind the number, and nothing else before it.
const sharedLibrary = "libsystemd-shared-"

// oldestTarget is the systemd whose units each later one understands as well,
// only that svcrun does more of the work for it.
const oldestTarget = "v239"

// loadedTarget is the profile of the machine, found without asking its manager.
// On error it is the oldest.
func (h host) loadedTarget() (unitgen.Target, error) {
	number, err := loadedVersion()
	if err == nil {
		var target unitgen.Target
		if target, err = h.targetOf(number); err == nil {
			return target, nil
		}
	}
	oldest, errOldest := unitgen.LookupTarget(oldestTarget)
	return oldest, errors.Join(err, errOldest)
}

// loadedVersion is the version of the manager that runs: what has started this
// process is a fork of it, whose memory has the library that it runs with,
// whatever an upgrade has put on the disk since. For one who tries by hand it
// is process 1. Where neither can be looked into, it is the version on the disk.
func loadedVersion() (int, error) {
	for _, maps := range []string{fmt.Sprintf("/proc/%d/maps", os.Getppid()), "/proc/1/maps"} {
		if text, err := readSome(maps); err == nil {
			if number, err := libraryVersion(text); err == nil {
				return number, nil
			}
		}
	}
	return installedVersion("/usr/lib/systemd/systemd", "/lib/systemd/systemd")
}

// maxMaps is more than the manager's memory map has.
const maxMaps = 1 << 20

func readSome(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxMaps))
}

// libraryVersion finds the version in a text that names the library.
func libraryVersion(text []byte) (int, error) {
	_, after, found := bytes.Cut(text, []byte(sharedLibrary))
	if !found {
		return 0, errors.New("no library of systemd's")
	}
	end := bytes.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(after)
	}
	return strconv.Atoi(string(after[:end]))
}

// installedVersion is that of the first of some programs that is there.
func installedVersion(programs ...string) (number int, err error) {
	for _, program := range programs {
		var file *elf.File
		if file, err = elf.Open(program); err != nil {
			continue
		}
		libraries, err := file.ImportedLibraries()
		file.Close()
		if err != nil {
			return 0, err
		}
		return libraryVersion([]byte(strings.Join(libraries, "\n")))
	}
	return 0, err
}
