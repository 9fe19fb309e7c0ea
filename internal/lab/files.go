package lab

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// files opens the machine's root. It is an [os.Root], for an absolute link in
// the machine would otherwise be followed into the host.
func (m *Machine) files() (*os.Root, error) {
	if err := m.alive(); err != nil {
		return nil, err
	}
	return os.OpenRoot(filepath.Join("/proc", strconv.Itoa(m.Pid()), "root"))
}

// relative makes a path of the machine one below its root.
func relative(guestPath string) string {
	return strings.TrimPrefix(path.Clean("/"+guestPath), "/")
}

// ReadFile reads a file of the machine.
func (m *Machine) ReadFile(guestPath string) ([]byte, error) {
	root, err := m.files()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(relative(guestPath))
}

// WriteFile writes a file of the machine whole, and the directories above it.
func (m *Machine) WriteFile(guestPath string, text []byte, mode fs.FileMode) error {
	return m.replaceFile(guestPath, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Install copies a file of the host into the machine.
func (m *Machine) Install(hostPath, guestPath string, mode fs.FileMode) error {
	source, err := os.Open(hostPath)
	if err != nil {
		return err
	}
	defer source.Close()
	return m.replaceFile(guestPath, mode, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
}

// replaceFile writes under another name first and renames: a program that runs
// can be replaced but not written, nobody reads half a file, and two that write
// the same file do not meet.
func (m *Machine) replaceFile(guestPath string, mode fs.FileMode, write func(io.Writer) error) error {
	root, err := m.files()
	if err != nil {
		return err
	}
	defer root.Close()
	name := relative(guestPath)
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	unfinished := fmt.Sprintf("%s.unfinished-%d", name, m.writes.Add(1))
	file, err := root.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	err = write(file)
	if errClose := file.Close(); err == nil {
		err = errClose
	}
	if err == nil {
		err = root.Chmod(unfinished, mode) // whatever the umask
	}
	if err == nil {
		err = root.Rename(unfinished, name)
	}
	if err != nil {
		_ = root.Remove(unfinished)
		return fmt.Errorf("cannot write %s in the machine: %w", guestPath, err)
	}
	return nil
}

// Remove removes a file of the machine.
func (m *Machine) Remove(guestPath string) error {
	root, err := m.files()
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Remove(relative(guestPath))
}
