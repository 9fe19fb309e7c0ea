package docs_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/internal/docs"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen"
)

// compare compares a page with what it would be with the generated text in it,
// or writes that.
func compare(t *testing.T, file, name, text string) {
	t.Helper()
	page := readFile(t, file)
	want, err := docs.Splice(page, name, text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, file), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("%s: %s differs; run go test -update if that is meant\n%s", file, name, diff)
	}
}

// timeLines are the services whose restarts docs/restarts.md tells, each by the
// policy above it: how its runs go, and how many starts are told.
var timeLines = map[string]struct {
	runs   iter.Seq[policy.Run]
	starts int
}{
	"the defaults":       {policy.Always(failing(100 * time.Millisecond)), 9},
	"give up":            {policy.Always(failing(100 * time.Millisecond)), 9},
	"jitter":             {policy.Always(failing(100 * time.Millisecond)), 7},
	"stable after a day": {runs(failing(time.Second), failing(time.Second), failing(time.Second), failing(24*time.Hour), failing(time.Second)), 6},
	"storm":              {policy.Always(failing(100 * time.Millisecond)), 11},
	"never on":           {runs(exiting(1), exiting(78)), 3},
	"a clean end":        {runs(exiting(1), exiting(0)), 3},
}

// failing is a run that exits 1 after so long, and exiting one that lasts a second.
func failing(lasts time.Duration) policy.Run {
	run := exiting(1)
	run.Lasts = lasts
	return run
}

func exiting(code int) policy.Run {
	end := policy.End{Result: policy.ExitCode, Main: policy.Exit{How: policy.Exited, Code: code}}
	if code == 0 {
		end.Result = policy.Success
	}
	return policy.Run{Lasts: time.Second, End: end}
}

// runs are these runs, and then as many as are wanted like the last.
func runs(some ...policy.Run) iter.Seq[policy.Run] {
	return func(yield func(policy.Run) bool) {
		for i := 0; yield(some[min(i, len(some)-1)]); i++ {
		}
	}
}

func TestTimeLinesOfTheDocsAreSimulated(t *testing.T) {
	const file = "docs/restarts.md"
	blocks, marks := marked(t, readPage(t, file), docs.Part, docs.Generated)
	found := 0
	for i, mark := range marks {
		line, known := timeLines[mark.Name]
		if !known || i == 0 {
			continue
		}
		found++
		told := restartsOf(t, blocks[i-1], marks[i-1], "debian13")
		compare(t, file, mark.Name, timeLine(told, line.runs, line.starts))
		// The page says that the starts come after the same time on every target.
		want := begun(told, line.runs, line.starts)
		for _, target := range unitgen.Targets() {
			got := begun(restartsOf(t, blocks[i-1], marks[i-1], target.Name), line.runs, line.starts)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: on %s the starts of %q come at other times\n%s", file, target.Name, mark.Name, diff)
			}
		}
	}
	if found != len(timeLines) {
		t.Errorf("%s has %d time lines of %d", file, found, len(timeLines))
	}
}

// restartsOf is how a target restarts the service of a block.
func restartsOf(t *testing.T, block docs.Block, mark docs.Mark, name string) policy.Restarts {
	t.Helper()
	target, err := unitgen.LookupTarget(name)
	if err != nil {
		t.Fatal(err)
	}
	policies, err := unitgen.Read(block.Place, []byte(completed(block, mark)))
	if err != nil {
		t.Fatal(err)
	}
	derived, _, err := unitgen.Derive(policies[0], target)
	if err != nil {
		t.Fatal(err)
	}
	return derived.Restarts.Restarts
}

// simulated are the first starts of a simulation.
func simulated(r policy.Restarts, runs iter.Seq[policy.Run], starts int, c policy.Conditions) []policy.Start {
	var all []policy.Start
	for start := range r.Simulate(runs, c) {
		if all = append(all, start); len(all) == starts {
			break
		}
	}
	return all
}

// begun is when the service is executed at each start, on timers that are on time
// and without jitter, to the millisecond.
func begun(r policy.Restarts, runs iter.Seq[policy.Run], starts int) []time.Duration {
	var all []time.Duration
	for _, start := range simulated(r, runs, starts, policy.Conditions{}) {
		if start.Verdict.Allowed() {
			all = append(all, start.Begun.Round(time.Millisecond))
		}
	}
	return all
}

