package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Signal is a signal's number on Linux. The type is our own because the pure
// packages import no syscall package; the numbers are those of amd64 and arm64.
type Signal int

// The signals that svckit itself has a use for.
const (
	SIGHUP   Signal = 1
	SIGINT   Signal = 2
	SIGQUIT  Signal = 3
	SIGABRT  Signal = 6
	SIGKILL  Signal = 9
	SIGUSR1  Signal = 10
	SIGUSR2  Signal = 12
	SIGPIPE  Signal = 13
	SIGTERM  Signal = 15
	SIGCONT  Signal = 18
	SIGWINCH Signal = 28
)

// Real-time signals as libc and systemd number them: the first two of the
// kernel's belong to the threading library.
const (
	rtMin = 34
	rtMax = 64
)

// names holds the names of signals 1 to 31 without their SIG, by number.
var names = [...]string{
	1: "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
	"USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN",
	"TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
}

// SignalNames are the names of the signals without their SIG, by number.
func SignalNames() []string { return slices.Clone(names[1:]) }

// aliases are the second names that systemd and kill(1) take as well.
var aliases = map[string]Signal{"IOT": 6, "CLD": 17, "POLL": 29}

// ParseSignal reads a signal as systemd does: a name with or without SIG,
// RTMIN+n, RTMAX-n, or a number.
func ParseSignal(s string) (Signal, error) {
	name := strings.TrimPrefix(s, "SIG")
	for number, known := range names {
		if known != "" && known == name {
			return Signal(number), nil
		}
	}
	if number, ok := aliases[name]; ok {
		return number, nil
	}
	if number, ok := realTime(name); ok {
		return number, nil
	}
	// Itoa: strtol(3) would read 010 as octal, so it is refused.
	if n, err := strconv.Atoi(s); err == nil && n >= 1 && n <= rtMax && strconv.Itoa(n) == s {
		return Signal(n), nil
	}
	if near, ok := Nearest(strings.ToUpper(name), names[1:]); ok {
		return 0, fmt.Errorf("unknown signal %q; did you mean %s", s, near)
	}
	return 0, fmt.Errorf("unknown signal %q; write a name such as TERM, INT, HUP or RTMIN+3", s)
}

// realTime reads RTMIN, RTMIN+n, RTMAX and RTMAX-n.
func realTime(name string) (Signal, bool) {
	base, offset := rtMin, strings.TrimPrefix(name, "RTMIN")
	sign := "+"
	if offset == name {
		base, offset = rtMax, strings.TrimPrefix(name, "RTMAX")
		sign = "-"
		if offset == name {
			return 0, false
		}
	}
	if offset == "" {
		return Signal(base), true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(offset, sign), 10, 8)
	if err != nil || !strings.HasPrefix(offset, sign) {
		return 0, false
	}
	number := base + int(n)
	if sign == "-" {
		number = base - int(n)
	}
	return Signal(number), number >= rtMin && number <= rtMax
}

// Name is the signal's name without SIG: TERM, RTMIN+3.
func (s Signal) Name() string {
	switch {
	case s >= 1 && int(s) < len(names):
		return names[s]
	case s == rtMin:
		return "RTMIN"
	case s > rtMin && s <= rtMax:
		return "RTMIN+" + strconv.Itoa(int(s)-rtMin)
	}
	return strconv.Itoa(int(s))
}

// String is the signal's full name, SIGTERM.
func (s Signal) String() string {
	if name := s.Name(); name != strconv.Itoa(int(s)) {
		return "SIG" + name
	}
	return "signal " + strconv.Itoa(int(s))
}
