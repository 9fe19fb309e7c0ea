// Command guest is what package vm has run in a virtual machine: it executes
// the commands that come over the serial line named by its argument.
package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/lab/vm"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

// serve opens the line and answers what comes.
func serve(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: guest TTY")
	}
	line, err := os.OpenFile(args[0], os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer line.Close()
	if err := makeRaw(int(line.Fd())); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return vm.Serve(line)
}

// makeRaw has bytes pass as they are, as cfmakeraw(3) does: no echo, no lines.
func makeRaw(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8 | unix.CLOCAL | unix.CREAD
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}
