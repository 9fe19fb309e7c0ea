package proc

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// The files of proc(5) are read past os.File, which makes of every open a try to
// have the file polled: ten calls instead of four, and in svcrun's first
// millisecond the poller itself.

// maxFile bounds what is read of a file, in bytes.
const maxFile = 64 << 10

// ReadFile reads a small file of proc(5).
func ReadFile(path string) ([]byte, error) {
	fd, err := open(path, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	text := make([]byte, 0, 1024)
	for len(text) < maxFile {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n <= 0:
			return text, err
		default:
			text = text[:len(text)+n]
		}
	}
	return text, nil
}

// numbersIn are the names in a directory of proc(5) that are numbers, in no
// order; none where it cannot be read.
func numbersIn(path string) []int {
	fd, err := open(path, unix.O_DIRECTORY)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var numbers []int
	entries := make([]byte, 4096)
	for {
		n, err := unix.ReadDirent(fd, entries)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return numbers
		}
		_, _, names := unix.ParseDirent(entries[:n], -1, nil)
		for _, name := range names {
			if number, err := strconv.Atoi(name); err == nil {
				numbers = append(numbers, number)
			}
		}
	}
}

func open(path string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
