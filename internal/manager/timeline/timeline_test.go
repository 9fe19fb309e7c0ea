package timeline

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

var update = flag.Bool("update", false, "write what the documents have to be")

var began = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return began.Add(d) }

// story is the life of a service that fails once, and one beside it.
func story() []Event {
	failed := &End{
		Cause: history.ExitCode, Result: policy.ExitCode, Exit: policy.Exit{How: policy.Exited, Code: 3},
		Detail: []history.Field{{Key: "code", Value: "3"}}, Restart: true, Why: "Restart=on-failure, result exit-code",
		Tail: []string{"going down"},
	}
	stopped := &End{Cause: history.StopRequested, Result: policy.Success, Exit: policy.Exit{How: policy.Exited}, Why: "a stop was asked for"}
	killed := &End{
		Cause: history.Unhealthy, Result: policy.CoreDump, Exit: policy.Exit{How: policy.Dumped, Signal: syntax.SIGABRT},
		Detail: []history.Field{{Key: "check", Value: "http://x/"}, {Key: "last", Value: "timeout after 2s"}}, Why: "Restart=no",
	}
	return []Event{
		{Time: at(0), Unit: "worker.service", Name: Starting, Run: 1},
		{Time: at(12 * time.Millisecond), Name: Note, Text: "hello"},
		{Time: at(34 * time.Millisecond), Unit: "worker.service", Name: Ready, Run: 1, After: 34 * time.Millisecond, PID: 7, Text: "ready 1/1, live 1/1"},
		{Time: at(412 * time.Millisecond), Unit: "worker.service", Name: Output, Run: 1, Stream: "stderr", Text: "going down"},
		{Time: at(2105 * time.Millisecond), Unit: "worker.service", Name: Ended, Run: 1, After: 2071 * time.Millisecond, End: failed},
		{Time: at(2105 * time.Millisecond), Unit: "worker.service", Name: Restarting, Run: 1, Delay: time.Second, Text: "Restart=on-failure, result exit-code"},
		{Time: at(3 * time.Second), Unit: "db.service", Name: Starting, Run: 1},
		{Time: at(4 * time.Second), Unit: "db.service", Name: Ended, Run: 1, After: time.Second, End: killed},
		{Time: at(5 * time.Second), Unit: "worker.service", Name: Stopping, Text: "a stop was asked for"},
		{Time: at(5 * time.Second), Unit: "worker.service", Name: Signalled, Signal: "SIGTERM", PID: 8},
		{Time: at(6 * time.Second), Unit: "worker.service", Name: Ended, Run: 2, After: time.Second, End: stopped},
		{Time: at(6 * time.Second), Name: Finished},
	}
}

func written(style Style, events []Event) string {
	w := NewWriter(style, began, []string{"worker.service", "db.service"})
	var out []byte
	for _, e := range events {
		out = w.Append(out, e)
	}
	return string(out)
}

