package history

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fullRecord has something in every field.
func fullRecord() Record {
	code := 3
	at := func(second int) time.Time { return time.Date(2026, 12, 1, 3, 0, second, 123456000, time.UTC) }
	return Record{
		Schema: 1, Run: 42, Name: "worker.service", InvocationID: strings.Repeat("0123", 8), BootID: strings.Repeat("89ab", 8),
		Version: "1.0", PID: 4711, Ticks: math.MaxUint64, Begun: at(0), Started: at(1), Ready: at(2), Stable: at(3), Stopping: at(4), Ended: at(5),
		Held: &Held{PauseUsec: 60_000_000, DelayUsec: 900_000, Reason: "restart 1: 1s, of which 100ms have passed"},
		End: &RecordEnd{
			Cause: Unhealthy, Code: &code, Signal: "KILL", Core: true, Check: "http://127.0.0.1:8080/live?a=1&b=<2>",
			After: 3, Last: `timeout "2s"`, Left: 2, ClosedBy: NextStart, Before: at(6),
		},
		Phases: []Phase{{Name: "ready", Began: at(2), TookUsec: 2_000_000}, {Name: "stop", Began: at(4), TookUsec: 1, Signal: "TERM", Reason: "unhealthy"}},
		More:   7,
	}
}

// A record is read by the svckits to come, and by scripts: its form is kept.
func TestTheFormOfARecordIsKept(t *testing.T) {
	const path = "testdata/record.json"
	data, err := EncodeRecord(fullRecord())
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(data)); diff != "" {
		t.Errorf("-%s +now:\n%s", path, diff)
	}
	got, err := DecodeRecord(want)
	if diff := cmp.Diff(fullRecord(), got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// anyString is a string of any bytes, or one that is too long.
func anyString() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(0, 40, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(0, 300), func(n int) string { return strings.Repeat(`"`, n) }),
	)
}

// anyTime is a time of any zone and any precision.
func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		zone := time.FixedZone("", rapid.IntRange(-200_000, 200_000).Draw(t, "zone"))
		return time.Unix(rapid.Int64Range(-1e12, 1e12).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).In(zone)
	})
}

// anyRecord is any record that code can make, however little sense it makes.
func anyRecord() *rapid.Generator[Record] {
	return rapid.Custom(func(t *rapid.T) Record {
		s, at, n := anyString(), anyTime(), rapid.Int()
		r := Record{
			Schema: n.Draw(t, "schema"), Run: n.Draw(t, "run"), Name: s.Draw(t, "name"), InvocationID: s.Draw(t, "invocation"),
			BootID: s.Draw(t, "boot"), Version: s.Draw(t, "version"), PID: n.Draw(t, "pid"), Ticks: rapid.Uint64().Draw(t, "ticks"),
			Begun: at.Draw(t, "begun"), Started: at.Draw(t, "started"), Ready: at.Draw(t, "ready"), Stable: at.Draw(t, "stable"),
			Stopping: at.Draw(t, "stopping"), Ended: at.Draw(t, "ended"), More: n.Draw(t, "more"),
		}
		if rapid.Bool().Draw(t, "held") {
			r.Held = &Held{rapid.Int64().Draw(t, "pause"), rapid.Int64().Draw(t, "delay"), s.Draw(t, "reason")}
		}
		if rapid.Bool().Draw(t, "ended") {
			code := n.Draw(t, "code")
			cause := rapid.OneOf(rapid.SampledFrom(Causes()), rapid.Map(s, func(s string) Cause { return Cause(s) }))
			r.End = &RecordEnd{
				Cause: cause.Draw(t, "cause"), Code: &code, Signal: s.Draw(t, "signal"), Core: rapid.Bool().Draw(t, "core"), Check: s.Draw(t, "check"),
				After: n.Draw(t, "after"), Last: s.Draw(t, "last"), Left: n.Draw(t, "left"), ClosedBy: s.Draw(t, "closed by"), Before: at.Draw(t, "before"),
			}
		}
		for range rapid.IntRange(0, MaxPhases+8).Draw(t, "phases") {
			r.Phases = append(r.Phases, Phase{s.Draw(t, "phase"), at.Draw(t, "began"), rapid.Int64().Draw(t, "took"), s.Draw(t, "signal"), s.Draw(t, "why")})
		}
		return r
	})
}

// stringsOf are all strings of a record.
func stringsOf(r Record) []string {
	all := []string{r.Name, r.InvocationID, r.BootID, r.Version}
	if r.Held != nil {
		all = append(all, r.Held.Reason)
	}
	if r.End != nil {
		all = append(all, r.End.Signal, r.End.Check, r.End.Last, r.End.ClosedBy, string(r.End.Cause))
	}
	for _, p := range r.Phases {
		all = append(all, p.Name, p.Signal, p.Reason)
	}
	return all
}

func TestWhateverIsEncodedIsBoundedAndReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord().Draw(t, "record")
		r.Run = max(1, r.Run)
		before := r.bounded()
		data, err := EncodeRecord(r)
		if err != nil || len(data) > MaxRecord {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		if diff := cmp.Diff(before, r.bounded()); diff != "" {
			t.Fatalf("encoding changed the record:\n%s", diff)
		}
		got, err := DecodeRecord(data)
		if err != nil {
			t.Fatal(err)
		}
		kept := len(got.Phases)
		want := r.bounded().withPhases(kept)
		want.Schema = RecordSchema
		if diff := cmp.Diff(want, got); diff != "" || kept > MaxPhases || kept < len(r.Phases) && kept < 2 {
			t.Fatalf("%d of %d phases (-want +got):\n%s", kept, len(r.Phases), diff)
		}
		checkTame(t, got)
	})
}

