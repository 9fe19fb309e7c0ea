package watchdog

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
)

// The ranges of what every check may say. A shorter interval than 10 ms
// would measure svcrun and not the service; a longer one than a day checks
// nothing.
const (
	minInterval = 10 * time.Millisecond
	maxInterval = 24 * time.Hour
	minTimeout  = time.Millisecond
	maxCount    = 1000
)

// Validate says what is wrong with a check, and what would be right.
func (c Check) Validate() error {
	if err := c.validateTarget(); err != nil {
		return err
	}
	switch {
	case c.Interval < minInterval || c.Interval > maxInterval:
		return fmt.Errorf("interval %s is out of range; it is at least 10ms and at most 24h", syntax.FormatDuration(c.Interval))
	case c.Timeout < minTimeout:
		return fmt.Errorf("timeout %s is too short; it is at least 1ms", syntax.FormatDuration(c.Timeout))
	case c.Timeout > c.Interval:
		return fmt.Errorf("timeout %s is longer than the interval %s, and probes never overlap; raise the interval or lower the timeout",
			syntax.FormatDuration(c.Timeout), syntax.FormatDuration(c.Interval))
	case c.Failures < 1 || c.Failures > maxCount:
		return fmt.Errorf("failures %d is out of range; it is 1 to %d", c.Failures, maxCount)
	case c.Successes < 1 || c.Successes > maxCount:
		return fmt.Errorf("successes %d is out of range; it is 1 to %d", c.Successes, maxCount)
	}
	if err := c.OnUnhealthy.validate(true); err != nil {
		return fmt.Errorf("option on-unhealthy: %w", err)
	}
	return c.validateHTTP()
}

// validateTarget checks what the check asks.
func (c Check) validateTarget() error {
	switch c.Kind {
	case HTTP:
		_, err := parseURL(c.Target)
		return err
	case TCP:
		host, port, err := splitHostPort(c.Target)
		if err == nil && port == "" {
			err = fmt.Errorf("the port is missing")
		}
		if err == nil {
			err = validHost(host)
		}
		if err != nil {
			return fmt.Errorf("%w; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080", err)
		}
		return nil
	case Unix:
		return validSocket(c.Target)
	case Exec:
		argv, err := syntax.SplitCommand(c.Target)
		if err == nil && !strings.HasPrefix(argv[0], "/") {
			return fmt.Errorf("the command %q is no absolute path; write exec:/usr/bin/%s or where it is", argv[0], path.Base(argv[0]))
		}
		return err
	case Notify:
		if c.Target != "" {
			return fmt.Errorf("notify takes nothing after it; it is the service's own READY=1 or WATCHDOG=1")
		}
		return nil
	}
	return unknownKind(c.Kind, c.Target)
}

// validate checks an answer to ill health; inherit says whether none is right.
func (o OnUnhealthy) validate(inherit bool) error {
	switch o {
	case Drain, Abort, Report:
		return nil
	case Inherit:
		if inherit {
			return nil
		}
	}
	return fmt.Errorf("%q is not known; write drain, abort or report", o)
}

// validateHTTP checks the options of HTTP checks.
func (c Check) validateHTTP() error {
	h := c.HTTP
	if c.Kind != HTTP {
		if h.Method+h.Status+h.HeaderFile+h.Host+h.Body != "" || len(h.Headers) > 0 {
			return fmt.Errorf("the options of http checks do not belong to %s", c.Kind)
		}
		return nil
	}
	if err := validMethod(h.Method); err != nil {
		return fmt.Errorf("option method: %w", err)
	}
	if _, err := ParseStatus(h.Status); err != nil {
		return fmt.Errorf("option status: %w", err)
	}
	if err := c.validateHeaders(); err != nil {
		return fmt.Errorf("option header: %w", err)
	}
	if h.HeaderFile != "" && (!strings.HasPrefix(h.HeaderFile, "/") || strings.ContainsFunc(h.HeaderFile, isControl)) {
		return fmt.Errorf("option header-file: %q is no absolute path", h.HeaderFile)
	}
	if h.Host != "" {
		if err := validHostHeader(h.Host); err != nil {
			return fmt.Errorf("option host: %w", err)
		}
	}
	if h.Body != "" && h.Method == "HEAD" {
		return fmt.Errorf("option body: an answer to HEAD has no body; use GET")
	}
	if _, err := regexp.Compile(h.Body); err != nil {
		return fmt.Errorf("option body: %w", err)
	}
	return nil
}

// validateHeaders checks the headers, and that there is one Authorization.
func (c Check) validateHeaders() error {
	url, err := parseURL(c.Target)
	if err != nil {
		return err
	}
	for _, header := range c.HTTP.Headers {
		name, _, err := SplitHeader(header)
		if err != nil {
			return err
		}
		if url.UserInfo != "" && strings.EqualFold(name, "Authorization") {
			return fmt.Errorf("the URL's name and password make an Authorization header already; drop one of the two")
		}
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
