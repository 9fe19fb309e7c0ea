package timeline

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
)

// schema is the number of the form. It changes where a field is renamed or
// means something else, which is not planned.
const schema = 1

// object is an event as JSON. Fields are added and never renamed.
type object struct {
	Schema   int           `json:"schema"`
	Event    Name          `json:"event"`
	Time     string        `json:"time"` // RFC 3339, in microseconds
	Unit     string        `json:"unit,omitempty"`
	Run      int           `json:"run,omitempty"`
	Restarts *int          `json:"restarts,omitempty"`
	PID      int           `json:"pid,omitempty"`
	After    *int64        `json:"after_usec,omitempty"`
	Delay    *int64        `json:"delay_usec,omitempty"`
	Signal   string        `json:"signal,omitempty"`
	Stream   string        `json:"stream,omitempty"`
	Text     *string       `json:"text,omitempty"`
	Cause    history.Cause `json:"cause,omitempty"`
	Result   policy.Result `json:"result,omitempty"`
	Exit     *exit         `json:"exit,omitempty"`
	Detail   fields        `json:"detail,omitempty"`
	Restart  *bool         `json:"restart,omitempty"`
	Why      string        `json:"why,omitempty"`
	Tail     []string      `json:"tail,omitempty"`
	Services []total       `json:"services,omitempty"`
}

// exit is how the main process ended; there is none where nothing ran.
type exit struct {
	Code   *int   `json:"code,omitempty"`
	Signal string `json:"signal,omitempty"`
	Core   bool   `json:"core,omitempty"`
}

// total is the sum of a service.
type total struct {
	Unit   string                `json:"unit"`
	Runs   int                   `json:"runs"`
	Causes map[history.Cause]int `json:"causes"`
	Last   history.Cause         `json:"last_cause,omitempty"`
	Up     int64                 `json:"up_usec"`
}

// fields are what svcrun said of an end: an object, in its order.
type fields []history.Field

// MarshalJSON is for json.Marshal.
func (f fields) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, field := range f {
		if i > 0 {
			out = append(out, ',')
		}
		for j, text := range []string{field.Key, field.Value} {
			data, err := json.Marshal(text)
			if err != nil {
				return nil, err
			}
			if j > 0 {
				out = append(out, ':')
			}
			out = append(out, data...)
		}
	}
	return append(out, '}'), nil
}

const microseconds = "2006-01-02T15:04:05.000000Z07:00"

func (w *Writer) appendJSON(dst []byte, e Event) []byte {
	o := object{
		Schema: schema, Event: e.Name, Time: e.Time.UTC().Format(microseconds),
		Unit: e.Unit, Run: e.Run, PID: e.PID, Signal: e.Signal, Stream: e.Stream,
	}
	if e.Text != "" || e.Name == Output || e.Name == Status {
		o.Text = &e.Text
	}
	switch e.Name {
	case Starting:
		o.Restarts = &e.Restarts
	case Restarting:
		o.Restarts, o.Delay = &e.Restarts, usec(e.Delay)
	case Ready, Ended, Reloaded:
		o.After = usec(e.After)
	case Finished:
		o.Services = w.totals()
	default:
	}
	if e.End != nil {
		o.end(e.End)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(o) // of strings and numbers alone
	return append(dst, out.Bytes()...)
}

// end adds how a run ended.
func (o *object) end(end *End) {
	o.Cause, o.Result, o.Detail, o.Restart, o.Why, o.Tail = end.Cause, end.Result, end.Detail, &end.Restart, end.Why, end.Tail
	switch end.Exit.How {
	case policy.NoExit:
	case policy.Exited:
		o.Exit = &exit{Code: &end.Exit.Code}
	case policy.Killed, policy.Dumped:
		o.Exit = &exit{Signal: end.Exit.Signal.String(), Core: end.Exit.How == policy.Dumped}
	}
}

// totals are the sums of all services.
func (w *Writer) totals() []total {
	var all []total
	for _, s := range w.sums.all {
		all = append(all, total{Unit: s.unit, Runs: s.runs, Causes: s.causes, Last: s.last, Up: s.up.Microseconds()})
	}
	return all
}

func usec(d time.Duration) *int64 {
	n := d.Microseconds()
	return &n
}
