package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/history"
)

// exported writes entries of journalctl -o json as -o export does; binary ones
// where blob says so.
func exported(t testing.TB, lines string, blob func(name string) bool) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range strings.Lines(lines) {
		var fields map[string]string
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for name := range fields {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !blob(name) {
				fmt.Fprintf(&out, "%s=%s\n", name, fields[name])
				continue
			}
			out.WriteString(name + "\n")
			_ = binary.Write(&out, binary.LittleEndian, uint64(len(fields[name])))
			out.WriteString(fields[name] + "\n")
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func recording(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/257.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fileEntries(t *testing.T, in io.Reader) ([]history.Entry, Report, error) {
	t.Helper()
	var got []history.Entry
	report, err := (&File{In: in, KeepLines: 1}).Read(t.Context(), Query{Unit: "x.service"}, func(e history.Entry) { got = append(got, e) })
	return got, report, err
}

func TestBothFormsOfAnExportTellTheSame(t *testing.T) {
	text := recording(t)
	want, report, err := fileEntries(t, strings.NewReader(text))
	if err != nil || report.Skipped > 0 || len(want) < 100 {
		t.Fatalf("json: %d entries, %+v, %v", len(want), report, err)
	}
	for name, blob := range map[string]func(string) bool{
		"text":   func(string) bool { return false },
		"binary": func(name string) bool { return !strings.HasPrefix(name, "__") },
	} {
		got, report, err := fileEntries(t, bytes.NewReader(exported(t, text, blob)))
		if err != nil || report.Skipped > 0 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -json +export\n%s", name, diff)
		}
	}
}

// TestACutExportTellsWhatItHas: wherever it ends, what is whole is read, and
// that it was cut is said.
func TestACutExportTellsWhatItHas(t *testing.T) {
	lines := strings.SplitAfter(recording(t), "\n")[:3]
	whole := exported(t, strings.Join(lines, ""), func(name string) bool { return name == "MESSAGE" || name == "UNIT" })
	for end := 1; end < len(whole); end++ {
		got, report, err := fileEntries(t, bytes.NewReader(whole[:end]))
		if err != nil && !errors.Is(err, ErrNoExport) || len(got) > len(lines) || report.Skipped != 0 {
			t.Errorf("cut after %d bytes: %d entries, %+v, %v", end, len(got), report, err)
		}
		if err == nil && !report.Cut && whole[end-1] != '\n' {
			t.Errorf("cut after %d bytes, in a line, and nothing is said of it: %+v", end, report)
		}
	}
	second := len(exported(t, strings.Join(lines[:2], ""), func(name string) bool { return name == "MESSAGE" || name == "UNIT" }))
	got, report, err := fileEntries(t, bytes.NewReader(whole[:second+bytes.Index(whole[second:], []byte("UNIT\n"))+8]))
	if err != nil || len(got) != 2 || !report.Cut || report.Skipped != 0 {
		t.Errorf("cut in a field: %d entries, %+v, %v", len(got), report, err)
	}
	got, report, err = fileEntries(t, strings.NewReader(strings.Join(lines[:2], "")+lines[2][:len(lines[2])/2]))
	if err != nil || len(got) != 2 || !report.Cut || report.Skipped != 0 {
		t.Errorf("json, cut in a line: %d entries, %+v, %v", len(got), report, err)
	}
}

func TestWhatNoJournalctlHasWrittenIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a log":         "Dec 01 03:00:00 host systemd[1]: Started x.service.\nDec 01 03:00:01 host systemd[1]: Stopped\n",
		"other fields":  "A=1\nB=2\n\n",
		"other json":    `{"a":1}`,
		"json-pretty":   "{\n\t\"__REALTIME_TIMESTAMP\" : \"1\",\n\t\"UNIT\" : \"x.service\"\n}\n",
		"a huge field":  "MESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xff",
		"binary":        "\x00\x01\x02",
		"no newline":    "MESSAGE\n\x01\x00\x00\x00\x00\x00\x00\x00xy",
		"only newlines": "\n\n\n",
	} {
		if got, _, err := fileEntries(t, strings.NewReader(text)); !errors.Is(err, ErrNoExport) || len(got) > 0 {
			t.Errorf("%s: %d entries, %v; want that it is no export", name, len(got), err)
		}
	}
	if got, report, err := fileEntries(t, strings.NewReader("")); err != nil || len(got) > 0 || report.Skipped > 0 {
		t.Errorf("an empty one: %v, %+v, %v; there may have been no entries", got, report, err)
	}
}

