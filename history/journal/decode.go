package journal

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/history"
)

// maxField is the longest field that is looked at, in bytes. The manager's
// and svcrun's own lines are far shorter.
const maxField = 4096

// maxLag is how far journald's time of receipt may be from the sender's.
// Beyond it the clock was set in between, and says nothing of a lag.
const maxLag = time.Minute

// text is a field of journalctl's JSON: a string, or where it is no printable
// UTF-8 an array of byte values, or where the entry has the field twice an
// array of those. A field too long is null already without --all.
type text string

// UnmarshalJSON takes the first value where there are several, and drops what
// is oversized or of no known form.
func (t *text) UnmarshalJSON(raw []byte) error {
	*t = ""
	if len(raw) == 0 || len(raw) > 8*maxField {
		return nil
	}
	switch raw[0] {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		if len(s) <= maxField {
			*t = text(s)
		}
	case '[':
		return t.unmarshalArray(raw)
	}
	return nil
}

func (t *text) unmarshalArray(raw []byte) error {
	var values []json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	if len(values) == 0 || len(values) > maxField {
		return nil
	}
	if first := values[0][0]; first == '"' || first == '[' && values[0][1] != '[' {
		return t.UnmarshalJSON(values[0])
	}
	bytes := make([]byte, len(values))
	for i, value := range values {
		n, err := strconv.ParseUint(string(value), 10, 8)
		if err != nil {
			return nil
		}
		bytes[i] = byte(n)
	}
	*t = text(bytes)
	return nil
}

// record names the fields of an entry that are read.
type record struct {
	Realtime   text `json:"__REALTIME_TIMESTAMP"`
	Monotonic  text `json:"__MONOTONIC_TIMESTAMP"`
	Source     text `json:"_SOURCE_REALTIME_TIMESTAMP"`
	BootID     text `json:"_BOOT_ID"`
	PID        text `json:"_PID"`
	UID        text `json:"_UID"`
	Cgroup     text `json:"_SYSTEMD_CGROUP"`
	OwnUnit    text `json:"_SYSTEMD_UNIT"`
	OwnRun     text `json:"_SYSTEMD_INVOCATION_ID"`
	OwnUser    text `json:"_SYSTEMD_USER_UNIT"`
	UserUnit   text `json:"USER_UNIT"`
	UserRun    text `json:"USER_INVOCATION_ID"`
	Unit       text `json:"UNIT"`
	Run        text `json:"INVOCATION_ID"`
	MessageID  text `json:"MESSAGE_ID"`
	Message    text `json:"MESSAGE"`
	JobResult  text `json:"JOB_RESULT"`
	ExitCode   text `json:"EXIT_CODE"`
	ExitStatus text `json:"EXIT_STATUS"`
	Command    text `json:"COMMAND"`
	UnitResult text `json:"UNIT_RESULT"`
	NRestarts  text `json:"N_RESTARTS"`
}

// field is where the value of a field goes; nil for one that is not read.
func (r *record) field(name string) *text {
	switch name {
	case "__REALTIME_TIMESTAMP":
		return &r.Realtime
	case "__MONOTONIC_TIMESTAMP":
		return &r.Monotonic
	case "_SOURCE_REALTIME_TIMESTAMP":
		return &r.Source
	case "_BOOT_ID":
		return &r.BootID
	case "_PID":
		return &r.PID
	case "_UID":
		return &r.UID
	case "_SYSTEMD_CGROUP":
		return &r.Cgroup
	case "_SYSTEMD_UNIT":
		return &r.OwnUnit
	case "_SYSTEMD_INVOCATION_ID":
		return &r.OwnRun
	case "_SYSTEMD_USER_UNIT":
		return &r.OwnUser
	case "USER_UNIT":
		return &r.UserUnit
	case "USER_INVOCATION_ID":
		return &r.UserRun
	case "UNIT":
		return &r.Unit
	case "INVOCATION_ID":
		return &r.Run
	case "MESSAGE_ID":
		return &r.MessageID
	case "MESSAGE":
		return &r.Message
	case "JOB_RESULT":
		return &r.JobResult
	case "EXIT_CODE":
		return &r.ExitCode
	case "EXIT_STATUS":
		return &r.ExitStatus
	case "COMMAND":
		return &r.Command
	case "UNIT_RESULT":
		return &r.UnitResult
	case "N_RESTARTS":
		return &r.NRestarts
	}
	return nil
}

// outputFields is what journalctl is asked for: the fields of record. It
// prints those with two underscores and _BOOT_ID unasked.
var outputFields = strings.Join([]string{
	"_SOURCE_REALTIME_TIMESTAMP", "_PID", "_UID", "_SYSTEMD_CGROUP", "_SYSTEMD_UNIT",
	"_SYSTEMD_INVOCATION_ID", "_SYSTEMD_USER_UNIT", "USER_UNIT", "USER_INVOCATION_ID", "UNIT", "INVOCATION_ID", "MESSAGE_ID", "MESSAGE",
	"JOB_RESULT", "EXIT_CODE", "EXIT_STATUS", "COMMAND", "UNIT_RESULT", "N_RESTARTS",
}, ",")

// Decode reads one line of journalctl -o json.
func Decode(line []byte) (history.Entry, error) {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return history.Entry{}, fmt.Errorf("no JSON object as journalctl writes it: %w", err)
	}
	return r.entry()
}

// entry makes an entry of the fields.
func (r record) entry() (history.Entry, error) {
	received, err := strconv.ParseInt(string(r.Realtime), 10, 64)
	if err != nil || received < 0 {
		return history.Entry{}, fmt.Errorf("__REALTIME_TIMESTAMP is %q, not a time in microseconds", string(r.Realtime))
	}
	at, monotonic := sent(time.UnixMicro(received), r)
	return history.Entry{
		Time: at, Monotonic: monotonic, BootID: string(r.BootID),
		PID: string(r.PID), UID: string(r.UID), Cgroup: string(r.Cgroup),
		OwnUnit: string(r.OwnUnit), OwnInvocation: string(r.OwnRun), OwnUserUnit: string(r.OwnUser),
		UserUnit: string(r.UserUnit), UserInvocation: string(r.UserRun),
		Unit: string(r.Unit), Invocation: string(r.Run),
		MessageID: string(r.MessageID), Message: string(r.Message),
		JobResult: string(r.JobResult), ExitCode: string(r.ExitCode), ExitStatus: string(r.ExitStatus), Command: string(r.Command),
		UnitResult: string(r.UnitResult), NRestarts: string(r.NRestarts),
	}, nil
}

// sent is when the entry was sent, on both clocks. journald notes when it
// received it, which on a busy machine is later, and when the kernel took it
// from the sender; the monotonic clock is there for the receipt only.
func sent(received time.Time, r record) (time.Time, time.Duration) {
	us, err := strconv.ParseInt(string(r.Monotonic), 10, 64)
	if err != nil || us < 0 || us > int64(1<<62/time.Microsecond) {
		us = 0
	}
	monotonic := time.Duration(us) * time.Microsecond
	source, err := strconv.ParseInt(string(r.Source), 10, 64)
	if err != nil {
		return received, monotonic
	}
	lag := received.Sub(time.UnixMicro(source))
	if lag < 0 || lag > min(maxLag, monotonic) {
		return received, monotonic
	}
	return received.Add(-lag), monotonic - lag
}
