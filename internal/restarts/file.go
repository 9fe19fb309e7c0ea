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

// Begin begins a run of this process, and returns the series of failures that
// come before it. One whose svcrun was killed is among them, as one that has
// just ended. With an error too, it returns what is known.
func Begin(dir string, storm policy.Storm) (policy.Series, error) {
	s, err := update(dir, func(s State) (State, error) {
		if s.Killed() {
			s.Series = s.Series.Failed(Now(), storm)
		}
		self, err := statefile.Self()
		s.Open = &self
		return s, err
	})
	return s.Series, err
}

// Fail ends the run of this process as one that has failed.
func Fail(dir string, storm policy.Storm) error {
	_, err := update(dir, func(s State) (State, error) {
		return State{Series: s.Series.Failed(Now(), storm)}, nil
	})
	return err
}

// Clear ends the run of this process as one after which nothing is to be
// remembered: it ended well, or a stop was asked for.
func Clear(dir string) error {
	_, err := update(dir, func(State) (State, error) { return State{}, nil })
	return err
}

// Forget forgets the failures, and returns them. A run that lasts goes on, and
// is the first of a new series if it fails.
func Forget(dir string) (forgotten policy.Series, err error) {
	found, err := bounded(dir, func() (State, error) {
		found, err := load(dir)
		kept := State{Open: found.Open}
		if found.Killed() {
			found.Series = found.Series.Failed(Now(), policy.Storm{})
			kept = State{}
		}
		return found, errors.Join(err, save(dir, kept))
	})
	return found.Series, err
}

// update changes the file to what change makes of it; one that cannot be read
// counts as an empty one. It tidies up after a writer that was killed. As
// change may be late, when nobody waits for it any more, it touches nothing else.
func update(dir string, change func(State) (State, error)) (State, error) {
	return bounded(dir, func() (State, error) {
		statefile.Sweep(dir)
		s, unread := load(dir)
		s, unknown := change(s)
		return s, errors.Join(unread, unknown, save(dir, s))
	})
}

// Load reads the file.
func Load(dir string) (State, error) {
	return bounded(dir, func() (State, error) { return load(dir) })
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
	boot, err := statefile.BootID()
	if err != nil {
		return State{}, err
	}
	path := filepath.Join(dir, FileName)
	data, err := statefile.Read(path, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	var s State
	if err == nil {
		if s, err = decode(data, boot); err != nil {
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
	boot, err := statefile.BootID()
	if err != nil {
		return err
	}
	data, err := encode(s, boot)
	if err != nil {
		return err
	}
	return statefile.Write(path, data, false)
}

// bounded does something with the disk, and waits for it no longer than
// patience.
func bounded(dir string, do func() (State, error)) (State, error) {
	type result struct {
		state State
		err   error
	}
	done := make(chan result, 1)
	go func() {
		s, err := do()
		done <- result{s, err}
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case r := <-done:
		return r.state, r.err
	case <-late.C:
		return State{}, fmt.Errorf("%s: the disk has not answered within %v", filepath.Join(dir, FileName), patience)
	}
}
