package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/drain"
	"github.com/svckit/svckit/internal/supervise/machine"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// This file reads the values of flags.

// addCheck reads a check.
func addCheck(to *[]watchdog.Check, v string) error {
	c, err := watchdog.ParseCheck(v)
	if err == nil {
		*to = append(*to, c)
	}
	return err
}

// addStep reads a step of the soft phase.
func addStep(to *[]drain.Step, v string) error {
	s, err := drain.ParseStep(v)
	if err == nil {
		*to = append(*to, s)
	}
	return err
}

// addSuccess reads exit codes and signals, separated by commas.
func addSuccess(to *machine.Success, v string) error {
	for word := range strings.SplitSeq(v, ",") {
		if n, err := strconv.ParseUint(word, 10, 8); err == nil {
			to.Codes = append(to.Codes, int(n))
			continue
		}
		s, err := syntax.ParseSignal(word)
		if err != nil || word != strings.TrimLeft(word, "0123456789") {
			return fmt.Errorf("%q is neither an exit code from 0 to 255 nor a signal's name", word)
		}
		to.Signals = append(to.Signals, s)
	}
	return nil
}

// span reads a time span between least and a week.
func span(to *time.Duration, v string, least time.Duration) error {
	d, err := syntax.ParseDuration(v)
	switch {
	case err != nil:
		return err
	case d < least:
		return fmt.Errorf("%q is too short; the least is %s", v, syntax.FormatDuration(least))
	case d > maxSpan:
		return fmt.Errorf("%q is too long; the most is %s", v, syntax.FormatDuration(maxSpan))
	}
	*to = d
	return nil
}

// number reads a whole number between least and most.
func number(to *int, v string, least, most int) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q is no whole number from %d to %d", v, least, most)
	}
	*to = n
	return nil
}

// maxName is the length that a unit's name may have (systemd.unit(5)).
const maxName = 255

// unitName reads the name of a unit, with its suffix or without.
func unitName(to *string, v string) error {
	if v == "" || len(v) > maxName || strings.ContainsFunc(v, notInUnitNames) {
		return fmt.Errorf("%q is no unit's name; write it as systemctl does, for example worker or worker.service", v)
	}
	*to = v
	return nil
}

// notInUnitNames is what no unit's name has in it (systemd.unit(5)).
func notInUnitNames(r rune) bool {
	return notInNames(r) && !strings.ContainsRune(`:.\@`, r)
}

// choose reads one of a few words.
func choose[T ~string](to *T, v string, words ...T) error {
	var names []string
	for _, w := range words {
		if string(w) == v {
			*to = w
			return nil
		}
		names = append(names, string(w))
	}
	return fmt.Errorf("%q is none of %s", v, strings.Join(names, ", "))
}

// setLevel reads a log level.
func setLevel(to *machine.Level, v string) error {
	var word string
	if err := choose(&word, v, "error", "warning", "notice", "info"); err != nil {
		return err
	}
	*to = map[string]machine.Level{
		"error": machine.Error, "warning": machine.Warning, "notice": machine.Notice, "info": machine.Info,
	}[word]
	return nil
}

// absolute reads an absolute path.
func absolute(to *string, v string) error {
	if !filepath.IsAbs(v) || strings.ContainsRune(v, 0) {
		return fmt.Errorf("%q is no absolute path; begin it with /", v)
	}
	*to = filepath.Clean(v)
	return nil
}

// command reads a command line whose program is an absolute path.
func command(v string) ([]string, error) {
	argv, err := syntax.SplitCommand(v)
	if err == nil && !filepath.IsAbs(argv[0]) {
		err = fmt.Errorf("the command %q is no absolute path; write /usr/bin/%s or where it is", argv[0], filepath.Base(argv[0]))
	}
	return argv, err
}

// isTerminal says whether a person sits at f.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
