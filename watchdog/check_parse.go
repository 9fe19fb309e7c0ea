package watchdog

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svckit/svckit/internal/syntax"
)

// maxCheck bounds the text of one check, in bytes.
const maxCheck = 8 << 10

// Option is one option of a check as its text says it, with Name in the
// flag's spelling: on-unhealthy, not on_unhealthy.
type Option struct {
	Name, Value string
}

// ParseCheck reads KIND:WHERE[,option[=value]...]. A comma in a value is
// written \, and backslashes count double before a comma only, so that a
// regular expression or a command can be written as it is.
//
// No error repeats a URL, a header or a command, as each may hold a secret.
func ParseCheck(s string) (Check, error) {
	if len(s) > maxCheck {
		return Check{}, fmt.Errorf("the check is longer than %d bytes", maxCheck)
	}
	head, rest, more := cutPart(s)
	word, target, _ := strings.Cut(head, ":")
	kind := Kind(word)
	if kind == HTTP || kind == https || kind == httpUnix {
		target = head // a URL has its scheme
	}
	var options []Option
	for more {
		var part string
		part, rest, more = cutPart(rest)
		name, value, hasValue := strings.Cut(part, "=")
		known, isKnown := findOption(name)
		switch {
		case part == "":
			return Check{}, fmt.Errorf(`an option is empty; a comma within a value is written \,`)
		case hasValue || !isKnown:
		case known.flag:
			value = "yes"
		default:
			return Check{}, fmt.Errorf("option %s wants a value: write %s=VALUE", name, name)
		}
		options = append(options, Option{name, value})
	}
	return ParseCheckOptions(kind, target, options)
}

// cutPart takes the text up to the first comma that separates, with the
// escapes in it undone.
func cutPart(s string) (part, rest string, more bool) {
	var out strings.Builder
	for {
		comma := strings.IndexByte(s, ',')
		if comma < 0 {
			return out.String() + s, "", false
		}
		plain := strings.TrimRight(s[:comma], `\`)
		slashes := comma - len(plain)
		out.WriteString(plain)
		out.WriteString(strings.Repeat(`\`, slashes/2))
		s = s[comma+1:]
		if slashes%2 == 0 {
			return out.String(), s, true
		}
		out.WriteByte(',')
	}
}

// ParseCheckOptions reads a check that is in pieces already, as a policy's
// mapping has it. The target of an HTTP check has its scheme.
func ParseCheckOptions(kind Kind, target string, options []Option) (Check, error) {
	size := len(kind) + len(target)
	for _, o := range options {
		size += len(o.Name) + len(o.Value)
		if !utf8.ValidString(o.Name) || !utf8.ValidString(o.Value) {
			return Check{}, fmt.Errorf("an option is not valid UTF-8")
		}
	}
	if size > maxCheck {
		return Check{}, fmt.Errorf("the check is longer than %d bytes", maxCheck)
	}
	c := Check{Interval: DefaultInterval, Failures: DefaultFailures, Successes: DefaultSuccesses}
	var err error
	if c.Kind, c.Target, err = parseTarget(kind, target); err != nil {
		return Check{}, err
	}
	given := map[string]bool{}
	for i, o := range options {
		if _, known := findOption(o.Name); i > 0 && options[i-1].Name == "header" && !known {
			// It may be the rest of a header's value, and so a secret.
			return Check{}, fmt.Errorf(`an unknown option after header; a comma within a value is written \,`)
		}
		if err := c.apply(o, given[o.Name]); err != nil {
			return Check{}, err
		}
		given[o.Name] = true
	}
	if !given["timeout"] {
		c.Timeout = min(DefaultTimeout, c.Interval)
	}
	if err := c.Validate(); err != nil {
		return Check{}, err
	}
	return c, nil
}

// apply sets the field that an option names; again says that it was set before.
func (c *Check) apply(o Option, again bool) error {
	known, ok := findOption(o.Name)
	if !ok {
		return unknownOption(o.Name)
	}
	if c.Kind == FD {
		return fmt.Errorf("fd takes no options: nothing is probed, and one newline is the answer")
	}
	if err := known.belongs(c.Kind); err != nil {
		return err
	}
	if again && !known.repeatable {
		return fmt.Errorf("option %s is given twice", o.Name)
	}
	if err := known.set(c, o.Value); err != nil {
		return fmt.Errorf("option %s: %w", o.Name, err)
	}
	return nil
}

// parseTarget brings kind and target to their canonical form.
func parseTarget(kind Kind, target string) (Kind, string, error) {
	if !utf8.ValidString(target) {
		return "", "", fmt.Errorf("the check is not valid UTF-8")
	}
	switch kind {
	case HTTP, https, httpUnix:
		if kind == httpUnix && !strings.HasPrefix(target, httpUnix+":") {
			target = httpUnix + ":" + target
		}
		if kind == https && !strings.HasPrefix(target, https+":") {
			return "", "", errURLForm(https)
		}
		url, err := parseURL(target)
		return HTTP, url.text, err
	case Exec:
		argv, err := syntax.SplitCommand(target)
		return kind, syntax.QuoteCommand(argv), err
	case Listen:
		where, err := parseListen(target)
		return kind, where.String(), err
	case GRPC:
		if address, service, _ := strings.Cut(target, "/"); service == "" {
			target = address
		}
		return kind, target, nil
	case Memory:
		size, err := parseMemory(target)
		return kind, syntax.FormatSize(size), err
	case FD:
		fd, err := parseFD(target)
		return kind, strconv.Itoa(fd), err
	case TCP, Unix, File, Notify:
		return kind, target, nil
	}
	return "", "", unknownKind(kind, target)
}
