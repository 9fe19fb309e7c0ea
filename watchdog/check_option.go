package watchdog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// checkOption is one option: how a text sets its field, and the texts that
// would set it again, none where the field has its default.
type checkOption struct {
	name       string
	kinds      []Kind // that it belongs to; none for all
	repeatable bool
	flag       bool // may stand without a value
	set        func(c *Check, value string) error
	get        func(c Check) []string
}

// checkOptions are all options, in the order in which String writes them.
// What is not in this table is refused: no option is accepted and ignored.
var checkOptions = []checkOption{
	{
		name: "interval",
		set:  func(c *Check, v string) error { return setDuration(&c.Interval, v) },
		get:  func(c Check) []string { return durationText(c.Interval, DefaultInterval) },
	},
	{
		name: "timeout",
		set:  func(c *Check, v string) error { return setDuration(&c.Timeout, v) },
		get:  func(c Check) []string { return durationText(c.Timeout, min(DefaultTimeout, c.Interval)) },
	},
	{
		name: "failures",
		set:  func(c *Check, v string) error { return setCount(&c.Failures, v) },
		get:  func(c Check) []string { return countText(c.Failures, DefaultFailures) },
	},
	{
		name: "successes",
		set:  func(c *Check, v string) error { return setCount(&c.Successes, v) },
		get:  func(c Check) []string { return countText(c.Successes, DefaultSuccesses) },
	},
	{
		name: "on-unhealthy",
		set:  func(c *Check, v string) error { return setOnUnhealthy(&c.OnUnhealthy, v) },
		get:  func(c Check) []string { return plainText(string(c.OnUnhealthy)) },
	},
	{
		name: "method", kinds: []Kind{HTTP},
		set: func(c *Check, v string) error { return setMethod(&c.HTTP.Method, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Method) },
	},
	{
		name: "status", kinds: []Kind{HTTP},
		set: func(c *Check, v string) error { return setText(&c.HTTP.Status, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Status) },
	},
	{
		name: "header", kinds: []Kind{HTTP}, repeatable: true,
		set: func(c *Check, v string) error { return addHeader(&c.HTTP.Headers, v) },
		get: func(c Check) []string { return c.HTTP.Headers },
	},
	{
		name: "header-file", kinds: []Kind{HTTP},
		set: func(c *Check, v string) error { return setText(&c.HTTP.HeaderFile, v) },
		get: func(c Check) []string { return plainText(c.HTTP.HeaderFile) },
	},
	{
		name: "host", kinds: []Kind{HTTP},
		set: func(c *Check, v string) error { return setText(&c.HTTP.Host, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Host) },
	},
	{
		name: "body", kinds: []Kind{HTTP},
		set: func(c *Check, v string) error { return setText(&c.HTTP.Body, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Body) },
	},
	{
		name: "insecure", kinds: []Kind{HTTP}, flag: true,
		set: func(c *Check, v string) error { return setFlag(&c.HTTP.Insecure, v) },
		get: func(c Check) []string { return flagText(c.HTTP.Insecure) },
	},
	{
		name: "owned", kinds: []Kind{HTTP, TCP, Unix}, flag: true,
		set: func(c *Check, v string) error { return setFlag(&c.Owned, v) },
		get: func(c Check) []string { return flagText(c.Owned) },
	},
	{
		name: "max-age", kinds: []Kind{File},
		set: func(c *Check, v string) error { return setDuration(&c.MaxAge, v) },
		get: func(c Check) []string { return durationText(c.MaxAge, 0) },
	},
	{
		name: "peak", kinds: []Kind{Memory}, flag: true,
		set: func(c *Check, v string) error { return setFlag(&c.Peak, v) },
		get: func(c Check) []string { return flagText(c.Peak) },
	},
}

// OptionNames are the names of the options that a check can have, each of some
// kinds or of all.
func OptionNames() []string {
	var names []string
	for _, o := range checkOptions {
		names = append(names, o.name)
	}
	return names
}

// belongs says whether checks of a kind may have the option.
func (o checkOption) belongs(kind Kind) error {
	if len(o.kinds) == 0 || slices.Contains(o.kinds, kind) {
		return nil
	}
	names := make([]string, len(o.kinds))
	for i, k := range o.kinds {
		names[i] = string(k)
	}
	last := len(names) - 1
	text := names[last]
	if last > 0 {
		text = strings.Join(names[:last], ", ") + " and " + text
	}
	return fmt.Errorf("option %s belongs to %s checks, not to %s", o.name, text, kind)
}

// text is the option as a check's text has it.
func (o checkOption) text(value string) string {
	if o.flag {
		return o.name
	}
	return o.name + "=" + value
}

func setDuration(field *time.Duration, value string) (err error) {
	*field, err = syntax.ParseDuration(value)
	return err
}

// durationText is the text of a time span without blanks, as a flag likes it.
func durationText(d, byDefault time.Duration) []string {
	if d == byDefault {
		return nil
	}
	return []string{strings.ReplaceAll(syntax.FormatDuration(d), " ", "")}
}

func setCount(field *int, value string) (err error) {
	if *field, err = strconv.Atoi(value); err != nil {
		return fmt.Errorf("%q is no whole number", value)
	}
	return nil
}

func countText(n, byDefault int) []string {
	if n == byDefault {
		return nil
	}
	return []string{strconv.Itoa(n)}
}

// setText refuses the empty value, as it would be the same as none.
func setText(field *string, value string) error {
	if value == "" {
		return fmt.Errorf("the value is empty; leave the option out")
	}
	*field = value
	return nil
}

func plainText(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func setOnUnhealthy(field *OnUnhealthy, value string) error {
	*field = OnUnhealthy(value)
	return field.validate(false)
}

// setMethod keeps GET, the default, as the zero value.
func setMethod(field *string, value string) error {
	if value == "GET" {
		*field = ""
		return nil
	}
	return setText(field, value)
}

func addHeader(field *[]string, value string) error {
	name, content, err := SplitHeader(value)
	if err != nil {
		return err
	}
	*field = append(*field, name+": "+content)
	return nil
}

// setFlag reads a boolean as systemd does; its name alone is yes.
func setFlag(field *bool, value string) error {
	switch strings.ToLower(value) {
	case "1", "yes", "y", "true", "t", "on":
		*field = true
	case "0", "no", "n", "false", "f", "off":
		*field = false
	default:
		return fmt.Errorf("%q is neither yes nor no", value)
	}
	return nil
}

func flagText(set bool) []string {
	if !set {
		return nil
	}
	return []string{"yes"}
}

// findOption finds an option of any check by its name.
func findOption(name string) (checkOption, bool) {
	for _, known := range checkOptions {
		if known.name == name {
			return known, true
		}
	}
	return checkOption{}, false
}
