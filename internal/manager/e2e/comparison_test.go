package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/policy"
	"github.com/svckit/svckit/unitgen"
)

// crashed is a service that crashes twice and is stopped then.
func crashed() observation {
	at := func(ms int) time.Time { return time.UnixMilli(int64(1_000_000 + ms)) }
	words := func(run, begun int, words ...string) (lines []line) {
		for i, word := range words {
			lines = append(lines, line{at: at(begun + 10*i), run: run, word: word})
		}
		return lines
	}
	exit3 := policy.Exit{How: policy.Exited, Code: 3}
	o := observation{final: "inactive, exit status 0", runs: []run{
		{start: history.Requested, cause: history.ExitCode, result: "exit-code", main: exit3, began: at(0), ready: at(15), ended: at(30)},
		{start: history.Automatic, restarts: 1, cause: history.ExitCode, result: "exit-code", main: exit3, began: at(230), ready: at(245), ended: at(260)},
		{start: history.Automatic, restarts: 2, cause: history.StopRequested, result: "success", began: at(660), ready: at(675), ended: at(690)},
	}}
	o.lines = append(words(1, 10, "start", "exit-3"), words(2, 240, "start", "exit-3")...)
	o.lines = append(o.lines, words(3, 670, "start", "SIGTERM")...)
	return o
}

// later moves all that a service does after its nth run.
func later(o observation, n int, by time.Duration) {
	moved := o.runs[n].began
	for i := range o.lines {
		if !o.lines[i].at.Before(moved) {
			o.lines[i].at = o.lines[i].at.Add(by)
		}
	}
	for i := n; i < len(o.runs); i++ {
		r := &o.runs[i]
		r.began, r.ready, r.ended = r.began.Add(by), r.ready.Add(by), r.ended.Add(by)
	}
}

func compared(ours observation) comparison { return comparedOn(0, ours) }

// comparedOn compares what happened while the slowest process took so long.
func comparedOn(slowest time.Duration, ours observation) comparison {
	ladder := policy.Ladder{Base: 200 * time.Millisecond, Cap: 800 * time.Millisecond, Steps: 2}
	c := comparing(slowest)
	c.compare("a.service", "", unitgen.Restarts{Restarts: policy.Restarts{Ladder: ladder}, Waits: ladder}, crashed(), ours)
	return c
}

func TestWhatIsTheSameIsEqual(t *testing.T) {
	if c := compared(crashed()); len(c.differs)+len(c.late()) > 0 || c.largest() != 0 || len(c.apart) != 11 {
		t.Errorf("the same differs: %+v", c)
	}
}

func TestEveryDifferenceInWhatHappenedIsFound(t *testing.T) {
	for what, change := range map[string]func(o *observation){
		"the start":         func(o *observation) { o.runs[1].start = history.Requested },
		"the restarts":      func(o *observation) { o.runs[1].restarts = 2 },
		"the readiness":     func(o *observation) { o.runs[1].ready = time.Time{} },
		"the cause":         func(o *observation) { o.runs[1].cause = history.Clean },
		"the result":        func(o *observation) { o.runs[1].result = "signal" },
		"the exit":          func(o *observation) { o.runs[1].main.Code = 4 },
		"a run less":        func(o *observation) { o.runs = o.runs[:2] },
		"a run more":        func(o *observation) { o.runs = append(o.runs, run{began: o.runs[2].ended}) },
		"a signal":          func(o *observation) { o.lines[5].word = "SIGKILL" },
		"a signal less":     func(o *observation) { o.lines = o.lines[:5] },
		"the final state":   func(o *observation) { o.final = "failed, exit status 0" },
		"a wait too short":  func(o *observation) { later(*o, 1, -20*time.Millisecond) },
		"a wait much short": func(o *observation) { later(*o, 2, -200*time.Millisecond) },
	} {
		ours := crashed()
		change(&ours)
		if c := compared(ours); len(c.differs) == 0 {
			t.Errorf("%s: no difference is found", what)
		}
	}
}

func TestLateIsOnlyWhatIsLateEveryTime(t *testing.T) {
	ours := crashed()
	later(ours, 1, 2*time.Second)
	c := compared(ours)
	if late := c.late(); len(c.differs) > 0 || len(late) != 1 || !strings.Contains(late[0], "run 1, the wait after it") {
		t.Errorf("a wait that is 2s too long gives %v, %v", c.differs, late)
	}
	c.merge(compared(crashed()))
	if late := c.late(); len(late) > 0 {
		t.Errorf("late once and never again is late: %v", late)
	}
}

func TestWhatTheMachineItselfIsLateByIsNobodysFault(t *testing.T) {
	ours := crashed()
	later(ours, 1, 2*time.Second)
	for slowest, want := range map[time.Duration]int{10 * time.Millisecond: 1, 200 * time.Millisecond: 1, 300 * time.Millisecond: 0} {
		c := comparedOn(slowest, ours)
		if late := c.late(); len(c.differs) > 0 || len(late) != want {
			t.Errorf("2s too late, where a process takes %v: %v, %v", slowest, c.differs, late)
		}
	}
}

func TestWhatDiffersIsUnsureOnAMachineThatIsTooBusyAndCountsNoMoreWhenItIsPlayedAgain(t *testing.T) {
	ours := crashed()
	ours.lines[5].word = "SIGKILL"
	if c := comparedOn(10*time.Millisecond, ours); len(c.differs) == 0 || c.unsure() {
		t.Errorf("on an idle machine it is unsure that %v", c.differs)
	}
	c := comparedOn(time.Second, ours)
	if !c.unsure() {
		t.Errorf("on a busy machine it is sure that %v", c.differs)
	}
	if c.merge(compared(ours)); len(c.differs) == 0 || c.unsure() {
		t.Errorf("what differs again is %v, unsure: %v", c.differs, c.unsure())
	}
	c = comparedOn(time.Second, ours)
	if c.merge(compared(crashed())); len(c.differs)+len(c.late()) > 0 || len(c.apart) != 11 {
		t.Errorf("what differed once is held against it: %+v", c)
	}
}

// TestTimeCountsFromWhatIsDone has a stop asked for that takes a while to reach
// the manager: what lies before that is none of the manager's time.
func TestTimeCountsFromWhatIsDone(t *testing.T) {
	theirs, ours := crashed(), crashed()
	began := theirs.runs[2].began
	later(ours, 2, 0)
	ours.runs[2].ended = ours.runs[2].ended.Add(3 * time.Second)
	ours.lines[5].at = ours.lines[5].at.Add(3 * time.Second)
	if c := compared(ours); len(c.late()) != 1 {
		t.Errorf("a stop that comes by itself 3s later is late: %v", c.late())
	}
	ours.acts = []act{{begun: began.Add(20 * time.Millisecond), done: began.Add(3 * time.Second)}}
	if c := compared(ours); len(c.differs)+len(c.late()) > 0 {
		t.Errorf("a stop that is asked for 3s later is late: %v %v", c.differs, c.late())
	}
}
