package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"unicode"
)

// The bounds of the log: a policy that is wrong is no reason to flood it at
// every reload, and the kernel takes no record of more than 1024 bytes with
// its prefix (linux: kernel/printk/printk.c, devkmsg_write).
const (
	maxLogLines = 100 // of one run
	maxLogLine  = 900
)

// generatorLog is where a generator says what is wrong, in a line each.
type generatorLog struct {
	sinks []sink // the first that takes a line has it
	most  int    // lines, and one that says that there is more

	mu   sync.Mutex
	said map[string]bool // nothing is said twice: what is wrong with defaults is wrong with each policy
}

// sink takes a line.
type sink func(line string) error

// say writes a line. After the last line that there is room for it says so.
func (l *generatorLog) say(format string, args ...any) {
	line := shortened(oneLine(fmt.Sprintf(format, args...)))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said[line] || len(l.said) > l.most {
		return
	}
	if l.said == nil {
		l.said = map[string]bool{}
	}
	l.said[line] = true
	if len(l.said) > l.most {
		line = moreLinesText
	}
	for _, take := range l.sinks {
		if take(line) == nil {
			return
		}
	}
}

// oneLine is a text without control characters: a file's name may have them.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// shortened cuts a line that is too long, at the end of a character.
func shortened(line string) string {
	if len(line) <= maxLogLine {
		return line
	}
	end := 0
	for i := range line {
		if i > maxLogLine {
			break
		}
		end = i
	}
	return line[:end] + "..."
}

// kernelLog is where a generator logs (systemd.generator(7)); the journal has
// it from there. Containers have none, and users may not write to it.
func kernelLog(line string) error {
	const flags = syscall.O_WRONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
	fd, err := syscall.Open("/dev/kmsg", flags, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	_, err = syscall.Write(fd, []byte("<4>"+generatorName+": "+line+"\n"))
	return err
}

// journalSocket is the journal's own (systemd-journald.service(8)).
const journalSocket = "/run/systemd/journal/socket"

// journalLog writes to the journal. A generator may not wait for any process,
// and this does not: the kernel takes the datagram or refuses it.
func journalLog(line string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	message := "PRIORITY=4\nSYSLOG_IDENTIFIER=" + generatorName + "\nMESSAGE=" + line + "\n"
	return syscall.Sendto(fd, []byte(message), 0, &syscall.SockaddrUnix{Name: journalSocket})
}

// writerLog writes for who tries the generator by hand.
func writerLog(w io.Writer) sink {
	return func(line string) error {
		_, err := fmt.Fprintln(w, generatorName+": "+line)
		return err
	}
}
