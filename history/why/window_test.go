package why

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

func windowOf(limit policy.Limit, runs []history.Run) *Window {
	r := replayed(limit, time.Time{}, runs)
	return r.window()
}

// TestTheWindowIsTheManagers holds the replay against the rule told another way:
// the window begins with the first start that comes more than its length after
// the window before.
func TestTheWindowIsTheManagers(t *testing.T) {
	limit := policy.Limit{Starts: 3, Within: 10 * time.Second}
	var runs []history.Run
	begin, used := 0, 0
	for i, began := range []int{100, 92, 90, 89, 79, 78, 60} {
		run := failing(began, began-1, history.Automatic)
		run.Restarts = i
		if i == 0 {
			run.Start = history.Requested
		}
		runs = append(runs, run)
		if used == 0 || begin-began > 10 {
			begin, used = began, 0
		}
		used++
		w := windowOf(limit, runs)
		if w.Used != used || !w.Until.Equal(ago(begin).Add(limit.Within)) || !w.Sure {
			t.Errorf("after start %d: %+v; want %d used until %v", i+1, *w, used, ago(begin).Add(limit.Within))
		}
	}
	if w := windowOf(policy.Never(), runs); w != nil {
		t.Errorf("without a limit: %+v", w)
	}
	if w := windowOf(policy.Limit{Starts: 1, Within: syntax.Infinity}, runs[:1]); !w.Until.IsZero() {
		t.Errorf("for ever: %+v", w)
	}
	late := replayed(limit, ago(59), runs)
	if w := late.window(); w != nil {
		t.Errorf("starts that the manager has forgotten count: %+v", w)
	}
}

// pastManager does to a unit what a manager does, and keeps what its journal would.
type pastManager struct {
	limit    policy.Limit
	window   policy.Window
	now      int // seconds
	restarts int
	runs     []history.Run
}

// start attempts one.
func (m *pastManager) start(kind history.Start) {
	if kind == history.Automatic {
		m.restarts++
	} else {
		m.restarts = 0
	}
	window, verdict := m.window.Attempt(m.limit, time.Duration(m.now)*time.Second)
	m.window = window
	run := failing(-m.now, -m.now, kind)
	run.Restarts = m.restarts
	if !verdict.Allowed() {
		run = history.Run{Start: kind, Restarts: m.restarts, Started: run.Started, End: history.End{Cause: history.StartLimit}}
	}
	m.runs = append(m.runs, run)
}

// TestWhatIsSaidOfTheNextStartIsSo, whatever has happened, on record or not. What
// is not known is not said; where nothing has come in between, it is known.
func TestWhatIsSaidOfTheNextStartIsSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := pastManager{limit: policy.Limit{Starts: rapid.IntRange(1, 4).Draw(t, "starts"), Within: time.Duration(rapid.IntRange(1, 20).Draw(t, "within")) * time.Second}}
		untouched := true
		for i := range rapid.IntRange(1, 12).Draw(t, "events") {
			m.now += rapid.IntRange(0, 8).Draw(t, "wait")
			refused := i > 0 && m.runs[len(m.runs)-1].Cause == history.StartLimit
			switch {
			case i > 0 && rapid.IntRange(0, 4).Draw(t, "reset") == 0:
				m.window, m.restarts, untouched = policy.Window{}, 0, false
				m.start(history.Requested)
			case i == 0 || refused || rapid.Bool().Draw(t, "requested"):
				m.start(history.Requested)
				untouched = untouched && i == 0
			default:
				m.start(history.Automatic)
			}
		}
		replay := replayed(m.limit, time.Time{}, m.runs)
		at := m.now + rapid.IntRange(0, 20).Draw(t, "next")
		_, verdict := m.window.Attempt(m.limit, time.Duration(at)*time.Second)
		refused, doubtful := replay.next(now.Add(time.Duration(at) * time.Second))
		w := replay.window()
		switch {
		case refused && verdict.Allowed(), !refused && !doubtful && !verdict.Allowed():
			t.Fatalf("the next start is %v, and %v, %v is said", verdict, refused, doubtful)
		case untouched && (!w.Sure || doubtful):
			t.Fatalf("in doubt without a reason: %+v, %v", *w, doubtful)
		case w.Sure && doubtful:
			t.Fatal("a window that is sure leaves the next start in doubt")
		}
	})
}

// TestAResetInBetweenLeavesADoubt: three starts, a reset-failed, three more, of
// which five are allowed.
func TestAResetInBetweenLeavesADoubt(t *testing.T) {
	limit := policy.Limit{Starts: 5, Within: time.Minute}
	var runs []history.Run
	for i := range 6 {
		run := failing(50-i, 50-i, history.Automatic)
		run.Restarts = i % 3
		if i%3 == 0 {
			run.Start = history.Requested
		}
		runs = append(runs, run)
	}
	r := replayed(limit, time.Time{}, runs[:5])
	if refused, doubtful := r.next(now); refused || !doubtful {
		t.Errorf("after 5 starts: %v, %v; want a doubt", refused, doubtful)
	}
	r = replayed(limit, time.Time{}, runs) // the sixth ran: now it is known
	if w := r.window(); !w.Sure || w.Used != 3 || !w.Until.Equal(ago(47).Add(limit.Within)) {
		t.Errorf("after 6: %+v", *w)
	}
}

// TestStartsThatAreNotOnRecordLeaveADoubt: a start that was refused, where there
// seemed to be room.
func TestStartsThatAreNotOnRecordLeaveADoubt(t *testing.T) {
	limit := policy.Limit{Starts: 5, Within: time.Minute}
	refused := history.Run{Start: history.Requested, Started: ago(40), End: history.End{Cause: history.StartLimit}}
	r := replayed(limit, time.Time{}, []history.Run{failing(50, 49, history.Requested), refused})
	if w := r.window(); w.Sure || !w.Hit || !w.Until.Equal(ago(40).Add(limit.Within)) {
		t.Errorf("%+v", *w)
	}
	if refused, doubtful := r.next(ago(30)); refused || !doubtful {
		t.Errorf("%v, %v; want a doubt", refused, doubtful)
	}
}
