package history

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheTimeTellsOfARunThatFollowsOnARestart(t *testing.T) {
	first := Run{InvocationID: "A", Start: UnknownStart, Started: at(1).Add(time.Second / 2), Restarted: at(10)}
	second := Run{InvocationID: "B", Start: Automatic, Started: at(11), Restarted: at(20)}
	third := Run{InvocationID: "C", Start: Automatic, Started: at(21)}
	refused := Run{Started: at(20), End: End{Cause: StartLimit}}
	asked := Run{InvocationID: "D", Start: Requested, Started: at(50)}
	for name, test := range map[string]struct {
		runs   []Run
		direct bool
		want   []Lines
	}{
		"alone":         {[]Run{third}, false, []Lines{{ID: "C"}}},
		"a burst":       {[]Run{first, second, third}, false, []Lines{{ID: "A", Until: at(10)}, {Since: at(10), Until: at(20)}, {Since: at(20)}}},
		"refused":       {[]Run{first, second, refused}, false, []Lines{{ID: "A", Until: at(10)}, {Since: at(10), Until: at(20)}, {}}},
		"then asked":    {[]Run{second, third, asked}, false, []Lines{{ID: "B", Until: at(20)}, {Since: at(20), Until: at(50)}, {ID: "D"}}},
		"direct":        {[]Run{first, second}, true, []Lines{{Since: at(1), Until: at(10)}, {Since: at(10), Until: at(20)}}},
		"direct, asked": {[]Run{asked}, true, []Lines{{ID: "D"}}},
		"clock set back": {
			[]Run{{InvocationID: "A", Started: at(11), Restarted: at(10)}, {InvocationID: "B", Started: at(2), Restarted: at(5)}}, false,
			[]Lines{{ID: "A"}, {ID: "B"}},
		},
	} {
		if diff := cmp.Diff(test.want, LinesOf(test.runs, test.direct)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestLinesAreARunsByIDOrByTime(t *testing.T) {
	for name, test := range map[string]struct {
		lines Lines
		id    string
		at    time.Time
		want  bool
	}{
		"all, one without an ID":        {Lines{}, "", at(1), true},
		"its ID":                        {Lines{ID: "A"}, "A", at(1), true},
		"another's":                     {Lines{ID: "A"}, "B", at(1), false},
		"none":                          {Lines{ID: "A"}, "", at(1), false},
		"its ID, after the restart":     {Lines{ID: "A", Until: at(5)}, "A", at(5), false},
		"its ID, in the hold-off":       {Lines{ID: "A", Until: at(5)}, "A", at(4), true},
		"its time":                      {Lines{Since: at(5), Until: at(9)}, "A", at(5), true},
		"its time, without an ID":       {Lines{Since: at(5), Until: at(9)}, "", at(5), false},
		"before its time":               {Lines{Since: at(5)}, "A", at(4), false},
		"the next one's":                {Lines{Since: at(5), Until: at(9)}, "A", at(9), false},
		"of the last, at whatever time": {Lines{Since: at(5)}, "A", at(900), true},
	} {
		if got := test.lines.Has(test.id, test.at); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestAnEndLineIsOfTheRunThatWasOn: journald has the lines of all runs under the ID
// of the first where the unit has RestartMode=direct, or of one that is lost.
func TestAnEndLineIsOfTheRunThatWasOn(t *testing.T) {
	const burst = `
0s A started
1s A exit exited 3
1s A failed exit-code
2s A scheduled 1
3s B started
4s %s prints svcrun: end cause=unhealthy check=x
4s B exit exited 69
4s B failed exit-code
5s B scheduled 2
6s C started`
	for id, shared := range map[string]bool{"A": true, "lost": true, "B": false} {
		fold := foldOf(t, strings.Replace(burst, "%s", id, 1))
		var got []Cause
		for _, r := range fold.Runs() {
			got = append(got, r.Cause)
		}
		if want := []Cause{ExitCode, Unhealthy, ""}; !slices.Equal(got, want) || fold.SharedIDs() != shared {
			t.Errorf("under the ID of %s: %v, want %v; shared: %t", id, got, want, fold.SharedIDs())
		}
	}
	late := foldOf(t, "0s A started\n1s A exit exited 69\n1s A failed exit-code\n1.5s A prints svcrun: end cause=unhealthy check=x\n2s A scheduled 1\n3s B started")
	if runs := late.Runs(); runs[0].Cause != Unhealthy || late.SharedIDs() {
		t.Errorf("in the hold-off: %+v", runs)
	}
	refused := foldOf(t, "0s A started\n1s A failed exit-code\n2s A scheduled 1\n3s B started\n4s B exit exited 69\n4s B failed exit-code\n5s B scheduled 2\n"+
		"5s - says Start request repeated too quickly.\n6s A prints svcrun: end cause=unhealthy check=x")
	if runs := refused.Runs(); len(runs) != 3 || runs[1].Cause != Unhealthy {
		t.Errorf("after a start that was refused: %+v", runs)
	}
}
