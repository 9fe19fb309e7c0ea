package restarts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/statefile"
	"github.com/svckit/svckit/policy"
)

// FileName is the name of the file in the runtime directory.
const FileName = "restart.json"

// patience is how long a call may take: a service must not wait for a disk.
const patience = time.Second

// Fail ends the run of this process as one that has failed.
func Fail(dir string, storm policy.Storm) error {
	return end(dir, func(s State) State { return State{Series: s.Series.Failed(Now(), storm)} })
}

// Clear ends the run of this process as one after which nothing is to be
// remembered: it ended well, or a stop was asked for.
func Clear(dir string) error {
	return end(dir, func(State) State { return State{} })
}

// end changes the file at the end of a run.
func end(dir string, change func(State) State) error {
	_, err := bounded(dir, func() (struct{}, error) { return struct{}{}, update(dir, change) })
	return err
}

// Forget forgets the failures, and returns how many in a row they were. A run
// that lasts goes on, and is the first of a new series if it fails.
func Forget(dir string) (failures int, err error) {
	return bounded(dir, func() (failures int, err error) {
		err = update(dir, func(s State) State {
			failures = s.Series.Failures
			if s.Killed() {
				failures, s.Open = failures+1, nil
			}
			return State{Open: s.Open}
		})
		return failures, err
	})
}

// Load reads the file.
func Load(dir string) (State, error) {
	return bounded(dir, func() (State, error) { return load(dir) })
}

// update changes the file to what change makes of it; one that cannot be read
// counts as an empty one. It tidies up after a writer that was killed.
func update(dir string, change func(State) State) error {
	statefile.Sweep(dir)
	before, unread := load(dir)
	after := change(before)
	if after == before && unread == nil {
		return nil
	}
	return errors.Join(unread, save(dir, after))
}

// Now is the moment that a Series is given: time since the boot, on a clock that
// nobody sets and that stands still while the host is suspended
// (CLOCK_MONOTONIC in clock_gettime(2)), as the manager's own timers do.
func Now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano())
}

// load reads the file, and sets it aside where it cannot be understood.
func load(dir string) (State, error) {
	path := filepath.Join(dir, FileName)
	data, err := statefile.Read(path, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	var s State
	if err == nil {
		if s, err = decode(data, statefile.BootID(), Now()); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if errors.Is(err, errCorrupt) || errors.Is(err, statefile.ErrForeign) {
		return State{}, setAside(path, err)
	}
	return s, err
}

// setAside sets the file aside, and says why.
func setAside(path string, why error) error {
	if err := statefile.SetAside(path); err != nil {
		return fmt.Errorf("%w; it cannot be set aside: %w", why, err)
	}
	return fmt.Errorf("%w; set aside as %s", why, FileName+statefile.Corrupt)
}

// save writes the file; nothing to remember is no file.
func save(dir string, s State) error {
	path := filepath.Join(dir, FileName)
	if s.IsZero() {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := encode(s, statefile.BootID())
	if err != nil {
		return err
	}
	return statefile.Write(path, data, false)
}

// bounded does something with the disk, and waits for it no longer than
// patience.
func bounded[T any](dir string, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case r := <-done:
		return r.value, r.err
	case <-late.C:
		var none T
		return none, fmt.Errorf("%s: the disk has not answered within %v", filepath.Join(dir, FileName), patience)
	}
}
