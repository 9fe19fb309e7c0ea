package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/journal"
	"github.com/svckit/svckit/internal/syntax"
)

// All that a user sees of text stands here, but for the one-line errors beside
// their checks. The rules: the answer goes to stdout and nothing else does; what
// is wrong goes to stderr as one line, "svcstat: " before it, lower case, no full
// stop; what is not known is shown as a -; times have no fractions in tables,
// and the zone in the heading only with --utc; colour on a terminal only, and never
// alone: what it says stands in words, too.

const (
	appAbout = `Tells how often a service was restarted, why each of its runs ended, and what
happens next: of any service of systemd's, whether svcrun runs it or not.`
	appExits = `0 done, whatever became of the service; 1 no source could be
asked, or the job failed; 4 there is no such unit; 64 usage; 65 the file of
--journal-file is no exported journal`

	oneUnitText = "%s wants one UNIT, not %d; use for example svcstat %s nginx"

	listUsage       = "lists services with their restarts, last cause and next restart"
	listDescription = `A PATTERN is the name of a service, where "nginx" means nginx.service, or a glob
over those that are loaded. Without one all are listed that run, start, stop,
wait for a restart or have failed; what is just not running only with --all, or
if its name is given in full. The last cause is shown while the service is down:
history tells those of earlier runs.

Examples:
  svcstat list --failed --restarting    what needs a look
  svcstat list 'worker@*'`

	historyUsage       = "shows every run of a service: when, how long, why it ended, the delay to the next"
	historyDescription = `UNIT is the name of a service; "nginx" means nginx.service. The newest run comes
last. The runs come from the journal and from svcrun's records, and what is on
now from D-Bus; what could not be asked is said on standard error. Of a process
that was gone at once the journal may not know which run it was of: --tail
leaves out what it printed, and journalctl -u UNIT shows it. With
RestartMode=direct it has all runs of a burst under the first: the time tells
whose a line is.

Examples:
  svcstat history nginx --since=2d --cause=oom --cause=signal
  svcstat history nginx --tail=5        with the last words of each run
  ssh web1 journalctl -o export | svcstat history nginx --journal-file=-`

	whyUsage       = "explains a service: its state, why it ended, why no restart came, what to do"
	whyDescription = `UNIT is the name of a service; "nginx" means nginx.service. The answer goes by
the manager's own rules and by what the journal and svcrun's records have. What
none of them tells is said to be unknown.`

	forgetUsage       = "forgets the failures of a service: restart counter, start limit, svcrun's delay"
	forgetDescription = `UNIT is the name of a service; "nginx" means nginx.service. This is systemctl
reset-failed and, where the service's svcrun holds starts back after failures,
svcrun --forget as well. A service that runs goes on; nothing is started. Root
may do that, and who polkit lets manage units.`

	formatUsage      = "print as `FORMAT`: text or json"
	jsonUsage        = "short for --format=json"
	utcUsage         = "show times in UTC"
	userUsage        = "services of the user's own manager, not the system's"
	noPagerUsage     = "print long output on a terminal as it is, not in a pager"
	failedUsage      = "only services that have failed, or whose restart has"
	restartingUsage  = "only services that wait for their next automatic restart; with --failed those too"
	allUsage         = "list services that are just not running as well"
	lastUsage        = "only the last `N` runs"
	sinceUsage       = "only runs that had not ended by `TIME`: 2h, 3d, 2026-01-31 15:04, 15:04, today, yesterday"
	journalFileUsage = "read an exported journal in `FILE` (- for stdin), as of another machine: journalctl -o export or -o json"
	tailUsage        = "show the last `N` lines of each run's own output, of the last 10 runs where -n does not say"
	stateDirUsage    = "read svcrun's records in `DIR`, not where the unit has them (/var/lib/svckit/NAME)"
	causeUsage       = "only runs that ended for that `CAUSE`, such as unhealthy; may be given again"
)

func errorLine(err error) string {
	return "svcstat: " + strings.ReplaceAll(err.Error(), "\n", "; ")
}

// missingSources says what could not be asked, and what is shown instead.
func missingSources(rec record, missing absent) []string {
	var lines []string
	add := func(what string, err error, shown string) {
		lines = append(lines, errorLine(fmt.Errorf("%s: %w; showing %s", what, err, shown)))
	}
	records := " and svcrun's records"
	if !rec.records {
		records = ""
	}
	switch {
	case missing.journal != nil && missing.bus != nil:
		add("no history from the journal", missing.journal, "svcrun's records only")
		lines = append(lines, errorLine(fmt.Errorf("no answer from D-Bus: %w", missing.bus)))
	case missing.journal != nil && rec.records:
		add("no history from the journal", missing.journal, "what D-Bus and svcrun's records tell")
	case missing.journal != nil:
		add("no history from the journal", missing.journal, "what D-Bus tells of the last run")
	case missing.bus != nil:
		add("no answer from D-Bus", missing.bus, "the journal"+records+" only")
	case rec.state != nil && rec.state.HidesHistory && !rec.records:
		lines = append(lines, "svcstat: "+rec.unit+" hides its own history: its LogLevelMax= keeps the manager's lines "+
			"about it out of the journal; remove it, or set it to info")
	}
	return lines
}

// recordWarnings are the records of svcrun's that cannot be read.
func recordWarnings(errs []error) []string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, errorLine(fmt.Errorf("a record of svcrun's is left out: %w", err)))
	}
	return lines
}

