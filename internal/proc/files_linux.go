package proc

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The files of proc(5) are read past os.File, which makes of every open a try to
// have the file polled: ten calls instead of four, and in svcrun's first
// millisecond the poller itself. They are read past the Go runtime too: no such
// call waits for anything, and each that it is told of wakes its monitor thread.

// maxFile bounds what is read of a file, in bytes.
const maxFile = 64 << 10

// ReadFile reads a small file of proc(5).
func ReadFile(path string) ([]byte, error) {
	fd, err := open(path, 0)
	if err != nil {
		return nil, err
	}
	defer closeFile(fd)
	text := make([]byte, 0, 1024)
	for len(text) < maxFile {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := call(unix.SYS_READ, fd, text[len(text):cap(text)])
		if err != nil || n == 0 {
			return text, err
		}
		text = text[:len(text)+n]
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
	defer closeFile(fd)
	var numbers []int
	entries := make([]byte, 4096)
	for {
		n, err := call(unix.SYS_GETDENTS64, fd, entries)
		if err != nil || n == 0 {
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
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return 0, err
	}
	at := unix.AT_FDCWD
	r, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(name)), uintptr(unix.O_RDONLY|unix.O_CLOEXEC|flags), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(r), nil
}

func closeFile(fd int) { _, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0) }

// call is read(2) or its like, which proc(5) never interrupts.
func call(trap uintptr, fd int, buffer []byte) (int, error) {
	r, _, errno := unix.RawSyscall(trap, uintptr(fd), uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer)))
	if errno != 0 {
		return 0, errno
	}
	return int(r), nil
}
