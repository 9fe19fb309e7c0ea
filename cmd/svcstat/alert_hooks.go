package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// killedWait is how long a hook's descendants may hold its pipes after it was
// killed.
const killedWait = time.Second

// hooks are the programs of a directory, which are given an alert one after the
// other, in the order of their names.
type hooks struct {
	dir            string
	timeout        time.Duration // of each
	env            []string
	stdout, stderr io.Writer
}

// all runs every hook, whatever became of the one before. The error says which
// failed.
func (h hooks) all(ctx context.Context, text string) error {
	names, err := h.names()
	errs := []error{err}
	for _, name := range names {
		if err := h.one(ctx, name, text); err != nil {
			errs = append(errs, fmt.Errorf("hook %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// names are the executables of the directory. Without the directory there are
// none.
func (h hooks) names() ([]string, error) {
	entries, err := os.ReadDir(h.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries { // sorted, and those before an error
		info, err := os.Stat(filepath.Join(h.dir, entry.Name())) // of a link, what it leads to
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !setAside(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// setAside knows the names of files that are not meant to be run: hidden ones,
// and what editors, dpkg and rpm keep of a file beside it.
func setAside(name string) bool {
	for _, suffix := range []string{"~", ".bak", ".rpmnew", ".rpmsave", ".rpmorig"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return strings.HasPrefix(name, ".") || strings.Contains(name, ".dpkg-") || strings.Contains(name, ".ucf-")
}

// one runs a hook with the text on its standard input. At its timeout it is
// killed with all of its process group.
func (h hooks) one(ctx context.Context, name, text string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.timeout, fmt.Errorf("killed, as it had run for %s", h.timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(h.dir, name))
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = h.env, strings.NewReader(text), h.stdout, h.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = killedWait
	err := cmd.Run()
	switch {
	case ctx.Err() != nil && err != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it ended well, and left somebody behind who holds its output
	}
	return err
}
