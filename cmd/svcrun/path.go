package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/supervise"
)

// find is the executable that name means, as execvp(3) would have it: itself
// where it has a slash, else the first one in $PATH.
func find(name string, environ []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	var failed error = syscall.ENOENT
	for _, dir := range filepath.SplitList(supervise.Variable(environ, "PATH")) {
		path := filepath.Join(dir, name)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, syscall.ENOENT) && errors.Is(failed, syscall.ENOENT) {
			failed = err
		}
	}
	return "", failed
}

// executable says why a path could not be executed, if so.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return unwrap(err)
	case info.IsDir():
		return syscall.EISDIR
	}
	return unwrap(unix.Access(path, unix.X_OK))
}

// unwrap leaves the bare reason of a path's error: the path is named already.
func unwrap(err error) error {
	if pathError := (*os.PathError)(nil); errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
