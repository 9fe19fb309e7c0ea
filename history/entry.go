package history

import (
	"strings"
	"time"
)

// Entry is a journal entry, reduced to the fields that tell of a run
// (systemd.journal-fields(7)). A field that the entry does not have is empty.
type Entry struct {
	Time      time.Time     // when it was written
	Monotonic time.Duration // the same since boot; orders entries where the clock was set
	BootID    string

	// Fields that journald sets itself, so that no sender can forge them.
	PID           string
	UID           string
	Cgroup        string
	OwnUnit       string // _SYSTEMD_UNIT: the unit whose process wrote this
	OwnInvocation string // _SYSTEMD_INVOCATION_ID, missing where the writer was gone too soon
	OwnUserUnit   string // _SYSTEMD_USER_UNIT: the same below a user's manager

	// Fields that the sender chose.
	Unit           string // UNIT: the unit this is about
	Invocation     string // INVOCATION_ID
	UserUnit       string // USER_UNIT and USER_INVOCATION_ID: what a user's manager says it of
	UserInvocation string
	MessageID      string
	Message        string
	JobResult      string
	ExitCode       string // exited, killed or dumped
	ExitStatus     string // a status or a signal's number
	Command        string // ExecStart, ExecStopPost, …
	UnitResult     string
	NRestarts      string
}

// ByManager says whether the system manager itself wrote the entry: process 1,
// or a root process of init.scope, by fields that only journald can set.
// Everybody can write UNIT=, so nothing else may speak for a unit.
func (e Entry) ByManager() bool {
	return e.PID == "1" || e.Cgroup == "/init.scope" && e.UID == "0"
}

// ofUser is the entry as one of the system's would be, for the units of a user's
// manager: what that manager has written is by process 1, of its own units. Whoever
// can write in its name can only be of that user.
func (e Entry) ofUser(uid string) Entry {
	manager := "user@" + uid + ".service"
	byManager := e.UID == uid && e.OwnUnit == manager && e.OwnUserUnit == "init.scope" && strings.HasSuffix(e.Cgroup, "/"+manager+"/init.scope")
	e.Unit, e.Invocation = e.UserUnit, e.UserInvocation
	e.PID, e.Cgroup = "", ""
	if byManager {
		e.PID = "1"
	}
	e.OwnUnit = ""
	if e.UID == uid {
		e.OwnUnit = e.OwnUserUnit
	}
	return e
}

// EndsHoldOff says whether the entry announces the automatic restart of a unit: what
// the unit writes from then on is of its next run. User is as in NewUserFold, or "".
func (e Entry) EndsHoldOff(unit, user string) bool {
	if user != "" {
		e = e.ofUser(user)
	}
	return e.ByManager() && e.Unit == unit && eventOf(e) == evScheduled
}

// event is what an entry of the manager's tells.
type event int

const (
	evNone         event = iota
	evStarting           // a start job begins; absent for Type=simple and idle
	evStarted            // a start job is done, or was skipped
	evStartFailed        // a start job ended in any other way
	evStopping           // a stop job begins; absent where there was no process to stop or the service was still starting
	evStopped            // a stop or restart job is done
	evProcessExit        // a process ended, and not cleanly
	evFailed             // the unit is dead, with a result that is a failure
	evDeactivated        // the unit is dead, with success
	evSkipped            // the unit is dead, ExecCondition= said no
	evScheduled          // the hold-off is over, an automatic restart begins
	evOOM                // the kernel or systemd-oomd killed a process of the unit
	evTooQuickly         // a start was refused by the start limit
	evStartTimeout       // TimeoutStartSec= is over
	evStopTimeout        // TimeoutStopSec= or TimeoutAbortSec= is over
	evRuntimeMax         // RuntimeMaxSec= is over
	evWatchdog           // WatchdogSec= is over
)

// messageIDs are the catalog IDs of systemd: src/systemd/sd-messages.h.
var messageIDs = map[string]event{
	"7d4958e842da4a758f6c1cdc7b36dcc5": evStarting,
	"39f53479d3a045ac8e11786248231fbf": evStarted,
	"be02cf6855d2428ba40df7e9d022f03d": evStartFailed,
	"de5b426a63be47a7b6ac3eaac82e2f6f": evStopping,
	"9d1aaa27d60140bd96365438aad20286": evStopped,
	"98e322203f7a4ed290d09fe03c09fe15": evProcessExit,
	"d9b373ed55a64feb8242e02dbe79a49c": evFailed,
	"7ad2d189f7e94e70a38c781354912448": evDeactivated,
	"0e4284a0caca4bfc81c0bb6786972673": evSkipped,
	"5eb03494b6584870a536b337290809b3": evScheduled,
	"fe6faa94e7774663a0da52717891d8ef": evOOM,
	"d989611b15e44c9dbf31e3c81256e4ed": evOOM,
}

// spawnFailed is the catalog ID of what the forked child says when it cannot
// become the service. It is the unit's own line, not the manager's.
const spawnFailed = "641257651c1b4ec9a8624d7a40a9e1e7"

// eventOf tells what an entry of the manager's means. Timeouts, the watchdog
// and the start limit have no catalog ID; their texts are fixed and never
// translated (systemd: src/core/service.c, service_dispatch_timer).
func eventOf(e Entry) event {
	if e.MessageID != "" {
		return messageIDs[e.MessageID]
	}
	text := strings.TrimPrefix(e.Message, e.Unit+": ")
	switch {
	case strings.HasPrefix(text, "Start request repeated too quickly"):
		return evTooQuickly
	case hasAnyPrefix(text, "start operation timed out", "start-pre operation timed out",
		"start-post operation timed out", "condition operation timed out"):
		return evStartTimeout
	case hasAnyPrefix(text, "Stopping timed out", "State 'stop-", "State 'final-", "Processes still around after"):
		return evStopTimeout
	case strings.HasPrefix(text, "Service reached runtime time limit"):
		return evRuntimeMax
	case strings.HasPrefix(text, "Watchdog timeout"):
		return evWatchdog
	}
	return evNone
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}
