package history

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEndLineHasItsFixedForm(t *testing.T) {
	for want, line := range map[string]EndLine{
		`svcrun: end cause=clean`:            {Cause: Clean},
		`svcrun: end cause=exit-code code=3`: {Cause: ExitCode, Fields: []Field{{"code", "3"}}},
		`svcrun: end cause=unhealthy check=http://127.0.0.1:8080/live?a=b after=3 last="timeout 2s"`: {
			Cause:  Unhealthy,
			Fields: []Field{{"check", "http://127.0.0.1:8080/live?a=b"}, {"after", "3"}, {"last", "timeout 2s"}},
		},
		`svcrun: end cause=start-timeout last=""`:                   {Cause: StartTimeout, Fields: []Field{{"last", ""}}},
		`svcrun: end cause=signal last="a\nb\x1b[31m \"q\" \\ é"`:   {Cause: Signal, Fields: []Field{{"last", "a\nb\x1b[31m \"q\" \\ é"}}},
		`svcrun: end cause=stop-timeout last="not UTF-8: \xff\xfe"`: {Cause: StopTimeout, Fields: []Field{{"last", "not UTF-8: \xff\xfe"}}},
	} {
		if got := line.Format(); got != want {
			t.Errorf("Format() = %s\n      want %s", got, want)
		}
		got, ok := ParseEndLine(want)
		if !ok {
			t.Errorf("ParseEndLine(%s) is no end line", want)
		}
		if diff := cmp.Diff(line, got); diff != "" {
			t.Errorf("ParseEndLine(%s): -want +got\n%s", want, diff)
		}
	}
}

func TestWhatIsNoEndLineIsNotRead(t *testing.T) {
	for _, s := range []string{
		"", "svcrun: end", "svcrun: end ", "svcrun: end cause=", "svcrun: end cause=tired", "svcrun: end cause=CLEAN",
		"svcrun: end reason=clean", " svcrun: end cause=clean", "<6>svcrun: end cause=clean",
		"svcrun: end cause=clean ", "svcrun: end cause=clean  code=3", "svcrun: end cause=clean code",
		"svcrun: end cause=clean code=", "svcrun: end cause=clean =3", "svcrun: end cause=clean Code=3",
		"svcrun: end cause=clean a b=3", `svcrun: end cause=clean a="x`, `svcrun: end cause=clean a="x"y`,
		`svcrun: end cause=clean a="\q"`, `svcrun: end cause=clean a=x"y`, "svcrun: end cause=clean a=x\ty",
		"svcrun: end cause=clean a=é", `svcrun: end cause=clean a="x" `, "svcrun: end cause=clean\n",
		"svcrun: end cause=clean " + strings.Repeat("k", 33) + "=1",
		"svcrun: end cause=clean a=" + strings.Repeat("x", 257),
		"svcrun: end cause=clean a=" + strings.Repeat("x", maxEndLine),
		"svcrun: end cause=clean a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9",
	} {
		if line, ok := ParseEndLine(s); ok {
			t.Errorf("ParseEndLine(%q) = %v, want no end line", s, line)
		}
	}
}

func TestFormatKeepsToItsBounds(t *testing.T) {
	long := strings.Repeat("é", 200) // 400 bytes
	line := EndLine{Cause: "no such cause", Fields: []Field{
		{"last", long}, {"Bad Key", "x"}, {"", "x"},
		{"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}, {"f", "6"}, {"g", "7"}, {"h", "8"}, {"i", "9"},
	}}
	got, ok := ParseEndLine(line.Format())
	if !ok {
		t.Fatalf("Format printed what ParseEndLine does not read: %s", line.Format())
	}
	if got.Cause != Unknown {
		t.Errorf("a cause without a name became %q, want %q", got.Cause, Unknown)
	}
	if len(got.Fields) != 8 || got.Fields[7].Key != "h" {
		t.Errorf("fields %v, want the first eight well-formed ones", got.Fields)
	}
	if v := got.Fields[0].Value; len(v) > 256 || !strings.HasSuffix(v, "é…") {
		t.Errorf("the long value became %q (%d bytes), want at most 256, cut between characters", v, len(v))
	}
}

// TestFormatAndParseAgree: whatever svcrun is given to say, svcstat reads the
// same, but for the bounds that Format documents.
func TestFormatAndParseAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := EndLine{Cause: rapid.SampledFrom(Causes()).Draw(t, "cause")}
		for range rapid.IntRange(0, maxFields).Draw(t, "fields") {
			line.Fields = append(line.Fields, Field{
				Key:   rapid.StringMatching(`[a-z0-9-]{1,32}`).Draw(t, "key"),
				Value: clip(string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "value"))),
			})
		}
		text := line.Format()
		if strings.ContainsAny(text, "\n\r\x00\x1b") {
			t.Fatalf("control characters in %q", text)
		}
		got, ok := ParseEndLine(text)
		if !ok {
			t.Fatalf("no end line: %s", text)
		}
		if diff := cmp.Diff(line, got); diff != "" {
			t.Fatalf("-given +read\n%s", diff)
		}
	})
}

func FuzzParseEndLine(f *testing.F) {
	f.Add(`svcrun: end cause=unhealthy check=http://h/ after=3 last="timeout 2s"`)
	f.Add(`svcrun: end cause=clean`)
	f.Add(`svcrun: end cause=signal signal=SEGV a="\x00\u00e9\""`)
	f.Add(`svcrun: end cause=exec a=`)
	f.Fuzz(func(t *testing.T, s string) {
		line, ok := ParseEndLine(s)
		if !ok {
			return
		}
		again, ok := ParseEndLine(line.Format())
		if !ok {
			t.Fatalf("read %q, but not what Format makes of it: %q", s, line.Format())
		}
		if diff := cmp.Diff(line, again); diff != "" {
			t.Fatalf("%q changes on its way:\n%s", s, diff)
		}
	})
}
