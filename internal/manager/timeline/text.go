package timeline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// palette are the colours of services: those that can be read on a light and on
// a dark ground.
var palette = []string{"\x1b[36m", "\x1b[33m", "\x1b[35m", "\x1b[34m", "\x1b[32m"}

const (
	reset = "\x1b[0m"
	bad   = "\x1b[31m"
	bold  = "\x1b[1m"
)

// everyone is who an event is of that is of no service.
const everyone = "svcgen"

// plainStatuses are svcrun's that add nothing to the event itself.
var plainStatuses = []string{"starting", "ready", "stopping: " + history.AskedToStop}

func (w *Writer) appendText(dst []byte, e Event) []byte {
	switch {
	case e.Name == Finished:
		return append(dst, w.summary()...)
	case e.Name == Status && slices.Contains(plainStatuses, e.Text):
		return dst
	}
	name := everyone
	if e.Unit != "" {
		name = shortName(e.Unit)
	}
	blanks := strings.Repeat(" ", max(0, w.width-utf8.RuneCountInString(name))+2)
	return fmt.Appendf(dst, "%s  %s%s%s\n", w.time(e.Time), w.colour(w.colours[e.Unit], name), blanks, w.what(e))
}

// time is when, as a person wants it.
func (w *Writer) time(at time.Time) string {
	if w.style.UTC {
		return at.UTC().Format("2006-01-02 15:04:05.000")
	}
	return fmt.Sprintf("%8.3fs", at.Sub(w.began).Seconds())
}

// colour has a text in a colour, where there are any.
func (w *Writer) colour(colour, text string) string {
	if !w.style.Colours || colour == "" {
		return text
	}
	return colour + text + reset
}

// what is an event in plain words.
func (w *Writer) what(e Event) string {
	text := Printable(e.Text, w.style.Colours && e.Name == Output)
	switch e.Name {
	case Output:
		return "| " + text
	case Starting:
		return join("starting (run "+strconv.Itoa(e.Run)+")", text)
	case Ready:
		return join("ready after "+syntax.AboutDuration(e.After), beyondReady(text))
	case Status:
		return join("status", text)
	case Reloading:
		return join("reloading", text)
	case Reloaded:
		if text != "" {
			return w.colour(bad, join("reload failed", text))
		}
		return "reloaded"
	case Forgotten:
		return join("the failures before are forgotten", text)
	case Stopping:
		return join("stopping", text)
	case Signalled:
		return join(e.Signal+" sent", text)
	case Ended:
		return w.ended(e)
	case Restarting:
		return fmt.Sprintf("restart %d in %s%s", e.Restarts+1, syntax.AboutDuration(e.Delay), inBrackets(text))
	case GivenUp:
		return w.colour(bad, join("given up", text))
	case Refused:
		return w.colour(bad, join("not started", text))
	case Finished, Note:
		return text
	}
	return join(string(e.Name), text) // of a newer machine
}

// ended is how a run ended, and what follows where that is nothing.
func (w *Writer) ended(e Event) string {
	if e.End == nil {
		return "ended, after " + syntax.AboutDuration(e.After)
	}
	cause := string(e.End.Cause)
	for _, f := range e.End.Detail {
		if f.Key != "code" && f.Key != "signal" { // said by the exit
			cause += " " + f.String()
		}
	}
	text := fmt.Sprintf("ended: %s (%s), after %s", e.End.Exit, cause, syntax.AboutDuration(e.After))
	if !slices.Contains([]history.Cause{history.Clean, history.StopRequested}, e.End.Cause) && e.End.Result != policy.Success {
		text = w.colour(bad, text)
	}
	if !e.End.Restart && e.End.Why != "" && e.End.Cause != history.StopRequested {
		text += "; no restart: " + e.End.Why
	}
	return text
}

// summary is a table: by service its runs, what ended them, how long it was up,
// and what came last.
func (w *Writer) summary() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVICE\tRUNS\tUP\tLAST\tCAUSES")
	for _, s := range w.sums.all {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n",
			shortName(s.unit), s.runs, syntax.AboutDuration(s.up), orDash(string(s.last)), orDash(s.counted()))
	}
	_ = table.Flush() // to memory, which takes all
	head, rows, _ := strings.Cut(text.String(), "\n")
	return "\n" + w.colour(bold, head) + "\n" + rows
}

// counted are the causes with their numbers: "exit-code 3, stop-requested 1".
func (s *sum) counted() string {
	var parts []string
	for _, cause := range history.Causes() {
		if n := s.causes[cause]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", cause, n))
		}
	}
	return strings.Join(parts, ", ")
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// shortName is a unit's name as people say it.
func shortName(unit string) string { return strings.TrimSuffix(unit, ".service") }

// join adds what is known beside, if anything.
func join(what, more string) string {
	if more == "" {
		return what
	}
	return what + ": " + more
}

// beyondReady is what a status says beside that the service is ready.
func beyondReady(status string) string {
	if status == "ready" {
		return ""
	}
	return strings.TrimPrefix(status, "ready, ")
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