func TestAHugeFieldOfAnExportTakesNoMemory(t *testing.T) {
	var head bytes.Buffer
	head.WriteString("__REALTIME_TIMESTAMP=1\nMESSAGE\n")
	_ = binary.Write(&head, binary.LittleEndian, uint64(64<<20))
	in := io.MultiReader(&head, io.LimitReader(repeat('x'), 64<<20), strings.NewReader("\nUNIT=x.service\n\n"))
	got, report, err := fileEntries(t, in)
	if err != nil || len(got) != 1 || got[0].Unit != "x.service" || got[0].Message != "" || report.Skipped > 0 {
		t.Errorf("%+v, %+v, %v", got, report, err)
	}
}

func TestTheLastLinesOfEachRunAreKept(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		for _, run := range []string{"a", "b"} {
			fmt.Fprintf(&text, "__REALTIME_TIMESTAMP=1\n_SYSTEMD_UNIT=x.service\n_SYSTEMD_INVOCATION_ID=%s\nMESSAGE=%s%d\n\n", run, run, i)
		}
		fmt.Fprintf(&text, "__REALTIME_TIMESTAMP=1\n_SYSTEMD_UNIT=y.service\n_SYSTEMD_INVOCATION_ID=a\nMESSAGE=forged\n\n")
	}
	f := &File{In: strings.NewReader(text.String()), KeepLines: 3}
	if _, err := f.Read(t.Context(), Query{Unit: "x.service"}, func(history.Entry) {}); err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{"a", "b"} {
		want := []string{run + "97", run + "98", run + "99"}
		if got, err := f.Tail(t.Context(), Query{Unit: "x.service"}, history.Lines{ID: run}, 3); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if got, _ := f.Tail(t.Context(), Query{Unit: "x.service"}, history.Lines{ID: "c"}, 3); len(got) > 0 {
		t.Errorf("of a run that has none: %q", got)
	}
}

func TestTheLinesOfManyRunsHaveABound(t *testing.T) {
	kept := tails{most: 2}
	for i := range 3 * maxTails {
		for range 10 {
			kept.add(fmt.Sprint(i), "line")
		}
	}
	if len(kept.of) != maxTails || len(kept.groups) != maxTails || kept.of[group{id: fmt.Sprint(3*maxTails - 1)}] == nil {
		t.Errorf("%d runs kept, want the newest %d", len(kept.of), maxTails)
	}
}

func TestTailAsksForOneRunsOwnLines(t *testing.T) {
	r, calls := fake(t, `echo '{"__REALTIME_TIMESTAMP":"1","MESSAGE":"first"}'; echo '{"__REALTIME_TIMESTAMP":"2","MESSAGE":"second"}'`)
	got, err := r.Tail(t.Context(), Query{Unit: "x.service"}, history.Lines{ID: "abc"}, 5)
	if err != nil || !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("%q, %v", got, err)
	}
	if want := " --lines=5 _SYSTEMD_UNIT=x.service _SYSTEMD_INVOCATION_ID=abc"; !strings.HasSuffix(calls()[0], want) {
		t.Errorf("called with %q, want %q at the end", calls()[0], want)
	}
}

func TestTailAsksByTimeWhereTheIDTellsNothing(t *testing.T) {
	r, calls := fake(t, `echo '{"__REALTIME_TIMESTAMP":"1500000","MESSAGE":"of nobody"}'; for n in 1 2 3; do echo '{"__REALTIME_TIMESTAMP":"1500000","_SYSTEMD_INVOCATION_ID":"a","MESSAGE":"'$n'"}'; done`)
	lines := history.Lines{Since: time.UnixMicro(1000000), Until: time.UnixMicro(2000000)}
	for n, want := range map[int][]string{2: {"2", "3"}, 5: {"1", "2", "3"}} {
		if got, err := r.Tail(t.Context(), Query{Unit: "x.service"}, lines, n); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d lines: %q, %v; want %q", n, got, err, want)
		}
	}
	call := calls()[0]
	if !strings.Contains(call, " --since=@1.000000 --until=@1.999999 --lines=") || !strings.HasSuffix(call, " _SYSTEMD_UNIT=x.service") {
		t.Errorf("called with %q", call)
	}
}

