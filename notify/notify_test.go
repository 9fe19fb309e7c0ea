package notify

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMessageKeepsItsFieldsAndTheirOrder(t *testing.T) {
	for text, want := range map[string]Message{
		"READY=1":                     {{"READY", "1"}},
		"READY=1\n":                   {{"READY", "1"}},
		"STATUS=a=b\nREADY=1":         {{"STATUS", "a=b"}, {"READY", "1"}},
		"STATUS=\n\nX_MINE=ü":         {{"STATUS", ""}, {"X_MINE", "ü"}},
		"noise\nREADY=1\n=lost":       {{"READY", "1"}},
		"FDSTORE=1\nFDNAME=a\nFDPOLL": {{"FDSTORE", "1"}, {"FDNAME", "a"}},
	} {
		got, err := Parse([]byte(text))
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("Parse(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestDatagramThatIsNoMessageIsRefusedByItsKind(t *testing.T) {
	for text, want := range map[string]error{
		"":                                      ErrEmpty,
		"\n\n":                                  ErrEmpty,
		"hello":                                 ErrEmpty,
		"READY=1\x00":                           ErrNUL,
		"STATUS=\xff":                           ErrEncoding,
		"STATUS=" + strings.Repeat("x", 4096):   ErrOversized,
		"X=" + strings.Repeat("x", 4094) + "\n": ErrOversized,
	} {
		if _, err := Parse([]byte(text)); !errors.Is(err, want) {
			t.Errorf("Parse(%.20q…) = %v; want %v", text, err, want)
		}
	}
	if _, err := Parse([]byte("X=" + strings.Repeat("x", 4094))); err != nil {
		t.Errorf("a datagram of exactly 4096 bytes is refused: %v", err)
	}
}

func TestWhatIsWrittenIsReadBackWhereTheProtocolCanCarryIt(t *testing.T) {
	field := rapid.Custom(func(t *rapid.T) Field {
		return Field{
			Key:   rapid.StringMatching(`[A-Z_]{1,12}`).Draw(t, "key"),
			Value: rapid.StringMatching(`[ -~äöü€]{0,40}`).Draw(t, "value"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := Message(rapid.SliceOfN(field, 1, 20).Draw(t, "fields"))
		got, err := Parse(want.Encode())
		if err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%v came back as %v, %v", want, got, err)
		}
	})
}

func TestOverlongStatusIsCutAtACharacter(t *testing.T) {
	m := Message{{"READY", "1"}, {"STATUS", strings.Repeat("€", 4000)}, {"WATCHDOG", "1"}}
	out := m.Encode()
	if len(out) > MaxBytes || !utf8.Valid(out) {
		t.Errorf("Encode wrote %d bytes, valid UTF-8: %v; want at most %d, valid", len(out), utf8.Valid(out), MaxBytes)
	}
	if !bytes.HasPrefix(out, []byte("READY=1\nSTATUS=€")) {
		t.Errorf("Encode begins %.30q; want READY=1 and the status", out)
	}
}

func TestValueCannotSmuggleALine(t *testing.T) {
	out := Message{{"STATUS", "fine\nMAINPID=1\x00"}}.Encode()
	if want := "STATUS=fine MAINPID=1 "; string(out) != want {
		t.Errorf("Encode = %q; want %q", out, want)
	}
}

func TestEveryKeyIsSortedToWhoAnswersIt(t *testing.T) {
	for text, want := range map[string]Said{
		"READY=1":                          {Ready: true},
		"READY=0":                          {},
		"STATUS=up\nREADY=1":               {Ready: true, Status: "up", HasStatus: true},
		"STATUS=":                          {HasStatus: true},
		"STOPPING=1":                       {Stopping: true},
		"RELOADING=1\nMONOTONIC_USEC=12":   {Reloading: true},
		"WATCHDOG=1":                       {Alive: true},
		"WATCHDOG=trigger":                 {Trigger: true, Forward: Message{{"WATCHDOG", "trigger"}}},
		"WATCHDOG=0":                       {},
		"X_SVCKIT_RELOAD=1":                {Reload: true},
		"X_SVCKIT_RELOAD=0":                {},
		"FDSTORE=0":                        {Forward: Message{{"FDSTORE", "0"}}},
		"WATCHDOG_USEC=3000000":            {WatchdogTime: 3 * time.Second},
		"WATCHDOG_USEC=-1":                 {},
		"EXTEND_TIMEOUT_USEC=500000":       {Extend: 500 * time.Millisecond},
		"EXTEND_TIMEOUT_USEC=" + maxUint64: {},
		"EXTEND_TIMEOUT_USEC=" + maxInt64:  {Extend: maxSpan},
		"MAINPID=12":                       {MainPID: 12},
		"MAINPIDFD=1\nMAINPIDFDID=4":       {},
		"NOTIFYACCESS=all":                 {Refused: []string{"NOTIFYACCESS"}},
		"BARRIER=1":                        {Barrier: true},
		"BARRIER=1\nREADY=1":               {Ready: true},
		"ERRNO=2\nBUSERROR=a.b":            {Forward: Message{{"ERRNO", "2"}, {"BUSERROR", "a.b"}}},
		"EXIT_STATUS=3":                    {Forward: Message{{"EXIT_STATUS", "3"}}},
		"VARLINKERROR=a.b":                 {Forward: Message{{"VARLINKERROR", "a.b"}}},
		"RESTART_RESET=1":                  {Forward: Message{{"RESTART_RESET", "1"}}},
		"FDSTORE=1\nFDNAME=db\nFDPOLL=0":   {Stores: true, Forward: Message{{"FDSTORE", "1"}, {"FDNAME", "db"}, {"FDPOLL", "0"}}},
		"FDSTOREREMOVE=1\nFDNAME=db":       {Forward: Message{{"FDSTOREREMOVE", "1"}, {"FDNAME", "db"}}},
		"X_MINE=1\nNEWER_THAN_US=1":        {Forward: Message{{"X_MINE", "1"}, {"NEWER_THAN_US", "1"}}},
	} {
		m, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		if diff := cmp.Diff(want, Sort(m)); diff != "" {
			t.Errorf("Sort(%q) (-want +got):\n%s", text, diff)
		}
	}
}

const (
	maxUint64 = "18446744073709551615"
	maxInt64  = "9223372036854775807"
)

func TestDescriptorsBelongToTheMessagesThatAreAboutThem(t *testing.T) {
	for text, want := range map[string]bool{
		"FDSTORE=1\nFDNAME=x": true, "BARRIER=1": true, "X_SVCKIT_RELOAD=1": true,
		"FDSTOREREMOVE=1\nFDNAME=x": false, "MAINPIDFD=1": false, "READY=1": false, "BARRIER=1\nREADY=1": false,
	} {
		m, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := Sort(m).TakesDescriptors(); got != want {
			t.Errorf("%q takes descriptors: %v; want %v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"READY=1", "STATUS=a\nREADY=1\n", "BARRIER=1", "\x00", "=", "A=\xff", "EXTEND_TIMEOUT_USEC=99999999999999999999"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, datagram []byte) {
		m, err := Parse(datagram)
		if err != nil {
			return
		}
		again, err := Parse(m.Encode())
		if err != nil || !cmp.Equal(again, m) {
			t.Errorf("%q: %v came back as %v, %v", datagram, m, again, err)
		}
		for _, field := range Sort(m).Forward {
			switch field.Key {
			case "READY", "STOPPING", "RELOADING", "STATUS", "MAINPID", "NOTIFYACCESS", "EXTEND_TIMEOUT_USEC", "WATCHDOG_USEC",
				"MAINPIDFD", "MAINPIDFDID", "BARRIER", "MONOTONIC_USEC", ReloadKey:
				t.Errorf("%q: the wrapper's own key %s is forwarded", datagram, field.Key)
			}
		}
	})
}
