package journal

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/history"
)

const realtime = `"__REALTIME_TIMESTAMP":"1000000000000000"`

func TestDecodeReadsEveryFormOfAField(t *testing.T) {
	for form, want := range map[string]string{
		`"hello"`:                               "hello",
		`""`:                                    "",
		`null`:                                  "", // too long for journalctl
		`[104,105]`:                             "hi",
		`[104,255,0]`:                           "h\xff\x00",
		`["one","two"]`:                         "one",
		`[[104,105],[106]]`:                     "hi",
		`[null,"two"]`:                          "",
		`[]`:                                    "",
		`[[]]`:                                  "",
		`[[["x"]]]`:                             "",
		`[256]`:                                 "",
		`[-1]`:                                  "",
		`[1.5]`:                                 "",
		`{"a":"b"}`:                             "",
		`true`:                                  "",
		`17`:                                    "",
		`"caf\u00e9"`:                           "café",
		`"` + strings.Repeat("x", 4096) + `"`:   strings.Repeat("x", 4096),
		`"` + strings.Repeat("x", 4097) + `"`:   "",
		`[` + strings.Repeat("1,", 5000) + `1]`: "",
	} {
		line := fmt.Sprintf(`{%s,"MESSAGE":%s,"UNIT":"x.service"}`, realtime, form)
		entry, err := Decode([]byte(line))
		if err != nil {
			t.Errorf("%.60s: %v", form, err)
		}
		if entry.Message != want || entry.Unit != "x.service" {
			t.Errorf("%.60s is read as %.60q, unit %q", form, entry.Message, entry.Unit)
		}
	}
}

func TestDecodeReadsAnEntryOfTheManagers(t *testing.T) {
	line := `{"EXIT_CODE":"killed","EXIT_STATUS":"9","COMMAND":"ExecStart","INVOCATION_ID":"abc","UNIT":"x.service",` +
		`"_PID":"1","_UID":"0","_SYSTEMD_CGROUP":"/init.scope","_SYSTEMD_UNIT":"init.scope","_BOOT_ID":"b1",` +
		`"MESSAGE_ID":"98e3","MESSAGE":"x.service: Main process exited","JOB_RESULT":"done",` +
		`"UNIT_RESULT":"signal","N_RESTARTS":"4","_SYSTEMD_INVOCATION_ID":"def","__CURSOR":"s=1",` +
		`"__REALTIME_TIMESTAMP":"1700000000500000","__MONOTONIC_TIMESTAMP":"60500000","_SOURCE_REALTIME_TIMESTAMP":"1700000000100000"}`
	got, err := Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	want := history.Entry{
		Time: time.UnixMicro(1700000000100000), Monotonic: 60100 * time.Millisecond, BootID: "b1",
		PID: "1", UID: "0", Cgroup: "/init.scope", OwnUnit: "init.scope", OwnInvocation: "def", Unit: "x.service",
		Invocation: "abc", MessageID: "98e3", Message: "x.service: Main process exited", JobResult: "done",
		ExitCode: "killed", ExitStatus: "9", Command: "ExecStart", UnitResult: "signal", NRestarts: "4",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTheSendersTimeCounts: not that at which a busy journald took the entry,
// unless the clock was set in between.
func TestTheSendersTimeCounts(t *testing.T) {
	const received = 1_700_000_000_000_000
	for _, test := range []struct {
		name, source  string
		lag           time.Duration
		wantUnchanged bool
	}{
		{name: "half a second later", source: "1699999999500000", lag: 500 * time.Millisecond},
		{name: "at once", source: "1700000000000000"},
		{name: "before it was sent", source: "1700000000000001", wantUnchanged: true},
		{name: "an hour later", source: "1699996400000000", wantUnchanged: true},
		{name: "no time", source: "soon", wantUnchanged: true},
	} {
		line := fmt.Sprintf(`{"__REALTIME_TIMESTAMP":"%d","__MONOTONIC_TIMESTAMP":"90000000","_SOURCE_REALTIME_TIMESTAMP":%q}`,
			received, test.source)
		got, err := Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if want := time.UnixMicro(received).Add(-test.lag); !got.Time.Equal(want) || got.Monotonic != 90*time.Second-test.lag {
			t.Errorf("received %s: time %v, monotonic %v; want a lag of %v", test.name, got.Time, got.Monotonic, test.lag)
		}
	}
}

// TestWithoutAMonotonicTimeThereIsNoLag: or it would lie before the boot.
func TestWithoutAMonotonicTimeThereIsNoLag(t *testing.T) {
	got, err := Decode([]byte(`{"__REALTIME_TIMESTAMP":"1700000000500000","_SOURCE_REALTIME_TIMESTAMP":"1700000000000000"}`))
	if err != nil || got.Monotonic != 0 || !got.Time.Equal(time.UnixMicro(1700000000500000)) {
		t.Errorf("%v, monotonic %v, %v", got.Time, got.Monotonic, err)
	}
}

func TestDecodeRefusesWhatIsNoEntry(t *testing.T) {
	for _, line := range []string{
		"", "-- No entries --", "null", "[]", "{", `{"MESSAGE":"no time"}`, `{"__REALTIME_TIMESTAMP":"then"}`,
		`{"__REALTIME_TIMESTAMP":"-5"}`, `{"__REALTIME_TIMESTAMP":["x"]}`, `{` + realtime + `} trailing`,
	} {
		if entry, err := Decode([]byte(line)); err == nil {
			t.Errorf("Decode(%q) = %+v, want an error", line, entry)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, file := range []string{"252", "257", "262"} {
		text, err := os.ReadFile("../testdata/" + file + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f.Add([]byte(line))
			break
		}
	}
	f.Add([]byte(`{` + realtime + `,"MESSAGE":[104,105],"UNIT":["a","b"],"_PID":null,"N_RESTARTS":[[49]]}`))
	f.Add([]byte(`{"__REALTIME_TIMESTAMP":"9223372036854775807","__MONOTONIC_TIMESTAMP":"9223372036854775807",` +
		`"_SOURCE_REALTIME_TIMESTAMP":"-9223372036854775808"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		entry, err := Decode(line)
		if err != nil {
			return
		}
		if entry.Monotonic < 0 {
			t.Errorf("monotonic time %v", entry.Monotonic)
		}
		for _, s := range []string{entry.Message, entry.Unit, entry.Invocation, entry.PID, entry.NRestarts} {
			if len(s) > maxField {
				t.Errorf("a field of %d bytes came through", len(s))
			}
		}
		fold := history.NewFold(entry.Unit)
		fold.Add(entry)
		fold.Runs()
	})
}

// TestEachFieldIsAskedForAndReadInEachForm: of journalctl, from JSON and from an export.
func TestEachFieldIsAskedForAndReadInEachForm(t *testing.T) {
	var r record
	var asked []string
	for i, fields := 0, reflect.TypeFor[record](); i < fields.NumField(); i++ {
		name := fields.Field(i).Tag.Get("json")
		if to := r.field(name); to == nil || to != reflect.ValueOf(&r).Elem().Field(i).Addr().Interface() {
			t.Errorf("%s of an export does not become %s", name, fields.Field(i).Name)
		}
		if !strings.HasPrefix(name, "__") && name != "_BOOT_ID" { // which it prints unasked
			asked = append(asked, name)
		}
	}
	if got := strings.Split(outputFields, ","); !slices.Equal(got, asked) {
		t.Errorf("journalctl is asked for %v, want %v", got, asked)
	}
}