// TestLinesUnderOneIDAreKeptForEachRun: the ends of the hold-offs part them.
func TestLinesUnderOneIDAreKeptForEachRun(t *testing.T) {
	var text strings.Builder
	for run := range 4 {
		for i := range 100 {
			fmt.Fprintf(&text, "__REALTIME_TIMESTAMP=%d\n_SYSTEMD_UNIT=x.service\n_SYSTEMD_INVOCATION_ID=a\nMESSAGE=%d of run %d\n\n", 100*run+10, i, run)
		}
		fmt.Fprintf(&text, "__REALTIME_TIMESTAMP=%d\n_PID=7\nUNIT=x.service\nMESSAGE_ID=5eb03494b6584870a536b337290809b3\n\n", 100*run+50) // forged
		fmt.Fprintf(&text, "__REALTIME_TIMESTAMP=%d\n_PID=1\nUNIT=x.service\nMESSAGE_ID=5eb03494b6584870a536b337290809b3\n\n", 100*run+99)
	}
	f := &File{In: strings.NewReader(text.String()), KeepLines: 2}
	if _, err := f.Read(t.Context(), Query{Unit: "x.service"}, func(history.Entry) {}); err != nil {
		t.Fatal(err)
	}
	end := func(run int) time.Time { return time.UnixMicro(int64(100*run + 99)) }
	for run, lines := range []history.Lines{{ID: "a", Until: end(0)}, {Since: end(0), Until: end(1)}, {Since: end(1), Until: end(2)}, {Since: end(2)}} {
		want := []string{fmt.Sprintf("98 of run %d", run), fmt.Sprintf("99 of run %d", run)}
		if got, err := f.Tail(t.Context(), Query{Unit: "x.service"}, lines, 2); err != nil || !slices.Equal(got, want) {
			t.Errorf("run %d: %q, %v; want %q", run, got, err, want)
		}
	}
}

// TestOfTheUnitsOwnLinesTheFirstOfEachRunIsDecoded: the others may be a million.
func TestOfTheUnitsOwnLinesTheFirstOfEachRunIsDecoded(t *testing.T) {
	const own = `{"_SYSTEMD_INVOCATION_ID":"a","_SYSTEMD_UNIT":"x\\x2d.service"}`
	const others = `{"_SYSTEMD_INVOCATION_ID":"a","_SYSTEMD_UNIT":"y.service"}`
	pick := newPicker(`x\x2d.service`)
	for i, test := range []struct {
		line string
		want bool
	}{
		{own, false}, {`{"UNIT":"x.service"}`, true}, {`{"UNIT":"x.service"}`, true}, {`{"MESSAGE":"x"}`, false}, {others, false},
		{own, true}, {own, false}, {`{"USER_UNIT":"x.service"}`, true}, {own, true}, {own, false},
	} {
		if got := pick.wants([]byte(test.line)); got != test.want {
			t.Errorf("line %d, %s: %t", i+1, test.line, got)
		}
	}
}

func FuzzExport(f *testing.F) {
	lines := strings.Join(strings.SplitAfter(recording(f), "\n")[:4], "")
	f.Add(exported(f, lines, func(string) bool { return false }))
	f.Add(exported(f, lines, func(string) bool { return true }))
	f.Add([]byte(lines))
	f.Add([]byte("__REALTIME_TIMESTAMP=1\nMESSAGE\n\x01\x00\x00\x00\x00\x00\x00\x00x\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries := 0
		_, _ = scanExport(bufio.NewReader(bytes.NewReader(data)), func() bool { return true }, func(e history.Entry) {
			entries++
			for _, s := range []string{e.Message, e.Unit, e.Invocation} {
				if len(s) > maxField {
					t.Errorf("a field of %d bytes came through", len(s))
				}
			}
		})
		if entries > len(data) {
			t.Errorf("%d entries in %d bytes", entries, len(data))
		}
	})
}
