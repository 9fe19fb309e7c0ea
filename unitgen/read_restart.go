package unitgen

import (
	"slices"
	"strconv"
	"strings"
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
		"when":         func(r *reader, v value, into *Restart) { r.word(v, restartWords, &into.When) },
		"base":         func(r *reader, v value, into *Restart) { r.duration(v, minDelay, &into.Ladder.Base) },
		"cap":          func(r *reader, v value, into *Restart) { r.duration(v, minDelay, &into.Ladder.Cap) },
		"factor":       readFactor,
		"steps":        func(r *reader, v value, into *Restart) { r.integer(v, 1, policy.MaxSteps, &into.Ladder.Steps) },
		"jitter":       readJitter,
		"stable_after": readStableAfter,
		"give_up":      readGiveUp,
		"storm":        readStorm,
		"never_on":     func(r *reader, v value, into *Restart) { r.statuses(v, "[78, SIGUSR2]", &into.NeverOn) },
	},
	instead: [][]string{{"factor", "steps"}},
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

func readJitter(r *reader, v value, into *Restart) {
	text, ok := r.text(v, "25%")
	if !ok {
		return
	}
	jitter, err := policy.ParseJitter(text)
	if err != nil {
		r.errorf(v.Node, "%s: %w", v.path, err)
		return
	}
	into.Jitter = jitter
}

// readStableAfter reads how long a run has to be for the failures before it to
// be forgotten; infinity is for never.
func readStableAfter(r *reader, v value, into *Restart) {
	if v.Kind == yaml.ScalarNode && v.Value == "infinity" {
		into.StableAfter = 0
		return
	}
	r.duration(v, minDelay, &into.StableAfter)
}

// maxStormFailures bounds a storm's threshold (svcrun(1), --start-delay).
const maxStormFailures = 1000

// stormSection is the schema of storm:, which says all of it or nothing.
var stormSection = section[policy.Storm]{
	path: "restart.storm", example: "{failures: 5, half_life: 30s, pause: 60s}",
	fields: map[string]field[policy.Storm]{
		"failures":  func(r *reader, v value, into *policy.Storm) { r.integer(v, 1, maxStormFailures, &into.Failures) },
		"half_life": func(r *reader, v value, into *policy.Storm) { r.duration(v, minDelay, &into.HalfLife) },
		"pause":     func(r *reader, v value, into *policy.Storm) { r.duration(v, minDelay, &into.Pause) },
	},
	whole: true,
}

func readStorm(r *reader, v value, into *Restart) {
	before := len(r.errs)
	stormSection.read(r, v, &into.Storm)
	if len(r.errs) > before {
		return
	}
	var missing []string
	for _, key := range stormSection.known() {
		if _, given := r.at[join(v.path, key)]; !given {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		r.errorf(v.Node, "%s: it does not say %s; write all three, such as %s", v.path, strings.Join(missing, ", "), stormSection.example)
	}
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
	whole: true,
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
		for _, key := range []string{"base", "cap", "factor", "steps", "jitter", "stable_after", "give_up", "storm", "never_on"} {
			if r.says("restart." + key) {
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
func (r *reader) success(v value, into *Success) { r.statuses(v, "[143]", into) }

// statuses reads a list of exit codes and signals.
func (r *reader) statuses(v value, example string, into *Statuses) {
	for _, item := range r.items(v, example) {
		text, ok := r.text(item, example)
		if !ok {
			continue
		}
		code, err := strconv.Atoi(text)
		switch {
		case err != nil:
			r.statusSignal(item, text, into)
		case code < 0 || code > 255:
			r.errorf(item.Node, "%s: %d is no exit code; write 0 to 255, or the name of a signal", item.path, code)
		case slices.Contains(unhealthyCodes, code):
			r.errorf(item.Node, "%s: with %d svcrun says that the service was unhealthy or not ready in time; take another code", item.path, code)
		default:
			into.Codes = append(into.Codes, code)
		}
	}
}

func (r *reader) statusSignal(item value, text string, into *Statuses) {
	signal, err := syntax.ParseSignal(text)
	if err != nil {
		r.errorf(item.Node, "%s: %w; or write an exit code from 0 to 255", item.path, err)
		return
	}
	into.Signals = append(into.Signals, signal)
}
