package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestARecordIsARun(t *testing.T) {
	r := fullRecord()
	r.End.Core, r.End.Signal, r.End.ClosedBy = false, "", ""
	want := Run{
		Unit: r.Name, InvocationID: r.InvocationID, Number: 42, Start: UnknownStart,
		Started: r.Begun, Ready: r.Ready, Ended: r.Ended, Up: 3 * time.Second,
		End: End{
			Cause: Unhealthy, Exit: Exit{Exited, 3},
			Detail: []Field{{"check", r.End.Check}, {"after", "3"}, {"last", r.End.Last}, {"stop", "1s"}, {"left", "2"}},
		},
	}
	if diff := cmp.Diff(want, r.AsRun()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOfAnOpenRecordNoEndIsKnown(t *testing.T) {
	r := fullRecord()
	r.End, r.Ended = nil, time.Time{}
	if got := r.AsRun(); r.Closed() || !cmp.Equal(got.End, End{}) || got.Up != 0 || got.Running {
		t.Errorf("closed %v, %+v", r.Closed(), got)
	}
}

func TestWhatTheNextStartClosesHasEndedNobodyKnowsHow(t *testing.T) {
	r := fullRecord()
	r.End, r.Ended = nil, time.Time{}
	next := r.Begun.Add(time.Hour)
	closed := r.CloseByNextStart(next)
	if diff := cmp.Diff(&RecordEnd{Cause: Unknown, ClosedBy: NextStart, Before: next}, closed.End); diff != "" || !closed.Ended.IsZero() || r.Closed() {
		t.Errorf("ended %v (-want +got):\n%s", closed.Ended, diff)
	}
	want := End{Cause: Unknown, Detail: []Field{{"closed-by", NextStart}}}
	if diff := cmp.Diff(want, closed.AsRun().End); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARunThatWasNeverReadyIsUpFromItsStart(t *testing.T) {
	r := fullRecord()
	r.Ready = time.Time{}
	if got := r.AsRun().Up; got != 5*time.Second {
		t.Error(got)
	}
	r.Ended = r.Begun.Add(-time.Hour) // the clock was set back
	if got := r.AsRun().Up; got != 0 {
		t.Error(got)
	}
}

func TestHowTheMainProcessEndedIsReadFromARecord(t *testing.T) {
	code := func(n int) *int { return &n }
	for want, ends := range map[Exit][]RecordEnd{
		{}:           {{}, {Signal: "NONE"}, {Code: code(256)}, {Code: code(-1)}, {Core: true}},
		{Exited, 0}:  {{Code: code(0)}},
		{Exited, 69}: {{Code: code(69)}, {Code: code(69), Signal: "TERM"}},
		{Killed, 9}:  {{Signal: "KILL"}, {Signal: "SIGKILL"}, {Signal: "9"}},
		{Dumped, 11}: {{Signal: "SEGV", Core: true}},
	} {
		for _, end := range ends {
			if got := end.exit(); got != want {
				t.Errorf("%+v: %+v; want %+v", end, got, want)
			}
		}
	}
}
