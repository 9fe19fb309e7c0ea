package machine

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svckit/svckit/internal/docs"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

var update = flag.Bool("update", false, "draw the state diagram of docs/architecture.md anew; commit only what you understand")

// edges are what may lead from one state to another, by the names that the
// diagram has for them. What has no name here leads nowhere.
var edges = map[string]string{
	"spawn failed":            "not executable",
	"main exits":              "it ends, alone",
	"main is killed":          "it ends, alone",
	"main fails, others live": "it ends, others live",
	"scope is empty":          "all are gone",
	"TERM":                    "TERM",
	"ABRT":                    "ABRT",
	"HUP":                     "reload",
	"reload asked":            "reload",
	"ready holds":             "ready checks hold",
	"child reloading":         "it says RELOADING=1",
	"child stopping":          "it says STOPPING=1",
}

// times are what the deadline of a state is called.
var times = map[State]string{
	Delaying: "delay over", Starting: "start timeout", Reloading: "reload timeout", Draining: "hook and delay over",
	Stopping: "last step over", Ending: "kill wait over", Aborting: "abort wait over", Killing: "kill wait over",
}

// walk is the machine's arrows: for each pair of states the names of what leads
// from the first to the second.
type walk map[[2]State]map[string]bool

func (w walk) add(from, to State, name string) {
	if from == to {
		return
	}
	if w[[2]State{from, to}] == nil {
		w[[2]State{from, to}] = map[string]bool{}
	}
	w[[2]State{from, to}][name] = true
}

// arrows drives the machine: every event in every state, every deadline, a
// second request to stop, and a live check that fails to its threshold.
func arrows(t *testing.T) walk {
	w := walk{}
	for state := Delaying; state < Done; state++ {
		for name, event := range events() {
			if !meets(state, name) {
				continue
			}
			r := reach(state)
			r.do(event)
			if r.m.State() != state && edges[name] == "" {
				t.Errorf("%v × %s → %v, which has no name in the diagram", state, name, r.m.State())
			}
			w.add(state, r.m.State(), edges[name])
		}
		w.add(state, afterDeadline(reach(state)), times[state])
		w.add(state, afterSecondStop(reach(state)), "TERM again")
		w.add(state, afterFailures(reach(state)), "unhealthy")
	}
	w.nothingToDrain()
	w.noManager()
	hasty := newRig(typical()).do(Tick{}, SpawnFailed{"no such file"})
	w.add(Starting, hasty.m.State(), edges["spawn failed"])
	return w
}

// nothingToDrain adds the arrows of a service without a hook and a delay.
func (w walk) nothingToDrain() {
	w.add(Ready, newRig(plain()).ready().do(Signalled{syntax.SIGTERM}).m.State(), "TERM, nothing to drain")
	w.add(Ready, afterFailures(newRig(plain()).ready()), "unhealthy, nothing to drain")
	reloading := newRig(plain()).ready().do(Signalled{syntax.SIGHUP})
	w.add(Reloading, reloading.do(Signalled{syntax.SIGTERM}).m.State(), "TERM, nothing to drain")
}

// noManager adds the abort that nobody else does where there is no manager.
func (w walk) noManager() {
	cfg := plain()
	cfg.Managed, cfg.OnUnhealthy = false, watchdog.Abort
	w.add(Ready, afterFailures(newRig(cfg).ready()), "unhealthy, abort, no manager")
}

// meets says whether the loop ever has that event in that state.
func meets(s State, name string) bool {
	return !once[name] && (s != Delaying || !strings.HasPrefix(name, "main "))
}

// afterDeadline is the state that time alone leads to.
func afterDeadline(r *rig) State {
	from := r.m.State()
	for range 100 {
		if r.m.deadline.IsZero() || r.m.State() != from {
			break
		}
		r.now = r.m.deadline
		r.do(Tick{})
	}
	return r.m.State()
}

// afterSecondStop is the state that a later request to stop leads to, where the first
// leaves the state as it is.
func afterSecondStop(r *rig) State {
	from := r.m.State()
	if r.do(Signalled{syntax.SIGTERM}); r.m.State() != from {
		return from
	}
	r.now = r.now.Add(sameStop)
	for range r.cfg.Drain.Steps {
		r.do(Signalled{syntax.SIGTERM})
	}
	return r.m.State()
}

// afterFailures is the state that a live check leads to that fails to its threshold.
func afterFailures(r *rig) State {
	from := r.m.State()
	for range r.cfg.Live[0].Failures {
		if r.m.State() == from {
			r.now = r.now.Add(time.Second)
			r.m.Step(r.now, Probed{ID: 1, Failure: "refused"})
		}
	}
	return r.m.State()
}

// mermaid draws the arrows, as text that Git's hosts make a picture of.
func (w walk) mermaid() string {
	var out strings.Builder
	out.WriteString("stateDiagram-v2\n    [*] --> delaying\n")
	for from := Delaying; from < Done; from++ {
		for to := Delaying; to <= Done; to++ {
			if names := w[[2]State{from, to}]; names != nil {
				fmt.Fprintf(&out, "    %v --> %v: %s\n", from, to, strings.Join(slices.Sorted(maps.Keys(names)), " / "))
			}
		}
	}
	out.WriteString("    done --> [*]\n")
	return out.String()
}

func TestStateDiagramOfTheDocsIsTheMachine(t *testing.T) {
	const file = "../../../docs/architecture.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := docs.Splice(string(page), "states", arrows(t).mermaid())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s differs; run go test -update if that is meant\n%s", file, diff)
	}
}
