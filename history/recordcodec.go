package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

// MaxRecord bounds an encoded Record, in bytes.
const MaxRecord = 16 << 10

var (
	// ErrNoRecord is what no svckit can have written as a record.
	ErrNoRecord = errors.New("no run record")

	// ErrNewerRecord is a record of a form that only a newer svckit knows.
	ErrNewerRecord = errors.New("a newer svckit has written this record")
)

// EncodeRecord writes a record as one line of JSON. What DecodeRecord would not
// take is cut down: strings to 256 bytes without control characters, phases in
// the middle until all of it fits into MaxRecord.
func EncodeRecord(r Record) ([]byte, error) {
	r = r.bounded()
	r.Schema = RecordSchema
	for keep := MaxPhases; ; keep /= 2 {
		r = r.withPhases(keep)
		data, err := encode(r)
		if err != nil || len(data) <= MaxRecord || keep == 0 {
			return data, err
		}
	}
}

// encode is JSON in which a URL can be read.
func encode(r Record) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(r)
	return out.Bytes(), err
}

// DecodeRecord reads a record that EncodeRecord wrote, or a newer svckit of the
// same schema: fields that are not known are passed over, and a cause that is
// not known is Unknown.
func DecodeRecord(data []byte) (Record, error) {
	if len(data) > MaxRecord {
		return Record{}, fmt.Errorf("%w: it has %d bytes, and at most %d make sense", ErrNoRecord, len(data), MaxRecord)
	}
	var r Record
	err := json.Unmarshal(data, &r)
	switch { // the schema stands first, so that it is known of what cannot be read
	case r.Schema > RecordSchema:
		return Record{}, fmt.Errorf("%w: its schema is %d, and this one knows %d", ErrNewerRecord, r.Schema, RecordSchema)
	case err != nil:
		return Record{}, fmt.Errorf("%w: %w", ErrNoRecord, err)
	case r.Schema < 1:
		return Record{}, fmt.Errorf("%w: no schema, where %d is expected", ErrNoRecord, RecordSchema)
	}
	if r.Run < 1 {
		return Record{}, fmt.Errorf("%w: run %d, where the first is 1", ErrNoRecord, r.Run)
	}
	return r.bounded().withPhases(MaxPhases), nil
}

// IsClosedRecord says whether an encoded record is whole and closed, for a tenth
// of the memory that decoding it takes: svcrun asks at every start of every
// service. A quote in a string is escaped, so that what looks like a key is one.
func IsClosedRecord(data []byte) bool {
	return len(data) <= MaxRecord && bytes.Contains(data, []byte(`"end":{`)) && json.Valid(data)
}

// bounded is the record without what no record may hold, and nothing in common
// with r that can be changed. It is what both sides agree on: encoded and
// decoded again it is the same.
func (r Record) bounded() Record {
	for _, s := range []*string{&r.Name, &r.InvocationID, &r.BootID, &r.Version} {
		*s = tame(*s)
	}
	for _, t := range []*time.Time{&r.Begun, &r.Started, &r.Ready, &r.Stable, &r.Stopping, &r.Ended} {
		*t = moment(*t)
	}
	r.Run, r.PID, r.More = max(0, r.Run), max(0, r.PID), max(0, r.More)
	if r.Held != nil {
		h := *r.Held
		h.PauseUsec, h.DelayUsec, h.Reason = max(0, h.PauseUsec), max(0, h.DelayUsec), tame(h.Reason)
		r.Held = &h
	}
	if r.End != nil {
		e := r.End.bounded()
		r.End = &e
	}
	r.Phases = slices.Clone(r.Phases)
	for i, p := range r.Phases {
		r.Phases[i] = Phase{
			Name: tame(p.Name), Began: moment(p.Began), TookUsec: max(0, p.TookUsec),
			Signal: tame(p.Signal), Reason: tame(p.Reason),
		}
	}
	return r
}

// bounded is Record.bounded's part in how the run ended.
func (e RecordEnd) bounded() RecordEnd {
	if _, ok := ParseCause(string(e.Cause)); !ok {
		e.Cause = Unknown
	}
	if e.Code != nil {
		code := *e.Code
		e.Code = &code
	}
	for _, s := range []*string{&e.Signal, &e.Check, &e.Last, &e.ClosedBy} {
		*s = tame(*s)
	}
	e.After, e.Left, e.Before = max(0, e.After), max(0, e.Left), moment(e.Before)
	return e
}

// withPhases is the record with at most so many phases: where one is left out,
// the start of the run and more of its end stay.
func (r Record) withPhases(keep int) Record {
	first := keep / 4
	if out := len(r.Phases) - keep; out > 0 {
		r.Phases = slices.Concat(r.Phases[:first], r.Phases[first+out:])
		r.More = min(r.More, math.MaxInt-out) + out // a file may say anything
	}
	if len(r.Phases) == 0 {
		r.Phases = nil
	}
	return r
}

// tame clips a string, and takes from it what a terminal could obey or a
// reader stumble over.
func tame(s string) string {
	return clip(strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case !unicode.IsPrint(c):
			return unicode.ReplacementChar
		}
		return c
	}, s))
}

// moment is a time as the records write it: in UTC, to the microsecond as
// systemd counts, and zero where it is out of all bounds.
func moment(t time.Time) time.Time {
	if t = t.UTC().Truncate(time.Microsecond); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