func TestATimeLineReadsAsAStory(t *testing.T) {
	const want = `   0.000s  worker  starting (run 1)
   0.012s  svcgen  hello
   0.034s  worker  ready after 34ms: ready 1/1, live 1/1
   0.412s  worker  | going down
   2.105s  worker  ended: exit code 3 (exit-code), after 2.07s
   2.105s  worker  restart 1 in 1.00s (Restart=on-failure, result exit-code)
   3.000s  db      starting (run 1)
   4.000s  db      ended: SIGABRT with a core dump (unhealthy check=http://x/ last="timeout after 2s"), after 1.00s; no restart: Restart=no
   5.000s  worker  stopping: a stop was asked for
   5.000s  worker  SIGTERM sent
   6.000s  worker  ended: exit code 0 (stop-requested), after 1.00s

SERVICE  RUNS  UP     LAST            CAUSES
worker   1     2.07s  stop-requested  exit-code 1, stop-requested 1
db       1     0ms    unhealthy       unhealthy 1
`
	if diff := cmp.Diff(want, written(Style{}, story())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAStatusIsToldOnceAndNotWhereItSaysNothing(t *testing.T) {
	for _, test := range []struct {
		event Event
		want  string
	}{
		{Event{Name: Ready, Text: "ready"}, "ready after 0ms"},
		{Event{Name: Ready, Text: "ready, live 1/1"}, "ready after 0ms: live 1/1"},
		{Event{Name: Ready, Text: "ready 1/1"}, "ready after 0ms: ready 1/1"},
		{Event{Name: Status, Text: "starting"}, ""},
		{Event{Name: Status, Text: "stopping: stop requested"}, ""},
		{Event{Name: Status, Text: "draining: stop requested"}, "status: draining: stop requested"},
	} {
		test.event.Time = began
		if _, got, _ := strings.Cut(written(Style{}, []Event{test.event}), "svcgen  "); got != test.want+strings.Repeat("\n", min(1, len(test.want))) {
			t.Errorf("%+v: %q; want %q", test.event, got, test.want)
		}
	}
}

func TestTheTimeOfDayIsInUTC(t *testing.T) {
	got := written(Style{UTC: true}, story()[:1])
	if want := "2026-12-01 12:00:00.000  worker  starting (run 1)\n"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

func TestColoursTellServicesApartAndAreOffOtherwise(t *testing.T) {
	coloured := written(Style{Colours: true}, story())
	if !strings.Contains(coloured, "\x1b[36mworker\x1b[0m  ") || !strings.Contains(coloured, "\x1b[33mdb\x1b[0m      ") {
		t.Errorf("names without their colours:\n%q", coloured)
	}
	if plain := written(Style{}, story()); strings.Contains(plain, "\x1b") {
		t.Errorf("colours in\n%q", plain)
	}
}

func TestEveryLineOfJSONIsAnObjectWithItsSchema(t *testing.T) {
	lines := strings.SplitAfter(strings.TrimSuffix(written(Style{JSON: true, Colours: true}, story()), "\n"), "\n")
	if len(lines) != len(story()) {
		t.Fatalf("%d lines; want %d", len(lines), len(story()))
	}
	for i, line := range lines {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil || o["schema"] != 1.0 || o["event"] != string(story()[i].Name) {
			t.Errorf("%v in %s", err, line)
		}
	}
	for i, want := range map[int]string{
		0: `{"schema":1,"event":"starting","time":"2026-12-01T12:00:00.000000Z","unit":"worker.service","run":1,"restarts":0}`,
		2: `{"schema":1,"event":"ready","time":"2026-12-01T12:00:00.034000Z","unit":"worker.service","run":1,"pid":7,"after_usec":34000,"text":"ready 1/1, live 1/1"}`,
		3: `{"schema":1,"event":"output","time":"2026-12-01T12:00:00.412000Z","unit":"worker.service","run":1,"stream":"stderr","text":"going down"}`,
		4: `{"schema":1,"event":"ended","time":"2026-12-01T12:00:02.105000Z","unit":"worker.service","run":1,"after_usec":2071000,"cause":"exit-code","result":"exit-code","exit":{"code":3},"detail":{"code":"3"},"restart":true,"why":"Restart=on-failure, result exit-code","tail":["going down"]}`,
		5: `{"schema":1,"event":"restarting","time":"2026-12-01T12:00:02.105000Z","unit":"worker.service","run":1,"restarts":0,"delay_usec":1000000,"text":"Restart=on-failure, result exit-code"}`,
		11: `{"schema":1,"event":"finished","time":"2026-12-01T12:00:06.000000Z","services":[` +
			`{"unit":"worker.service","runs":1,"causes":{"exit-code":1,"stop-requested":1},"last_cause":"stop-requested","up_usec":2071000},` +
			`{"unit":"db.service","runs":1,"causes":{"unhealthy":1},"last_cause":"unhealthy","up_usec":0}]}`,
	} {
		if got := strings.TrimSuffix(lines[i], "\n"); got != want {
			t.Errorf("event %d:\n%s\nwant\n%s", i, got, want)
		}
	}
}

func TestATerminalIsGivenNothingButColours(t *testing.T) {
	for line, want := range map[string][2]string{ // without colours, with them
		"plain\ttext":                   {"plain\ttext", "plain\ttext"},
		"größer 漢字 👍🏽":                  {"größer 漢字 👍🏽", "größer 漢字 👍🏽"},
		"\x1b[31mred\x1b[0m":            {"red", "\x1b[31mred\x1b[0m\x1b[0m"},
		"\x1b[38;5;1mred":               {"red", "\x1b[38;5;1mred\x1b[0m"},
		"\x1b[2J\x1b[Hgone":             {"gone", "gone"},
		"\x1b]0;title\x07text":          {"text", "text"},
		"\x1b]52;c;ZXZpbA==\x1b\\text":  {"text", "text"},
		"\x1bPq#0\x1b\\text":            {"text", "text"},
		"\x1bctext\x1b(B":               {"text", "text"},
		"\x1b[>4;2mtext":                {"text", "text"},
		"\x1b":                          {`\x1b`, `\x1b`},
		"bell\x07 back\x08 nul\x00\x7f": {`bell\x07 back\x08 nul\x00\x7f`, `bell\x07 back\x08 nul\x00\x7f`},
		"over\rwritten\r\r":             {`over\x0dwritten`, `over\x0dwritten`},
		"\xff\xfe":                      {`\xff\xfe`, `\xff\xfe`},
		"\u009b31mc1":                   {`\x9b31mc1`, `\x9b31mc1`},
		"a\u202eb\u2066c":               {`a\u202eb\u2066c`, `a\u202eb\u2066c`},
	} {
		for i, colours := range []bool{false, true} {
			if got := Printable(line, colours); got != want[i] {
				t.Errorf("%q, colours %v: %q; want %q", line, colours, got, want[i])
			}
		}
	}
}

// FuzzPrintable holds that whatever a service prints, nothing is left in it that
// a terminal would obey but SGR, and that what is printable is left as it is.
func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[31mred\x1b[0m", "\x1b[31;1\x1b[2Kmixed", "\x1b]0;t\x07", "\xff\u202e\u009b", "\x1b["} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if bare := Printable(line, false); hasControls(bare) {
			t.Errorf("%q has controls: %q", line, bare)
		}
		coloured := Printable(line, true)
		for rest := coloured; ; {
			i := strings.IndexByte(rest, 0x1b)
			if i < 0 {
				break
			}
			end := strings.IndexByte(rest[i:], 'm')
			if end < 0 || !isColour(rest[i:i+end+1]) {
				t.Fatalf("%q has more than colours: %q", line, coloured)
			}
			rest = rest[i+end+1:]
		}
		if hasControls(strings.ReplaceAll(coloured, "\x1b", "")) {
			t.Errorf("%q has controls: %q", line, coloured)
		}
	})
}

func hasControls(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 })
}

func TestEveryNameIsInTheDocument(t *testing.T) {
	const path = "../../../docs/identifiers.json"
	if *update {
		if err := os.WriteFile(path, Identifiers(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, Identifiers()) {
		t.Errorf("%s is not what the code has; go test ./internal/manager/timeline -update writes it", path)
	}
	for _, cause := range history.Causes() {
		if meanings[cause] == "" {
			t.Errorf("cause %s has no meaning", cause)
		}
	}
	for _, e := range story() {
		if !strings.Contains(string(got), `"name": "`+string(e.Name)+`"`) {
			t.Errorf("event %s is not in it", e.Name)
		}
	}
}