// timeLine tells a simulation, with the least and the most that late timers and
// jitter make of it.
func timeLine(r policy.Restarts, runs iter.Seq[policy.Run], starts int) string {
	simulate := func(late, jitter policy.Random) []policy.Start {
		return simulated(r, runs, starts, policy.Conditions{Late: late, Jitter: jitter})
	}
	least, jittered, most := simulate(policy.Least, policy.Least), simulate(policy.Least, policy.Most), simulate(policy.Most, policy.Most)
	var out strings.Builder
	row := func(start, begins, then string) { fmt.Fprintf(&out, "%-7s%-22s%s\n", start, begins, then) }
	row("start", "begins after", "and then")
	for i, s := range least {
		number, begins := strconv.Itoa(s.Number), between(s.Begun, most[i].Begun)
		ends := fmt.Sprintf("fails after %s", seconds(s.Ended-s.Begun))
		switch {
		case !s.Verdict.Allowed():
			row(number, "-", "never happens: "+s.Verdict.String())
		case !s.Next.Restart:
			row(number, begins, "stays down: "+s.Next.Why)
		case i+1 < len(least) && least[i+1].Verdict.Allowed():
			row(number, begins, ends+", waits "+between(least[i+1].Begun-s.Ended, jittered[i+1].Begun-jittered[i].Ended))
		case i+1 < len(least):
			row(number, begins, ends+", waits "+seconds(s.Wait))
		default:
			row(number, begins, "…")
		}
	}
	return out.String()
}

// between is a span with both its ends, or the one that they are.
func between(least, most time.Duration) string {
	if seconds(most) == seconds(least) {
		return seconds(least)
	}
	return seconds(least) + " to " + seconds(most)
}

// seconds is a span as a person likes it: to the hundredth of a second, or to
// the second where it is longer than a minute.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return d.Round(10 * time.Millisecond).String()
	}
	return syntax.FormatDuration(d.Round(time.Second))
}

// ends are the ends of runs of which docs/restarts.md says what follows.
var ends = []struct {
	name string
	end  policy.End
}{
	{"exit 0", exiting(0).End},
	{"exit 1, and any other code", exiting(1).End},
	{"unhealthy: exit 69", exiting(69).End},
	{"not ready in time: exit 70", exiting(70).End},
	{"SIGTERM from elsewhere", killed(policy.Success, syntax.SIGTERM)},
	{"SIGKILL from elsewhere", killed(policy.KilledBySignal, syntax.SIGKILL)},
	{"a crash with a core", policy.End{Result: policy.CoreDump, Main: policy.Exit{How: policy.Dumped, Signal: syntax.SIGABRT}}},
	{"out of memory", killed(policy.OOMKill, syntax.SIGKILL)},
	{"the watchdog's abort", killed(policy.Watchdog, syntax.SIGABRT)},
	{"systemctl stop, a shutdown", policy.End{Stopped: true}},
}

func killed(result policy.Result, by syntax.Signal) policy.End {
	return policy.End{Result: result, Main: policy.Exit{How: policy.Killed, Signal: by}}
}

func TestTableOfEndsOfTheDocsIsDecided(t *testing.T) {
	var out strings.Builder
	fmt.Fprintf(&out, "%-28s", "")
	for _, when := range policy.RestartValues() {
		fmt.Fprintf(&out, "  %s", when)
	}
	for _, e := range ends {
		fmt.Fprintf(&out, "\n%-28s", e.name)
		for _, when := range policy.RestartValues() {
			answer := "-"
			block := docs.Block{Place: "ends", Text: fmt.Sprintf("restart: {when: %q}\n", when)}
			if restartsOf(t, block, docs.Mark{Role: docs.Part}, "debian13").Rules.Decide(e.end).Restart {
				answer = "yes"
			}
			fmt.Fprintf(&out, "  %-*s", len(when), answer)
		}
	}
	var lines []string
	for line := range strings.Lines(out.String() + "\n") {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	compare(t, "docs/restarts.md", "ends", strings.Join(lines, "\n"))
}
