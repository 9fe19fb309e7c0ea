package vm

import (
	"context"
	_ "embed" // the scripts
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

var (
	//go:embed kernel.sh
	kernelScript string
	//go:embed pack.sh
	packScript string
)

// Guest is where the program of package guest has to be in the machine.
const Guest = "/usr/lib/svckit-guest"

// guestUnit comes before all else when processes run wild, so that the machine
// can be asked what goes on.
const guestUnit = `[Unit]
Description=Commands from the serial line
[Service]
Type=exec
ExecStart=` + Guest + ` /dev/ttyS1
Restart=always
CPUWeight=1000
OOMScoreAdjust=-1000
TasksMax=infinity
`

// run runs a script to its end; its error says what the script said.
func run(ctx context.Context, script, dir string, env ...string) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-euc", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// kernel is the path of a kernel, which is downloaded into the cache once.
func (c Config) kernel(ctx context.Context) (string, error) {
	path := filepath.Join(c.Lab.Cache, "vmlinuz-cloud-"+runtime.GOARCH)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	fmt.Fprintln(c.Lab.Progress, "vm: downloading a kernel (once)")
	work, err := os.MkdirTemp(c.Lab.Cache, "unfinished-kernel-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	loaded := filepath.Join(work, "vmlinuz")
	if err := run(ctx, kernelScript, work, "VM_ARCH="+runtime.GOARCH, "VM_TARGET="+loaded); err != nil {
		return "", fmt.Errorf("no kernel for the virtual machine: %w", err)
	}
	return path, os.Rename(loaded, path)
}

// image writes the initial RAM disk to a file in work.
func (c Config) image(ctx context.Context, work string) (path string, err error) {
	root, err := c.Lab.Root(ctx, c.Suite)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	added := filepath.Join(work, "added")
	if err := c.add(added); err != nil {
		return "", err
	}
	path = filepath.Join(work, "image")
	return path, run(ctx, packScript, work, "VM_ROOT="+root.Dir, "VM_ADDED="+added, "VM_IMAGE="+path)
}

// add makes the tree of what the machine has beside its root.
func (c Config) add(tree string) error {
	units := filepath.Join(tree, "etc/systemd/system")
	wanted := filepath.Join(units, "multi-user.target.wants")
	if err := os.MkdirAll(wanted, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(units, "guest.service"), []byte(guestUnit), 0o644); err != nil {
		return err
	}
	if err := os.Symlink("../guest.service", filepath.Join(wanted, "guest.service")); err != nil {
		return err
	}
	for guestPath, hostPath := range c.Files {
		if err := copyProgram(hostPath, filepath.Join(tree, filepath.Clean("/"+guestPath))); err != nil {
			return err
		}
	}
	return nil
}

func copyProgram(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
