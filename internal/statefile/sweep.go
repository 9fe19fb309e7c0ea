package statefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// suffix ends the temporary names, which are .NAME.RANDOM.tmp.
const suffix = ".tmp"

// maxSwept bounds the names that Sweep looks at.
const maxSwept = 100_000

// Sweep removes the temporary files in dir whose writers were killed. It is
// tidiness, so that it has nothing to say where it fails.
func Sweep(dir string) {
	_ = Names(dir, maxSwept, func(name string) {
		if isTemporary(name) {
			removeAbandoned(filepath.Join(dir, name))
		}
	})
}

// isTemporary says whether a name is one that Write made up.
func isTemporary(name string) bool {
	rest, ok := strings.CutSuffix(name, suffix)
	dot := strings.LastIndexByte(rest, '.')
	return ok && dot > 1 && name[0] == '.' && len(rest)-dot-1 == 16 &&
		strings.Trim(rest[dot+1:], "0123456789abcdef") == ""
}

// removeAbandoned removes a temporary file that no writer holds locked. The
// kernel gives up the lock of one that dies.
func removeAbandoned(path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.Remove(path)
	}
}

// ErrTooMany is a directory with more names than anybody should have to read.
var ErrTooMany = errors.New("too many names to look at them all")

// Names visits the names in a directory, in no order. After most of them it
// gives up with ErrTooMany.
func Names(dir string, most int, visit func(name string)) error {
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	for seen := 0; ; {
		names, err := d.Readdirnames(512)
		for _, name := range names {
			if seen++; seen > most {
				return &os.PathError{Op: "read", Path: dir, Err: ErrTooMany}
			}
			visit(name)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
