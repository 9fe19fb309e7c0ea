package machine

import (
	"strconv"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// This file is what things are called elsewhere.

// stopRequested is why a service is stopped that somebody wants to stop.
const stopRequested = "a stop was asked for"

// limitText is why a start was refused by a start limit.
func limitText(l policy.Limit) string {
	text := policy.Refused.String() + ": " + strconv.Itoa(l.Starts) + " starts"
	if l.Within == syntax.Infinity {
		return text
	}
	return text + " within " + syntax.FormatDuration(l.Within)
}

// exitStatus is an exit as a shell has it in $?.
func exitStatus(e policy.Exit) int {
	if e.How == policy.Killed || e.How == policy.Dumped {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// exitWords is an exit as $EXIT_CODE and $EXIT_STATUS have it (systemd.exec(5)).
func exitWords(e policy.Exit) (kind, status string) {
	switch e.How {
	case policy.Exited:
		return "exited", strconv.Itoa(e.Code)
	case policy.Killed:
		return "killed", e.Signal.Name()
	case policy.Dumped:
		return "dumped", e.Signal.Name()
	case policy.NoExit:
	}
	return "", ""
}

// historyExit is an exit in history's terms.
func historyExit(e policy.Exit) history.Exit {
	switch e.How {
	case policy.Exited:
		return history.Exit{Kind: history.Exited, Status: e.Code}
	case policy.Killed:
		return history.Exit{Kind: history.Killed, Status: int(e.Signal)}
	case policy.Dumped:
		return history.Exit{Kind: history.Dumped, Status: int(e.Signal)}
	case policy.NoExit:
	}
	return history.Exit{}
}
