package main

import (
	"fmt"
	"strings"
)

// The text of `svcstat alert`, by the rules of text.go.

const (
	alertUsage       = "tells the journal and the hooks of a service that failed (run by svckit-alert@.service)"
	alertDescription = `The journal gets one entry of priority alert, shown under the service's unit
too: what svcstat why says, and the last lines of the service. Without a
journal it goes to standard output. Then every executable in the directory of
hooks runs, one after the other, with that text on standard input and the
MONITOR_* variables of systemd.exec(5). A policy asks for it: on_give_up:
[svckit-alert@%N.service].`

	hooksUsage       = "run the executables in `DIR`"
	hookTimeoutUsage = "kill a hook that takes longer than `D`"
	alertTailUsage   = "show the last `N` lines of the service"

	tailHeading = "Its last lines on record:"
)

// cannotTell is the text of an alert about a service of which nothing could be
// found out. That it failed is known, or nobody would ask.
func cannotTell(unit string, err error) string {
	return fmt.Sprintf("%s has failed. Why cannot be told: %s.\n", unit, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// alertText is the answer with what the service said last.
func (x explained) alertText(tail []string) string {
	text := strings.Join(x.sentences(), "\n") + "\n" + x.advice(0)
	if len(tail) == 0 {
		return text
	}
	text += "\n" + tailHeading + "\n"
	for _, line := range tail {
		text += fmt.Sprintf("  | %.*s\n", mostLineChars, printable(line))
	}
	return text
}
