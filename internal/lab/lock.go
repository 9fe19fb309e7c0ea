package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const lockExt = ".lock"

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 50 * time.Millisecond

func (l *Lab) lockPath(name string) string { return filepath.Join(l.Cache, name+lockExt) }

// lock waits for a lock of the cache. Closing the file gives it back, and so
// does the end of the process, however it ends.
func (l *Lab) lock(ctx context.Context, name string, how int) (*os.File, error) {
	for {
		file, err := tryLock(l.lockPath(name), how)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return file, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for %s: %w", l.lockPath(name), ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// tryLock takes a lock or fails with EWOULDBLOCK. The file may have been
// removed by its last holder between open and lock; that counts as held, for a
// lock on it would exclude nobody.
func tryLock(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, os.NewSyscallError("flock", err)
	}
	held, errHeld := file.Stat()
	named, errNamed := os.Stat(path)
	if errHeld != nil || errNamed != nil || !os.SameFile(held, named) {
		file.Close()
		return nil, os.NewSyscallError("flock", syscall.EWOULDBLOCK)
	}
	return file, nil
}