// checkTame checks that a record's strings harm nobody who prints them.
func checkTame(t interface{ Errorf(string, ...any) }, r Record) {
	for _, s := range stringsOf(r) {
		if len(s) > maxValue || strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
			t.Errorf("%q", s)
		}
	}
}

func TestARecordThatFitsIsKeptToTheLetter(t *testing.T) {
	r := fullRecord()
	r.End.Last = "naïve – 日本語 \\ \" <&> '"
	for range MaxPhases - len(r.Phases) {
		r.Phases = append(r.Phases, Phase{Name: "drain-delay", Began: r.Begun, TookUsec: 1_000_000, Signal: "RTMIN+10", Reason: "requested"})
	}
	data, err := EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeRecord(data)
	if diff := cmp.Diff(r, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestPhasesInTheMiddleMakeRoom(t *testing.T) {
	r := Record{Run: 1, More: 1}
	for i := range 60 {
		r.Phases = append(r.Phases, Phase{TookUsec: int64(i + 1)})
	}
	got := r.withPhases(8)
	var kept []int64
	for _, p := range got.Phases {
		kept = append(kept, p.TookUsec)
	}
	if diff := cmp.Diff([]int64{1, 2, 55, 56, 57, 58, 59, 60}, kept); diff != "" || got.More != 53 {
		t.Errorf("%d left out; (-want +got):\n%s", got.More, diff)
	}
}

func TestWhatIsNoRecordIsToldFromANewerOne(t *testing.T) {
	for text, want := range map[string]error{
		``:                                  ErrNoRecord,
		`null`:                              ErrNoRecord,
		`{}`:                                ErrNoRecord,
		`[1]`:                               ErrNoRecord,
		`{"schema": 1`:                      ErrNoRecord,
		`{"schema": 1}`:                     ErrNoRecord, // of no run
		`{"schema": 0, "run": 1}`:           ErrNoRecord,
		`{"schema": 1, "run": 0}`:           ErrNoRecord,
		`{"schema": 1, "run": "1"}`:         ErrNoRecord,
		`{"schema": 1, "run": 1} {}`:        ErrNoRecord,
		`{"schema": 1, "run": 1, "end": 1}`: ErrNoRecord,
		`{"schema": 1, "run": 1, "begun": "yesterday"}`:             ErrNoRecord,
		`{"schema": 1, "run": 1}` + string(make([]byte, MaxRecord)): ErrNoRecord,
		strings.Repeat("[", MaxRecord):                              ErrNoRecord,
		`{"schema": 2}`:                                             ErrNewerRecord,
		`{"schema": 2, "run": {"number": 1}}`:                       ErrNewerRecord,
		`{"schema": 1, "run": 1}`:                                   nil,
		`{"schema": 1, "run": 1, "end": null}`:                      nil,
		`{"schema": 1, "run": 1, "end": {}, "weather": 7}`:          nil,
	} {
		if _, err := DecodeRecord([]byte(text)); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%.60s: %v; want %v", text, err, want)
		}
	}
}

func TestWhatANewerOneOfTheSameSchemaSaysIsPassedOver(t *testing.T) {
	const text = `{"schema":1,"run":7,"sky":{"blue":[1]},"end":{"cause":"meteor","by":"chance"},"phases":[{"phase":"flying","wings":2}]}`
	got, err := DecodeRecord([]byte(text))
	want := Record{Schema: 1, Run: 7, End: &RecordEnd{Cause: Unknown}, Phases: []Phase{{Name: "flying"}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestWhatATerminalWouldObeyIsNotInARecord(t *testing.T) {
	r := Record{Run: 1, Name: "a\x1b[2Jb\x00\u009b\u202ec\td\ne\xff"}
	data, err := EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(strings.TrimSuffix(string(data), "\n"), func(c rune) bool { return !unicode.IsPrint(c) }) {
		t.Errorf("%q", data)
	}
	const raw = `{"schema":1,"run":1,"name":"a\u001b[2Jb\u0000\u009b\u202ec\td\ne\ud800"}`
	for _, text := range []string{string(data), raw} {
		got, err := DecodeRecord([]byte(text))
		if want := "a�[2Jb���c d e�"; err != nil || got.Name != want {
			t.Errorf("%v, %q; want %q", err, got.Name, want)
		}
	}
}

func TestAClosedRecordIsKnownWithoutDecodingIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRecord().Draw(t, "record")
		r.Run = max(1, r.Run)
		r.Name = rapid.OneOf(rapid.Just(r.Name), rapid.Just(`"end":{}`), rapid.Just(`\"end":{`)).Draw(t, "other name")
		data, err := EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		if IsClosedRecord(data) != r.Closed() {
			t.Errorf("%s", data)
		}
		if cut := rapid.IntRange(0, len(data)-2).Draw(t, "cut"); IsClosedRecord(data[:cut]) {
			t.Errorf("cut: %s", data[:cut])
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	full, err := EncodeRecord(fullRecord())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	for _, text := range []string{
		``, `{"schema":1,"run":1}`, `{"schema":2}`, `{"schema":1,"run":1,"end":{"cause":"x","code":-1},"phases":[{},{"took_usec":-1}]}`,
		`{"schema":1,"run":1,"begun":"9999-12-31T23:59:59-23:59","name":"\u0000\ud800"}`, `{"schema":1,"RUN":1,"run":2}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeRecord(data)
		if err != nil {
			return
		}
		if len(data) > MaxRecord || r.Run < 1 || len(r.Phases) > MaxPhases {
			t.Errorf("%d bytes, run %d, %d phases", len(data), r.Run, len(r.Phases))
		}
		checkTame(t, r)
		again, err := EncodeRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRecord(again)
		if diff := cmp.Diff(r.withPhases(len(got.Phases)), got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		_ = r.AsRun()
	})
}
