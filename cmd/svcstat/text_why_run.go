package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
)

// The sentences of `svcstat why` about a run and how it ended.

// runSentence says when a run was.
func (x explained) runSentence(which string, r history.Run) string {
	clauses := []string{beginClause(x, r)}
	if ready := readyClause(r); ready != "" {
		clauses = append(clauses, ready)
	}
	if !r.Running && !r.Ended.IsZero() {
		ended := "ended at " + x.at(r.Ended)
		if r.Up > 0 {
			ended += ", after " + syntax.AboutDuration(r.Up)
		}
		clauses = append(clauses, ended)
	}
	return which + " " + enumerated(clauses) + "."
}

func beginClause(x explained, r history.Run) string {
	begin := "has no begin on record"
	if !r.Started.IsZero() {
		begin = "began at " + x.at(r.Started)
	}
	switch {
	case r.Start == history.Automatic && r.Restarts > 0:
		return begin + fmt.Sprintf(", as automatic restart %d", r.Restarts)
	case r.Start == history.Automatic:
		return begin + ", as an automatic restart"
	case r.Start == history.Requested:
		return begin + ", on request"
	}
	return begin
}

// readyClause says when a run was ready. What ends with success without having
// been so is a oneshot, which has nothing to be ready for.
func readyClause(r history.Run) string {
	after, ok := r.ReadyAfter()
	switch {
	case ok && after < time.Millisecond:
		return "was ready at once"
	case ok:
		return "was ready after " + syntax.AboutDuration(after)
	case r.Started.IsZero(), r.Running, r.Cause == history.Clean:
		return ""
	}
	return "was never ready"
}

// enumerated joins the clauses of a sentence: "began, was ready and ended".
func enumerated(clauses []string) string {
	last := len(clauses) - 1
	if last == 0 {
		return clauses[0]
	}
	before := strings.Join(clauses[:last], ", ")
	if last == 1 && strings.Contains(before, ",") {
		before += "," // it has a comma open
	}
	return before + " and " + clauses[last]
}

// stopSentence tells the phases of a stop, which only svcrun's record has.
func stopSentence(r history.Run) string {
	if r.Record == nil {
		return ""
	}
	var parts []string
	for _, p := range r.Record.Phases {
		name := p.Name
		switch p.Name {
		case "delaying", "starting", "ready", "reloading":
			continue
		case "stop":
			name = "SIG" + p.Signal
		}
		parts = append(parts, name+" "+syntax.AboutDuration(time.Duration(p.TookUsec)*time.Microsecond))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Its stop took: " + strings.Join(parts, ", ") + "."
}

// field is a detail of a run's end, or "".
func field(r history.Run, key string) string {
	for _, f := range r.Detail {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// said is what somebody else has said, safe to print.
func said(text string) string { return strconv.Quote(text) }

// exitText says how a process ended.
func exitText(e history.Exit) string {
	if code, ok := e.Code(); ok {
		return fmt.Sprintf("exited with code %d", code)
	}
	if signal, ok := e.Signal(); ok && e.Kind == history.Dumped {
		return "died of " + signal.String() + " and dumped its core"
	} else if ok {
		return "died of " + signal.String()
	}
	return "failed"
}

// causeSentence says why a run ended.
func (x explained) causeSentence(r history.Run) string {
	switch r.Cause {
	case "":
		if r.Running {
			return ""
		}
		return "No end of it is on record."
	case history.Clean:
		if field(r, "result") == "exec-condition" {
			return "ExecCondition= said that it is not to run."
		}
		return "It ended by itself, in a way that counts as success."
	case history.ExitCode, history.Signal, history.CoreDump:
		return processText(r) + "."
	case history.OOM:
		return "It was killed for lack of memory, by the kernel or by systemd-oomd."
	case history.Watchdog:
		return "It missed its watchdog" + prefixed(": no heartbeat within ", field(r, "limit")) + ", and systemd aborted it."
	case history.Unhealthy:
		return checkText(r) + ", and svcrun drained it."
	case history.StartTimeout:
		return x.startTimeoutText(r)
	case history.StopTimeout:
		return "It did not stop in time and had to be killed, or was killed while it stopped."
	case history.Protocol:
		return "It broke the rules of " + x.typeText() + ": it ended before it was ready, or its process could not be found."
	case history.Exec:
		return "Its command could not be executed (" + exitText(r.Exit) + ")" + prefixed(": ", field(r, "message")) + "."
	case history.StopRequested:
		return requestText(r)
	default:
		if message := field(r, "message"); message != "" {
			return "Of its end this is known: " + message + "."
		}
		return "No record says why it ended" + prefixed("; systemd's word for it is ", field(r, "result")) + svcrunKilled(r) + "."
	}
}

// requestText is about a stop that was asked for.
func requestText(r history.Run) string {
	when := ""
	if r.Ready.IsZero() && !r.Started.IsZero() {
		when = " before it was ready"
	}
	if !r.Stopped {
		return "A signal asked svcrun for a stop" + when + ", as kill(1) sends it; nobody had asked systemd for one."
	}
	return "A stop was asked for" + when + ": by systemctl stop or restart, by a dependency, or by the shutdown."
}

// processText is about the process that failed.
func processText(r history.Run) string {
	who := "Its main process"
	if command := field(r, "command"); command != "" {
		who = "Its " + command + "="
	} else if r.Exit.Kind == history.NoExit {
		who = "A process beside its main one"
	}
	text := who + " " + exitText(r.Exit)
	if r.Cause == history.Signal && !r.Stopped {
		text += "; nobody had asked systemd for a stop"
	}
	return text
}

// checkText is about the check that had the last word.
func checkText(r history.Run) string {
	text := "A check"
	if check := field(r, "check"); check != "" {
		text = "The check " + check
	}
	text += " failed"
	if after := field(r, "after"); after != "" {
		text += " " + after + " times in a row"
	}
	if last := field(r, "last"); last != "" {
		text += ", the last time with " + said(last)
	}
	return text
}

func (x explained) startTimeoutText(r history.Run) string {
	text := "It was not ready in time"
	switch {
	case field(r, "check") != "":
		text += ": " + strings.Replace(checkText(r), "The check", "the check", 1)
	case x.settings != nil && strings.HasPrefix(x.settings.Type, "notify"):
		text += ": with Type=" + x.settings.Type + " it has to say READY=1, and it never did"
	}
	return text + "."
}

func (x explained) typeText() string {
	if x.settings == nil || x.settings.Type == "" {
		return "its type"
	}
	return "Type=" + x.settings.Type
}

func svcrunKilled(r history.Run) string {
	if field(r, "closed-by") == "" {
		return ""
	}
	return "; its svcrun did not live to write it down"
}

// prefixed is the text with what leads to it, or nothing.
func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}
