package unitgen

import (
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// The least time spans that make sense.
const (
	minDelay  = time.Millisecond
	minWithin = time.Second
)

// maxStarts bounds a start limit.
const maxStarts = 100_000

// restartWords are the values of Restart= (systemd.service(5)).
var restartWords = []string{never, "always", "on-success", "on-failure", "on-abnormal", "on-abort", "on-watchdog"}

// restartSection is the schema of restart:.
var restartSection = section[Restart]{
	path: "restart", example: "{when: on-failure, base: 1s, cap: 60s}",
	fields: map[string]field[Restart]{
		"when":    func(r *reader, v value, into *Restart) { r.word(v, restartWords, &into.When) },
		"base":    func(r *reader, v value, into *Restart) { r.duration(v, minDelay, &into.Ladder.Base) },
		"cap":     func(r *reader, v value, into *Restart) { r.duration(v, minDelay, &into.Ladder.Cap) },
		"factor":  readFactor,
		"steps":   func(r *reader, v value, into *Restart) { r.integer(v, 1, policy.MaxSteps, &into.Ladder.Steps) },
		"give_up": readGiveUp,
	},
	later: []string{"jitter", "never_on", "stable_after", "storm"},
}

// readRestart reads restart:, and if all of it can be read, checks what its
// keys say against each other.
func readRestart(r *reader, v value, p *Policy) {
	before := len(r.errs)
	restartSection.read(r, v, &p.Restart)
	if len(r.errs) == before {
		r.checkRestart(&p.Restart)
	}
}

func readFactor(r *reader, v value, into *Restart) {
	text, ok := r.text(v, "2")
	if !ok {
		return
	}
	factor, err := policy.ParseFactor(text)
	if err != nil {
		r.errorf(v.Node, "%s: %w", v.path, err)
		return
	}
	into.Factor = factor
}

const giveUpExample = "never, {starts: 5, within: 10m}, {starts: 5} or {after: 15m}"

// giveUpSection is the schema of give_up: where it is a mapping.
var giveUpSection = section[GiveUp]{
	path: "restart.give_up", example: giveUpExample,
	fields: map[string]field[GiveUp]{
		"starts": func(r *reader, v value, into *GiveUp) { r.integer(v, 1, maxStarts, &into.Starts) },
		"within": readWithin,
		"after":  func(r *reader, v value, into *GiveUp) { r.duration(v, minDelay, &into.After) },
	},
}

func readGiveUp(r *reader, v value, into *Restart) {
	if v.Kind == yaml.ScalarNode {
		if v.Value != "never" {
			r.errorf(v.Node, "restart.give_up: %s is not known; write %s", quoted(v.Value), giveUpExample)
		}
		return
	}
	before := len(r.errs)
	giveUpSection.read(r, v, &into.GiveUp)
	_, starts := r.at["restart.give_up.starts"]
	_, within := r.at["restart.give_up.within"]
	_, after := r.at["restart.give_up.after"]
	switch {
	case len(r.errs) > before || v.Kind != yaml.MappingNode:
	case after && (starts || within):
		r.errorf(v.Node, "restart.give_up: after says it all; remove starts and within, or after")
	case !after && !starts:
		r.errorf(v.Node, "restart.give_up: it does not say when; write %s", giveUpExample)
	}
}

// readWithin reads a window, the one time span that may be without end.
func readWithin(r *reader, v value, into *GiveUp) {
	if v.Kind == yaml.ScalarNode && v.Value == "infinity" {
		into.Within = syntax.Infinity
		return
	}
	r.duration(v, minWithin, &into.Within)
}

// checkRestart completes the ladder, and reports what the keys of restart:
// say against each other.
func (r *reader) checkRestart(restart *Restart) {
	given := func(key string) bool { _, ok := r.at["restart."+key]; return ok }
	ladder := &restart.Ladder
	switch {
	case restart.When == never:
		for _, key := range []string{"base", "cap", "factor", "steps", "give_up"} {
			if given(key) {
				r.failAt([]string{"restart." + key}, "restart.%s has no effect, as restart.when is no; remove it, or write when: on-failure", key)
			}
		}
	case given("factor") && given("steps"):
		r.failAt([]string{"restart.steps"}, "restart.steps and restart.factor say the same; remove one of the two")
	case ladder.Cap < ladder.Base:
		r.capBelowBase(given("cap"), *ladder)
	case given("steps"):
		restart.Factor = 0
	default:
		ladder.Steps = policy.StepsFor(ladder.Base, ladder.Cap, restart.Factor)
	}
}

// capBelowBase says which of the two is to be changed: the one that is there,
// where the other is the default.
func (r *reader) capBelowBase(capGiven bool, ladder policy.Ladder) {
	base, top := syntax.FormatDuration(ladder.Base), syntax.FormatDuration(ladder.Cap)
	if !capGiven {
		r.failAt([]string{"restart.base"}, "restart.base %s is above the default cap of %s; write cap: as well, %s or more", base, top, base)
		return
	}
	if _, baseGiven := r.at["restart.base"]; !baseGiven {
		r.failAt([]string{"restart.cap"}, "restart.cap %s is below the default base of %s; write base: as well, %s or less", top, base, top)
		return
	}
	r.failAt([]string{"restart.cap"}, "restart.cap %s is below restart.base %s; raise cap to %s or more, or lower base", top, base, base)
}

// success reads the exit codes and signals that are a clean end.
func (r *reader) success(v value, into *Success) {
	for _, item := range r.items(v, "[143]") {
		text, ok := r.text(item, "143")
		if !ok {
			continue
		}
		code, err := strconv.Atoi(text)
		switch {
		case err != nil:
			r.successSignal(item, text, into)
		case code < 0 || code > 255:
			r.errorf(item.Node, "%s: %d is no exit code; write 0 to 255, or the name of a signal", item.path, code)
		case slices.Contains(unhealthyCodes, code):
			r.errorf(item.Node, "%s: with %d svcrun says that the service was unhealthy or not ready in time; take another code", item.path, code)
		default:
			into.Codes = append(into.Codes, code)
		}
	}
}

func (r *reader) successSignal(item value, text string, into *Success) {
	signal, err := syntax.ParseSignal(text)
	if err != nil {
		r.errorf(item.Node, "%s: %w; or write an exit code from 0 to 255", item.path, err)
		return
	}
	into.Signals = append(into.Signals, signal)
}
