package watchdog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// checkOption is one option: how a text sets its field, and the texts that
// would set it again, none where the field has its default.
type checkOption struct {
	name       string
	httpOnly   bool
	repeatable bool
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
		name: "method", httpOnly: true,
		set: func(c *Check, v string) error { return setMethod(&c.HTTP.Method, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Method) },
	},
	{
		name: "status", httpOnly: true,
		set: func(c *Check, v string) error { return setText(&c.HTTP.Status, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Status) },
	},
	{
		name: "header", httpOnly: true, repeatable: true,
		set: func(c *Check, v string) error { return addHeader(&c.HTTP.Headers, v) },
		get: func(c Check) []string { return c.HTTP.Headers },
	},
	{
		name: "header-file", httpOnly: true,
		set: func(c *Check, v string) error { return setText(&c.HTTP.HeaderFile, v) },
		get: func(c Check) []string { return plainText(c.HTTP.HeaderFile) },
	},
	{
		name: "host", httpOnly: true,
		set: func(c *Check, v string) error { return setText(&c.HTTP.Host, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Host) },
	},
	{
		name: "body", httpOnly: true,
		set: func(c *Check, v string) error { return setText(&c.HTTP.Body, v) },
		get: func(c Check) []string { return plainText(c.HTTP.Body) },
	},
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

// knownOption says whether name is an option of any check.
func knownOption(name string) bool {
	for _, known := range checkOptions {
		if known.name == name {
			return true
		}
	}
	return false
}

// foreignOptions are other programs' names for what svckit calls otherwise,
// in lower case and without - and _.
var foreignOptions = map[string]string{
	"period": "interval", "periodseconds": "interval", "every": "interval",
	"retries": "failures", "threshold": "failures", "failurethreshold": "failures", "unhealthythreshold": "failures",
	"successthreshold": "successes", "healthythreshold": "successes",
	"timeoutseconds": "timeout", "onfail": "on-unhealthy", "onfailure": "on-unhealthy",
	"headers": "header", "httpheaders": "header", "expectedstatus": "status", "statuscode": "status",
}

// startOptions are foreign names for the grace at the start, which is no
// option of a check: failures do not count before readiness.
var startOptions = map[string]bool{
	"startperiod": true, "initialdelayseconds": true, "initialdelay": true, "startinterval": true,
}

// unknownOption says what the user of a wrong name most likely wants.
func unknownOption(name string) error {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	if meant, ok := foreignOptions[plain]; ok {
		return fmt.Errorf("unknown option %q; here it is called %s", name, meant)
	}
	if startOptions[plain] {
		return fmt.Errorf("unknown option %q; failures do not count before readiness, and the start timeout "+
			"(--start-timeout, in a policy ready.start_timeout) bounds the start", name)
	}
	if plain == "owned" || plain == "insecure" {
		return fmt.Errorf("this version has no option %s", plain)
	}
	names := make([]string, len(checkOptions))
	for i, known := range checkOptions {
		names[i] = known.name
		if plain == strings.ReplaceAll(known.name, "-", "") {
			return fmt.Errorf("unknown option %q; did you mean %s", name, known.name)
		}
	}
	if near, ok := syntax.Nearest(name, names); ok {
		return fmt.Errorf("unknown option %q; did you mean %s", name, near)
	}
	return fmt.Errorf(`unknown option %.40q; they are %s, and a comma within a value is written \,`, name, strings.Join(names, ", "))
}
