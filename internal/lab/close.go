package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// sweepPoll is how often the removal of a control group is tried again.
const sweepPoll = 10 * time.Millisecond

// Close kills the machine and takes away what the kernel does not: its control
// group and its socket. It may be called more than once.
func (m *Machine) Close() error {
	m.closeOnce.Do(func() { m.closeErr = m.close() })
	return m.closeErr
}

func (m *Machine) close() error {
	var errs []error
	if m.process != nil {
		// Process 1 takes SIGTERM for a wish to be executed anew. With it die
		// all processes of its namespace, and then the mounts.
		if err := m.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
		<-m.ended
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		errs = append(errs, m.lab.sweep(ctx, m.name))
	}
	if m.notify != nil {
		errs = append(errs, m.notify.Close())
	}
	if err := os.Remove(m.notifyPath()); err != nil && !os.IsNotExist(err) {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, m.lock.Close())...)
}

// sweep removes what ended machines left: of the named one, if any, and of all
// whose owner is gone. Only for the named one it is an error if something stays.
func (l *Lab) sweep(ctx context.Context, ended string) error {
	l.sweepSockets()
	for {
		cmd := script(sweepScript, syscall.CLONE_NEWNS, "LAB_WORK="+l.mountPoint(), "LAB_PREFIX="+groupPrefix, "LAB_ENDED="+ended)
		_, err := runScript(ctx, cmd)
		if err == nil || ended == "" {
			return nil
		}
		// The kernel lets go of the last processes a moment after they die.
		select {
		case <-ctx.Done():
			return fmt.Errorf("control group %s cannot be removed: %w", ended, err)
		case <-time.After(sweepPoll):
		}
	}
}

// sweepSockets removes the sockets of boots whose process is gone.
func (l *Lab) sweepSockets() {
	sockets, _ := filepath.Glob(filepath.Join(l.runDir(), groupPrefix+"*.sock"))
	for _, socket := range sockets {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(socket), groupPrefix), "-")
		if _, err := os.Stat("/proc/" + owner); os.IsNotExist(err) {
			os.Remove(socket)
		}
	}
}
