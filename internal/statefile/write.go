package statefile

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mode is the mode of every file that is written, whatever the umask is.
const mode = 0o644

// Write replaces the file, or makes it. With sync it returns once the file will
// outlast a crash of the host, which can take long.
func Write(path string, data []byte, sync bool) error {
	return write(path, data, sync, os.Rename)
}

// Create makes the file; where there is one already, whatever it is, it fails
// with fs.ErrExist and changes nothing.
func Create(path string, data []byte) error {
	return write(path, data, false, func(temporary, path string) error {
		// link(2), as file systems without RENAME_NOREPLACE are common.
		if err := os.Link(temporary, path); err != nil {
			return err
		}
		return os.Remove(temporary)
	})
}

// write writes a temporary file and has publish give it its name.
func write(path string, data []byte, sync bool, publish func(temporary, path string) error) (err error) {
	f, err := temporary(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
		if closed := f.Close(); err == nil { // last of all: it gives up the lock
			err = closed
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := publish(f.Name(), path); err != nil {
		return err
	}
	if sync {
		return syncDirectory(filepath.Dir(path))
	}
	return nil
}

// attempts bounds how often a Sweep may be faster.
const attempts = 8

// temporary makes a file beside path that is this writer's alone: nobody can
// foresee its name, and the lock on it tells Sweep that its writer lives.
func temporary(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for attempt := 1; ; attempt++ {
		name := fmt.Sprintf("%s.%s.%016x%s", dir, base, rand.Uint64(), suffix)
		// The mode keeps others from holding the lock.
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if err != nil || lock(f) || attempt == attempts {
			return f, err
		}
		_ = f.Close()
	}
}

// lock locks a new temporary file. It fails where a Sweep was faster, which then
// removes the file.
func lock(f *os.File) bool {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return !errors.Is(err, unix.EWOULDBLOCK) // where there are no locks, Sweep gets none either
	}
	var st unix.Stat_t
	return unix.Fstat(int(f.Fd()), &st) != nil || st.Nlink > 0
}

// syncDirectory makes a change of names outlast a crash of the host.
func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	return dir.Sync()
}

// SetAside renames a file that cannot be understood to NAME.corrupt, in the
// place of an earlier one.
func SetAside(path string) error {
	return os.Rename(path, path+Corrupt)
}

// Corrupt is what SetAside adds to a name.
const Corrupt = ".corrupt"
