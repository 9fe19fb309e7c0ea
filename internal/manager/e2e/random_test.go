package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/svckit/svckit/policy"
)

// endings are the ways for a run to end by itself that random scenarios choose
// from.
var endings = []string{
	"ready exit=0", "ready exit=3", "ready exit=7", "ready exit=9", "exit=0", "exit=3", "exit=7", "exit=9",
	"ready die=KILL", "ready die=TERM", "ready die=HUP", "ready die=INT", "ready die=PIPE", "ready die=USR1", "ready die=USR2", "ready die=QUIT",
	"die=KILL", "die=TERM", "die=USR1", "core=SEGV", "ready core=ABRT", "ready core=USR1", "leave ready exit=3",
	"ready say=STOPPING=1 for=200ms exit=0", "ready say=STOPPING=1 for=200ms exit=3", "say=STOPPING=1 for=100ms exit=0",
	"ready say=WATCHDOG=trigger for=10s", "ready say=RELOADING=1 for=100ms exit=3", "ready say=RELOADING=1 for=100ms exit=0",
	"say=RELOADING=1 ready exit=3",
}

// random makes scenarios by chance.
type random struct{ *rand.Rand }

// some are so many of them.
func (r random) some(n int) []scenario {
	var all []scenario
	for i := range n {
		all = append(all, r.alone(i))
	}
	return all
}

// one is one of several.
func (r random) one(of ...string) string { return of[r.IntN(len(of))] }

// alone is a scenario of one service that ends a few times, under any rules.
func (r random) alone(n int) scenario {
	var runs []string
	for range 1 + r.IntN(3) {
		runs = append(runs, endings[r.IntN(len(endings))])
	}
	restart := "{when: no}"
	if values := policy.RestartValues(); r.IntN(len(values)) > 0 {
		restart = fmt.Sprintf("{when: %s, base: 200ms, cap: %s, never_on: %s, give_up: %s}",
			values[1+r.IntN(len(values)-1)], r.one("200ms", "400ms"), r.one("[]", "[7, USR2]", "[9, USR1, TERM]", "[ABRT, 0]"), r.one("never", "{starts: 2, within: 10m}", "{starts: 3, within: 10m}"))
	}
	lines := []string{
		"restart: " + restart,
		"success: " + r.one("[]", "[9, USR1]", "[7, KILL, ABRT]"),
		"early_exit: " + r.one("fail", "success"),
		"drain: {kill_wait: 300ms}",
	}
	if r.IntN(4) == 0 {
		lines = append(lines, "ready: {checks: []}")
	}
	if r.IntN(4) == 0 {
		lines = append(lines, "reload: {signal: HUP}")
	}
	cues := []cue{start, serving, stop, down}
	if r.IntN(3) == 0 {
		cues = []cue{start, serving, reload, after(300 * time.Millisecond), stop, down}
	}
	return scenario{name: fmt.Sprintf("random-%d", n), services: one(strings.Join(lines, "\n"), append(runs, "ready note=serving")...), cues: cues}
}
