package history

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

const unit = "x.service"

// idOf finds the catalog ID of an event.
func idOf(ev event) string {
	for id, e := range messageIDs {
		if e == ev {
			return id
		}
	}
	return ""
}

var epoch = time.Date(2026, 1, 31, 15, 0, 0, 0, time.UTC)

// entry reads one line of a story: the time, the run, what happened and its
// words. A boot other than the first stands before the time, as in "2/10s".
//
//	10s A exit exited 1
func entry(t *testing.T, line string) Entry {
	t.Helper()
	words := strings.Fields(line)
	boot, at := "1", words[0]
	if before, after, ok := strings.Cut(at, "/"); ok {
		boot, at = before, after
	}
	offset, err := time.ParseDuration(at)
	if err != nil {
		t.Fatal(err)
	}
	bootNumber, _ := strconv.Atoi(boot)
	e := Entry{
		Time: epoch.Add(time.Duration(bootNumber-1)*time.Hour + offset), Monotonic: offset, BootID: "boot" + boot,
		PID: "1", Unit: unit, Invocation: strings.Trim(words[1], "-"),
	}
	arg := append(words[3:], "", "", "")
	switch words[2] {
	case "starting":
		e.MessageID = idOf(evStarting)
	case "started", "finished":
		e.MessageID, e.Message = idOf(evStarted), strings.ToUpper(words[2][:1])+words[2][1:]+" X."
	case "start-failed":
		e.MessageID, e.JobResult = idOf(evStartFailed), arg[0]
	case "stopping":
		e.MessageID = idOf(evStopping)
	case "stopped":
		e.MessageID = idOf(evStopped)
	case "exit":
		e.MessageID, e.ExitCode, e.ExitStatus, e.Command = idOf(evProcessExit), arg[0], arg[1], "ExecStart"
		if arg[2] != "" {
			e.Command = arg[2]
		}
	case "failed":
		e.MessageID, e.UnitResult = idOf(evFailed), arg[0]
	case "deactivated":
		e.MessageID = idOf(evDeactivated)
	case "scheduled":
		e.MessageID, e.NRestarts = idOf(evScheduled), arg[0]
	case "oom":
		e.MessageID = "fe6faa94e7774663a0da52717891d8ef"
	case "says": // the manager, without an ID
		e.Message = unit + ": " + strings.Join(words[3:], " ")
	case "prints": // the service
		e.PID, e.Unit, e.Invocation = "99", "", ""
		e.OwnUnit, e.OwnInvocation, e.Message = unit, strings.Trim(words[1], "-"), strings.Join(words[3:], " ")
	default:
		t.Fatalf("unknown word in %q", line)
	}
	return e
}

func foldOf(t *testing.T, story string) *Fold {
	t.Helper()
	fold := NewFold(unit)
	for line := range strings.SplitSeq(strings.TrimSpace(story), "\n") {
		fold.Add(entry(t, line))
	}
	return fold
}

// tell is a run in one line.
func tell(r Run) string {
	out := fmt.Sprintf("%s %s", orDash(r.InvocationID), r.Start)
	if r.Restarts > 0 {
		out += fmt.Sprintf("/%d", r.Restarts)
	}
	if r.Running {
		out += " running"
	}
	out += " " + orDash(string(r.Cause))
	if r.Exit.Kind != NoExit {
		out += fmt.Sprintf(" %s=%d", r.Exit.Kind, r.Exit.Status)
	}
	for _, f := range r.Detail {
		out += " " + f.String()
	}
	return fmt.Sprintf("%s up=%v delay=%v", out, r.Up, r.Delay)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
