package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/why"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// The sentences of `svcstat why`, by the rules of text.go. Here they are whole
// sentences: they begin with a capital and end with a full stop.

// sentences are the answer, a line each: what the service does, its last run,
// why no restart came, what comes next.
func (x explained) sentences() []string {
	var lines []string
	add := func(line string) {
		if line != "" {
			lines = append(lines, line)
		}
	}
	add(x.stateSentence())
	if x.Standing == why.Uncertain && len(x.runs) == 0 {
		add("No run of it is on record.")
	}
	add(x.reloadSentence())
	if x.Last != nil && x.Last.Running {
		add(x.runSentence("This run", *x.Last))
	}
	if run := x.Ended(); run != nil {
		which := "Its last run"
		if run == x.Before {
			which = "The run before it"
		}
		add(x.runSentence(which, *run))
		add(x.causeSentence(*run))
		add(stopSentence(*run))
	}
	if x.First != nil {
		add(fmt.Sprintf("The failures in a row began with run %d, at %s: %s.", x.First.Number, x.at(x.First.Started), endText(x.First.End)))
	}
	add(x.reasonSentence())
	add(x.nextSentence())
	return lines
}

// at is a moment.
func (x explained) at(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return timeText(t, x.zone) + zoneHead(x.zone)
}

// since is a moment that is over, and how long.
func (x explained) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" since %s (%s)", x.at(t), syntax.AboutDuration(max(0, x.now.Sub(t))))
}

// stateSentence says what the service does now.
func (x explained) stateSentence() string {
	switch s := x.state; x.Standing {
	case why.Uncertain:
		if x.elsewhere {
			return "What " + x.unit + " does now no exported journal tells."
		}
		return "What " + x.unit + " does now is not known, as D-Bus cannot be asked."
	case why.Never:
		return x.unit + " has not run since the boot, as far as is known."
	case why.Unusable:
		return unusableSentence(x.unit, s.LoadState)
	case why.Waiting:
		return fmt.Sprintf("%s is down%s and waits for its automatic restart %d in a row.", x.unit, x.since(s.BecameInactive), s.NRestarts+1)
	case why.Stranded:
		return x.unit + " is down" + x.since(s.BecameInactive) + ". systemd has it wait for its automatic restart, but the job for that is gone: none will come."
	case why.Queued:
		return x.unit + " is down" + x.since(s.BecameInactive) + ", and a job for it waits for others."
	case why.Down:
		return x.unit + " is not running" + x.since(x.downSince()) + "."
	case why.Failed:
		return x.unit + " has failed" + x.since(x.downSince()) + "."
	case why.Up:
		up, _ := s.UpSince()
		return x.unit + " is " + s.ActiveState + " (" + s.SubState + ")" + x.since(up) + restartsClause(s.NRestarts) + statusClause(*s)
	case why.Starting:
		return x.unit + " is starting" + x.since(s.Began()) + restartsClause(s.NRestarts) + statusClause(*s)
	case why.Stopping:
		return x.unit + " is stopping (" + s.SubState + ")" + x.since(s.Changed) + statusClause(*s)
	}
	return ""
}

// downSince is when the service went down; the manager forgets it where it
// unloads the unit.
func (x explained) downSince() time.Time {
	if x.state.BecameInactive.IsZero() && x.Last != nil {
		return x.Last.Ended
	}
	return x.state.BecameInactive
}

func unusableSentence(unit, loadState string) string {
	switch loadState {
	case "masked":
		return unit + " is masked: nothing can start it until systemctl unmask."
	case "not-found":
		return unit + " has no unit file any more; what follows is of the time when it had one."
	}
	return unit + " cannot be used: systemd refuses its file (" + loadState + ")."
}

func restartsClause(n int) string {
	switch n {
	case 0:
		return "."
	case 1:
		return ", after an automatic restart."
	}
	return fmt.Sprintf(", after %d automatic restarts in a row.", n)
}

func statusClause(s history.State) string {
	if s.StatusText == "" {
		return ""
	}
	return " It says: " + strconv.Quote(s.StatusText) + "."
}

// reloadSentence is about a reload that failed, which ends nothing. How far it had
// come when its time was over nobody knows.
func (x explained) reloadSentence() string {
	r := x.FailedReload
	if r == nil {
		return ""
	}
	text := "Its last reload failed"
	if !r.Ended.IsZero() {
		text += " at " + x.at(r.Ended)
	}
	switch {
	case r.Result == "timeout":
		return text + ", as it took too long: it runs on, and whether it has what is new is not known."
	case r.Exit.Kind == history.NoExit:
		return text + " (" + r.Result + "): it runs on, as a rule with what it had before."
	}
	return text + ", as ExecReload= " + exitText(r.Exit) + ": it runs on, as a rule with what it had before."
}

// reasonSentence says why no restart came.
func (x explained) reasonSentence() string {
	const no = "No restart came: "
	switch x.Reason {
	case why.ByStop:
		return no + "a stop was asked for, and after one systemd never restarts."
	case why.ByStopWaiting:
		return no + "a stop was asked for while it ended, or in the hold-off after that."
	case why.ByPrevent, why.BySetting, why.ByRemain, why.ByForce:
		return no + x.Clause + settingHint(x.Answer) + "."
	case why.ByStartLimit:
		return no + x.limitText()
	case why.ByDependency:
		return "The start at " + x.at(x.Refused.Started) + " was refused: a unit that it needs had failed."
	case why.ByCondition:
		return x.conditionText()
	case why.NotSince:
		return no + "the rules ask for one, but systemd remembers nothing of that run: the machine was booted, or the unit was unloaded."
	case why.Unknown:
		return no + "nothing on record says why." + x.openText()
	}
	return ""
}

