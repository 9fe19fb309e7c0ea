package main

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svckit/svckit/history"
)

// inJournal is the environment of a service whose output is the journal's.
func inJournal(name string) string {
	if name == "JOURNAL_STREAM" {
		return "9:1"
	}
	return ""
}

func TestAlertIsOneEntryOfTheServicesUnit(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	journal, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	var fallback strings.Builder
	l := alertLog{socket: socket, getenv: inJournal, fallback: &fallback}
	if err := l.alert(subject{unit: "worker.service"}, "one line\nanother\n"); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, mostTextBytes)
	n, err := journal.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"MESSAGE\n\x10\x00\x00\x00\x00\x00\x00\x00one line\nanother\n",
		"PRIORITY\n\x01\x00\x00\x00\x00\x00\x00\x001\n",
		"OBJECT_SYSTEMD_UNIT\n\x0e\x00\x00\x00\x00\x00\x00\x00worker.service\n",
	} {
		if !strings.Contains(string(buffer[:n]), field) {
			t.Errorf("the entry lacks %q:\n%q", field, buffer[:n])
		}
	}
	if fallback.Len() > 0 {
		t.Errorf("it is on standard output as well: %q", &fallback)
	}
}

func TestAlertIsNotLostWithTheJournal(t *testing.T) {
	var fallback strings.Builder
	l := alertLog{socket: filepath.Join(t.TempDir(), "none"), getenv: inJournal, fallback: &fallback}
	err := l.alert(subject{unit: "worker.service"}, "it failed\n")
	if err == nil || !strings.Contains(err.Error(), "cannot write the alert to the journal") {
		t.Errorf("the error is %v", err)
	}
	if fallback.String() != "it failed\n" {
		t.Errorf("on standard output is %q", &fallback)
	}
}

// TestMonitorVariablesAreMadeWhereSystemdHasNone is about managers before 251.
func TestMonitorVariablesAreMadeWhereSystemdHasNone(t *testing.T) {
	state := func(exit history.Exit) *history.State {
		return &history.State{Result: "start-limit-hit", InvocationID: "ab", Exit: exit}
	}
	common := []string{"MONITOR_UNIT=w.service", "MONITOR_SERVICE_RESULT=start-limit-hit", "MONITOR_INVOCATION_ID=ab"}
	for name, test := range map[string]struct {
		state *history.State
		want  []string
	}{
		"no D-Bus": {nil, common[:1]},
		"no exit":  {state(history.Exit{}), common},
		"a code":   {state(history.Exit{Kind: history.Exited, Status: 3}), append(slices.Clone(common), "MONITOR_EXIT_CODE=exited", "MONITOR_EXIT_STATUS=3")},
		"a signal": {state(history.Exit{Kind: history.Dumped, Status: 11}), append(slices.Clone(common), "MONITOR_EXIT_CODE=dumped", "MONITOR_EXIT_STATUS=SEGV")},
	} {
		t.Run(name, func(t *testing.T) {
			if got := monitorVariables("w.service", test.state, func(string) string { return "" }); !slices.Equal(got, test.want) {
				t.Errorf("%q, not %q", got, test.want)
			}
		})
	}
}
