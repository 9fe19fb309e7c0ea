package proc

import "golang.org/x/sys/unix"

// HasTerminal says whether this process has a controlling terminal, at which a
// person can press Ctrl-C, wherever its streams lead (tty(4)).
func HasTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}