// noRuns says that no run is as was asked for. With --since not all are read, so
// that there is no number of them.
func noRuns(r record, since time.Time, zone *time.Location) string {
	switch {
	case len(r.runs) == 0:
		return fmt.Sprintf("svcstat: no run of %s is on record", r.unit)
	case !since.IsZero():
		return fmt.Sprintf("svcstat: no such run of %s since %s%s is on record", r.unit, timeText(since, zone), zoneHead(zone))
	}
	return fmt.Sprintf("svcstat: no such run of %s among %d on record", r.unit, len(r.runs))
}

func unknownUnit(name string, near []string) error {
	if len(near) == 0 {
		return fmt.Errorf("unit %s could not be found", name)
	}
	return fmt.Errorf("unit %s could not be found; did you mean %s", name, strings.Join(near, ", "))
}

// journalWarnings are the lines that journalctl said, one for what of its output
// was not readable, and one for an export without its end.
func journalWarnings(report journal.Report) []string {
	var lines []string
	for _, w := range report.Warnings {
		lines = append(lines, "svcstat: journalctl: "+w)
	}
	if report.Skipped > 0 {
		entries := "1 entry of the journal was"
		if report.Skipped > 1 {
			entries = fmt.Sprintf("%d entries of the journal were", report.Skipped)
		}
		lines = append(lines, "svcstat: "+entries+" not readable and left out")
	}
	if report.Cut {
		lines = append(lines, "svcstat: flag --journal-file: the export is cut off in the middle of an entry; what comes before it is shown")
	}
	return lines
}

// forgotText says what was forgotten, a line for each who did.
func forgotText(doc forgetDocument) string {
	text := doc.Unit + ": systemd has forgotten " + counted(doc.Restarts, "automatic restart")
	if doc.Failed {
		text += ", that the unit has failed,"
	}
	text += " and the starts that its start limit had counted\n"
	if doc.Failures != nil {
		text += doc.Unit + ": svcrun has forgotten " + counted(*doc.Failures, "failed run") + "\n"
	}
	return text
}

// counted is a number of things.
func counted(n int, thing string) string {
	switch n {
	case 0:
		return "no " + thing
	case 1:
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// progressLine tells how far a scan is, and is written over by the next one or
// by progressGone.
func progressLine(entries int64) string {
	return fmt.Sprintf("\r\x1b[Ksvcstat: reading the journal; %d entries of the unit so far", entries)
}

const progressGone = "\r\x1b[K"

// none is shown where nothing is known, or there is nothing.
const none = "-"

func historyTable(runs []history.Run, tails [][]string, now time.Time, zone *time.Location) table {
	t := table{cuts: []int{4}}
	t.add(row(faint, "#", "STARTED"+zoneHead(zone), "READY AFTER", "UP", "CAUSE", "NEXT AFTER")...)
	for i, r := range runs {
		started, ready, up, delay := none, none, none, none
		if !r.Started.IsZero() {
			started = timeText(r.Started, zone)
		}
		if d, ok := r.ReadyAfter(); ok {
			ready = syntax.AboutDuration(d)
		}
		if d, ok := upTime(r, now); ok {
			up = syntax.AboutDuration(d)
		}
		if r.Delay > 0 {
			delay = syntax.AboutDuration(r.Delay)
		}
		cause, look := runCause(r)
		t.add(
			cell{strconv.Itoa(r.Number), faint}, cell{started, plain}, cell{ready, plain},
			cell{up, plain}, cell{cause, look}, cell{delay, plain},
		)
		if tails != nil {
			t.below(tailText(r, tails[i])...)
		}
	}
	return t
}

// tailText are the lines below a run: what it said last, as text that no
// terminal obeys. The first failure of a burst is marked: it is the one to read.
func tailText(r history.Run, lines []string) []string {
	var out []string
	if r.FirstFailure {
		out = append(out, "   the first of the failures in a row:")
	}
	for _, line := range lines {
		out = append(out, "   | "+printable(line))
	}
	if len(lines) == 0 && !r.Cause.Refused() {
		out = append(out, "   | (no output on record)")
	}
	return out
}

// printable is a line without what a terminal would obey. The journal's readers know
// one that is too long as an empty one, which services hardly have: journald drops
// those that they print.
func printable(line string) string {
	if line == "" {
		return "(a line that is empty, or too long to be shown)"
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\t':
			return ' '
		case !unicode.IsPrint(c):
			return unicode.ReplacementChar
		}
		return c
	}, line)
}

// runCause is the cell that says why a run ended.
func runCause(r history.Run) (string, style) {
	switch r.Cause {
	case "":
		if r.Running {
			return "running", good
		}
		return "no end on record", plain
	case history.Clean, history.StopRequested:
		return endText(r.End), plain
	default:
		return endText(r.End), bad
	}
}

// endText is a cause with what is known beside it, in the form of svcrun's
// end line. Codes that the cause implies are left out.
func endText(end history.End) string {
	parts := []string{string(end.Cause)}
	if code, ok := end.Exit.Code(); ok && !impliesCode(end.Cause, code) {
		parts = append(parts, "code="+strconv.Itoa(code))
	}
	if signal, ok := end.Exit.Signal(); ok {
		parts = append(parts, "signal="+signal.Name())
	}
	for _, f := range end.Detail {
		parts = append(parts, f.String())
	}
	return strings.Join(parts, " ")
}

// impliesCode knows svcrun's own exit codes, and the manager's for exec.
func impliesCode(cause history.Cause, code int) bool {
	switch cause {
	case history.Unhealthy:
		return code == 69
	case history.StartTimeout:
		return code == 70
	case history.Exec:
		return code == 203
	case history.Clean, history.Protocol:
		return code == 0
	default:
		return false
	}
}

func zoneHead(zone *time.Location) string {
	if zone == time.UTC {
		return " (UTC)"
	}
	return ""
}

func timeText(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("2006-01-02 15:04:05")
}
