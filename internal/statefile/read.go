package statefile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ErrForeign is what stands in the place of a file of svckit's and can be none:
// it is no regular file, or far too large.
var ErrForeign = errors.New("no file that svckit has written")

// Read returns the content of a file of at most maxBytes. A missing one is
// fs.ErrNotExist.
func Read(path string, maxBytes int) ([]byte, error) {
	// Opening a device can do something: it is looked at first. What takes its
	// place in between is opened without waiting, and looked at again.
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := plausible(path, info, maxBytes); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := plausible(path, info, maxBytes); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(maxBytes)+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s: %w: it has more than %d bytes", path, ErrForeign, maxBytes)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// plausible refuses what can be no file of svckit's.
func plausible(path string, info os.FileInfo, maxBytes int) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w: it is no regular file", path, ErrForeign)
	case info.Size() > int64(maxBytes):
		return fmt.Errorf("%s: %w: it has %d bytes, and at most %d make sense", path, ErrForeign, info.Size(), maxBytes)
	}
	return nil
}