// settingHint names the Restart= that covers such an end.
func settingHint(a why.Answer) string {
	if a.Reason == why.BySetting && a.Would != "" {
		return "; Restart=" + string(a.Would) + " would have brought one"
	}
	return ""
}

// openText is what it may have been.
func (x explained) openText() string {
	var parts []string
	for _, reason := range x.Open {
		switch reason {
		case why.ByStop:
			parts = append(parts, "a stop that was asked for")
		case why.ByStartLimit:
			parts = append(parts, "the start limit")
		case why.ByDependency:
			parts = append(parts, "a unit that it needs, and that had failed")
		default: // nothing else is ever open
		}
	}
	if len(parts) == 0 {
		return ""
	}
	end := "; the journal would tell."
	if x.journal {
		end = "; the journal, which would tell, has no line of it."
	}
	return " It may have been " + strings.Join(parts, ", or ") + end
}

// limitText is about the start limit, with its numbers.
func (x explained) limitText() string {
	text := "the start limit is hit"
	if x.settings == nil {
		return text + "."
	}
	limit := x.settings.Limit
	text += fmt.Sprintf(": StartLimitBurst=%d starts are allowed within StartLimitIntervalSec=%s", limit.Starts, syntax.FormatDuration(limit.Within))
	if x.Refused != nil {
		text += ", and the one at " + x.at(x.Refused.Started) + " was refused"
	}
	if w := x.Window; w != nil && w.Used > 0 && w.Sure {
		text += fmt.Sprintf("; of those before it %d were automatic and %d asked for", w.Automatic, w.Used-w.Automatic)
	}
	return text + "."
}

func (x explained) conditionText() string {
	c, what := x.Unmet, "skipped"
	if c.Assert {
		what = "refused"
	}
	name := "one of its " + c.Name
	if c.Value != "" {
		name = c.Name + "=" + said(c.Value)
	}
	return "The start at " + x.at(c.At) + " was " + what + ": " + name + " was not met."
}

// nextSentence says what happens if nobody does anything.
func (x explained) nextSentence() string {
	switch {
	case x.Standing == why.Waiting:
		return x.restartText()
	case x.settings != nil && x.state.SubState == "start":
		return x.boundText("It is given until", x.settings.TimeoutStart, "TimeoutStartSec=")
	case x.settings != nil && (x.state.SubState == "stop-sigterm" || x.state.SubState == "final-sigterm"):
		return x.boundText("What is left of it is killed at", x.settings.TimeoutStop, "TimeoutStopSec=")
	case x.Standing.IsDown() && x.Standing != why.Unusable:
		return x.downText()
	}
	return ""
}

// boundText is about a state that has a timeout of its own, which what the service
// itself asks for may extend (EXTEND_TIMEOUT_USEC=).
func (x explained) boundText(what string, timeout time.Duration, directive string) string {
	began := x.state.Changed
	if began.IsZero() || timeout <= 0 || timeout >= history.Endless {
		return ""
	}
	return fmt.Sprintf("%s %s (%s%s), if it does not ask for more.", what, x.at(began.Add(timeout)), directive, syntax.FormatDuration(timeout))
}

func (x explained) restartText() string {
	if x.Next.IsZero() {
		if x.state.SubState != "auto-restart" {
			return "The restart comes now."
		}
		return "It waits for ever, as its RestartSec= says: only a start ends that."
	}
	text := fmt.Sprintf("The restart comes at %s, in %s", x.at(x.Next), syntax.AboutDuration(max(0, x.Next.Sub(x.now))))
	if x.settings != nil && x.settings.RandomDelay > 0 {
		text += " and up to " + syntax.FormatDuration(x.settings.RandomDelay) + " of jitter"
	}
	switch {
	case x.NextRefused:
		return text + ", and the start limit will refuse it: " + strings.TrimPrefix(x.limitText(), "the start limit is hit: ")
	case x.NextDoubtful:
		return text + ", and the start limit may refuse it: whether all starts on record still count is not known, as a reset-failed leaves no record."
	}
	return text + "." + outlookText(x.Outlook)
}

// outlookText says what the start limit does if nothing gets better.
func outlookText(o *policy.Outlook) string {
	if o == nil {
		return ""
	}
	limit := "the start limit never ends that"
	switch o.Odds {
	case policy.NeverTrips:
	case policy.MayTrip:
		limit = fmt.Sprintf("the start limit may refuse start %d", o.Start)
	case policy.Trips:
		limit = fmt.Sprintf("the start limit refuses start %d", o.Start)
	}
	return " If every run goes like this one, " + limit + ": " + o.Why + "."
}

func (x explained) downText() string {
	text := "It stays down until somebody starts it"
	var by []string
	if x.settings != nil {
		by = append(by, x.settings.TriggeredBy...)
		if x.settings.Enabled {
			by = append(by, "the next boot")
		}
	}
	if len(by) > 0 {
		text = "It stays down until it is started by hand or by " + strings.Join(by, ", ")
	}
	w := x.Window
	switch {
	case x.Reason == why.ByStartLimit && x.Reset:
		text += "; a start is possible again, as systemd has forgotten the failure since then"
	case x.Reason == why.ByStartLimit && x.Forgotten:
		text += "; a start is possible again, as systemd has loaded its units anew since then"
	case x.Reason != why.ByStartLimit || w == nil:
	case w.Until.IsZero():
		text += "; starts are refused until reset-failed"
	case x.now.Before(w.Until) && w.Sure:
		text += "; starts are refused until " + x.at(w.Until) + ", or until reset-failed"
	case x.now.Before(w.Until):
		text += "; starts are refused until " + x.at(w.Until) + " at the latest, or until reset-failed"
	default:
		text += "; a start is possible again, as the window of the limit is over"
	}
	return text + "."
}
