package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// The bounds of each time span in a start delay: below, it is none; above, it
// is a mistake.
const (
	minSpan = time.Millisecond
	maxSpan = 7 * 24 * time.Hour
)

const startDelayExample = "base=1s,cap=60s,steps=6,jitter=25%,storm=5/30s/60s"

// startDelayPart is one NAME=VALUE of a start delay.
type startDelayPart struct {
	name string
	set  func(d *StartDelay, value string) error
}

// startDelayParts are all of them, in the order in which String writes them.
var startDelayParts = []startDelayPart{
	{"base", func(d *StartDelay, v string) error { return setSpan(&d.Ladder.Base, v) }},
	{"cap", func(d *StartDelay, v string) error { return setSpan(&d.Ladder.Cap, v) }},
	{"steps", func(d *StartDelay, v string) error { return setSteps(&d.Ladder.Steps, v) }},
	{"jitter", func(d *StartDelay, v string) (err error) { d.Jitter, err = ParseJitter(v); return err }},
	{"storm", func(d *StartDelay, v string) (err error) { d.Storm, err = ParseStorm(v); return err }},
}

// ParseStartDelay reads base=1s,cap=60s,steps=6,jitter=25%,storm=5/30s/60s. The
// parts come in any order, each at most once. A base without a cap is a flat
// wait, a cap without steps is reached by doubling.
func ParseStartDelay(s string) (StartDelay, error) {
	if strings.TrimSpace(s) == "" {
		return StartDelay{}, fmt.Errorf("empty start delay; write for example %s", startDelayExample)
	}
	var d StartDelay
	given := map[string]bool{}
	for text := range strings.SplitSeq(s, ",") {
		name, value, hasValue := strings.Cut(text, "=")
		if !hasValue {
			return StartDelay{}, fmt.Errorf("%.40q is not NAME=VALUE; write for example %s", text, startDelayExample)
		}
		part, err := findPart(name)
		if err != nil {
			return StartDelay{}, err
		}
		if given[name] {
			return StartDelay{}, fmt.Errorf("%s is there twice; leave one of them out", name)
		}
		given[name] = true
		if err := part.set(&d, value); err != nil {
			return StartDelay{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return d.complete(given)
}

// complete fills in what follows from the given parts, and checks them against
// each other.
func (d StartDelay) complete(given map[string]bool) (StartDelay, error) {
	base, top := spanText(d.Ladder.Base), spanText(d.Ladder.Cap)
	switch {
	case !given["base"] && (given["cap"] || given["steps"]):
		return StartDelay{}, fmt.Errorf("a ladder without its first wait; write base= as well, for example base=1s")
	case !given["cap"] && given["steps"]:
		return StartDelay{}, fmt.Errorf("steps lead to no cap; write cap= as well, or leave steps out for a flat wait")
	case given["cap"] && d.Ladder.Cap < d.Ladder.Base:
		return StartDelay{}, fmt.Errorf("cap %s is below base %s; write cap=%s or more, or lower base", top, base, base)
	case !given["base"] && !given["storm"]:
		return StartDelay{}, fmt.Errorf("jitter alone has nothing to spread; write for example %s", startDelayExample)
	case !given["cap"]:
		d.Ladder = Flat(d.Ladder.Base)
	case !given["steps"]:
		d.Ladder.Steps = StepsFor(d.Ladder.Base, d.Ladder.Cap, DefaultFactor)
	}
	return d, nil
}

// ParseStorm reads FAILURES/HALF-LIFE/PAUSE, as in 5/30s/60s.
func ParseStorm(s string) (Storm, error) {
	words := strings.Split(s, "/")
	if len(words) != 3 {
		return Storm{}, fmt.Errorf("%.40q is not FAILURES/HALF-LIFE/PAUSE; write for example 5/30s/60s", s)
	}
	var storm Storm
	var err error
	if storm.Failures, err = strconv.Atoi(words[0]); err != nil || storm.Failures < 1 || storm.Failures > maxStormFailures {
		return Storm{}, fmt.Errorf("%.40q failures; write a whole number from 1 to %d", words[0], maxStormFailures)
	}
	if err := setSpan(&storm.HalfLife, words[1]); err != nil {
		return Storm{}, fmt.Errorf("half-life: %w", err)
	}
	if err := setSpan(&storm.Pause, words[2]); err != nil {
		return Storm{}, fmt.Errorf("pause: %w", err)
	}
	return storm, nil
}

// String is the storm as ParseStorm reads it.
func (s Storm) String() string {
	return strconv.Itoa(s.Failures) + "/" + spanText(s.HalfLife) + "/" + spanText(s.Pause)
}

// String is the start delay as ParseStartDelay reads it, in one word; that of
// the zero StartDelay is empty.
func (d StartDelay) String() string {
	var parts []string
	put := func(name, value string) { parts = append(parts, name+"="+value) }
	if d.Ladder.Base > 0 {
		put("base", spanText(d.Ladder.Base))
	}
	if d.Ladder != Flat(d.Ladder.Base) {
		put("cap", spanText(d.Ladder.Cap))
		put("steps", strconv.Itoa(d.Ladder.Steps))
	}
	if d.Jitter != NoJitter {
		put("jitter", d.Jitter.String())
	}
	if d.Storm != (Storm{}) {
		put("storm", d.Storm.String())
	}
	return strings.Join(parts, ",")
}

func setSpan(field *time.Duration, value string) error {
	d, err := syntax.ParseDuration(value)
	switch {
	case err != nil:
		return err
	case d < minSpan || d > maxSpan:
		return fmt.Errorf("%.40s is out of range; write 1ms to 7d, or leave it out for none", value)
	}
	*field = d
	return nil
}

func setSteps(field *int, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > MaxSteps {
		return fmt.Errorf("%.40q steps; write a whole number from 0 (flat) to %d", value, MaxSteps)
	}
	*field = n
	return nil
}

// spanText is a time span in one word.
func spanText(d time.Duration) string { return strings.ReplaceAll(syntax.FormatDuration(d), " ", "") }

// foreignParts are other programs' names for the parts, in lower case and
// without - and _.
var foreignParts = map[string]string{
	"delay": "base", "initial": "base", "initialdelay": "base", "firstdelay": "base", "min": "base", "restartsec": "base", "backoff": "base",
	"max": "cap", "maxdelay": "cap", "maxbackoff": "cap", "limit": "cap", "restartmaxdelaysec": "cap",
	"factor": "steps", "multiplier": "steps", "exponent": "steps", "restartsteps": "steps",
	"random": "jitter", "randomize": "jitter", "spread": "jitter", "randomizeddelaysec": "jitter", "restartrandomizeddelaysec": "jitter",
	"failures": "storm", "threshold": "storm", "halflife": "storm", "pause": "storm", "decay": "storm", "cooldown": "storm",
}

// findPart finds a part by its name, or says what a wrong name most likely
// stands for.
func findPart(name string) (startDelayPart, error) {
	names := make([]string, len(startDelayParts))
	for i, part := range startDelayParts {
		if names[i] = part.name; part.name == name {
			return part, nil
		}
	}
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	meant, ok := foreignParts[plain]
	switch {
	case ok && meant == "steps":
		return startDelayPart{}, fmt.Errorf("unknown part %q; here it is called steps: how many it takes from base to cap", name)
	case ok && meant == "storm":
		return startDelayPart{}, fmt.Errorf("unknown part %q; write storm=FAILURES/HALF-LIFE/PAUSE, for example storm=5/30s/60s", name)
	case ok:
		return startDelayPart{}, fmt.Errorf("unknown part %q; here it is called %s", name, meant)
	}
	if near, ok := syntax.Nearest(plain, names); ok {
		return startDelayPart{}, fmt.Errorf("unknown part %q; did you mean %s", name, near)
	}
	return startDelayPart{}, fmt.Errorf("unknown part %.40q; they are %s", name, strings.Join(names, ", "))
}
