package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svckit/svckit/unitgen"
)

// state is what became of a file.
type state string

const (
	printed   state = "printed"
	written   state = "written"
	unchanged state = "unchanged" // it had these very bytes already
)

// writeFiles writes files to their paths, and creates directories for them. All
// are looked at before the first is touched: one that a person has edited, or
// that svcgen did not write, stops everything unless force is set.
func writeFiles(paths []string, files []unitgen.File, force bool) ([]state, error) {
	states := make([]state, len(files))
	for i, file := range files {
		var err error
		if states[i], err = compare(paths[i], file, force); err != nil {
			return nil, err
		}
	}
	for i, file := range files {
		if states[i] == unchanged {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(paths[i]), dirModeOf(file)); err != nil {
			return nil, fmt.Errorf("cannot create the directory: %w", err)
		}
		if err := replace(paths[i], file.Text, modeOf(file)); err != nil {
			return nil, fmt.Errorf("cannot write the file: %w", err)
		}
	}
	return states, nil
}

// maxUnit is more than any unit that svcgen wrote has.
const maxUnit = 16 << 20

// compare says whether a file has to be written, or why it must not be.
func compare(path string, file unitgen.File, force bool) (state, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return written, nil
	case err != nil:
		return "", fmt.Errorf("cannot look at the unit: %w", err)
	case info.IsDir():
		return "", fmt.Errorf(isDirectoryText, path)
	case !info.Mode().IsRegular():
		if force {
			return written, nil
		}
		return "", fmt.Errorf(noFileText, path)
	}
	old, err := readBounded(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read the unit that is there: %w", err)
	case bytes.Equal(old, file.Text) && (!file.Secret || info.Mode().Perm() == modeOf(file)):
		return unchanged, nil
	case force || file.Secret: // has no room for a checksum, and a name that is svckit's own
		return written, nil
	}
	switch unitgen.AuthorOf(old) {
	case unitgen.Foreign:
		return "", fmt.Errorf(foreignText, path)
	case unitgen.Edited:
		return "", fmt.Errorf(editedText, path, filepath.Base(path))
	default:
		return written, nil
	}
}

// modeOf is who may read a file: units are read by all.
func modeOf(file unitgen.File) fs.FileMode {
	if file.Secret {
		return 0o600
	}
	return 0o644
}

// dirModeOf is who may look into a directory that is made for a file. It is for
// the last of them only that it matters, and that is there on most machines.
func dirModeOf(file unitgen.File) fs.FileMode {
	if file.Secret {
		return 0o700
	}
	return 0o755
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxUnit))
}

// replace writes a file so that at every moment the old or the new one is
// there, whole.
func replace(path string, text []byte, mode fs.FileMode) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".svcgen-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	if _, err = temporary.Write(text); err == nil {
		err = temporary.Chmod(mode)
	}
	if err == nil {
		err = temporary.Sync()
	}
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	return err
}
