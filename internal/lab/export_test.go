package lab

import (
	"context"
	"syscall"
)

// Name is the machine's name on the host.
func (m *Machine) Name() string { return m.name }

// NotifyPath is the machine's socket on the host.
func (m *Machine) NotifyPath() string { return m.notifyPath() }

// RootPath is where a suite's root is.
func (l *Lab) RootPath(s Suite) string { return l.rootPath(s) }

// GroupExists says whether there is a control group of that name.
func (l *Lab) GroupExists(ctx context.Context, name string) bool {
	cmd := script(`mount --make-rprivate /; mount -t cgroup2 svclab "$LAB_WORK"; [ -d "$LAB_WORK/$LAB_NAME" ]`,
		syscall.CLONE_NEWNS, "LAB_WORK="+l.mountPoint(), "LAB_NAME="+name)
	_, err := runScript(ctx, cmd)
	return err == nil
}
