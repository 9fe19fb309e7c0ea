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
	maxAge      = 365 * 24 * time.Hour
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
	if err := c.validateOwn(); err != nil {
		return err
	}
	return c.validateHTTP()
}

// validateOwn checks the options that belong to some kinds, but for HTTP's.
func (c Check) validateOwn() error {
	switch {
	case c.Owned && c.Kind != HTTP && c.Kind != TCP && c.Kind != Unix:
		return fmt.Errorf("option owned belongs to http, tcp and unix checks, not to %s", c.Kind)
	case c.Peak && c.Kind != Memory:
		return fmt.Errorf("option peak belongs to memory checks, not to %s", c.Kind)
	case c.MaxAge != 0 && c.Kind != File:
		return fmt.Errorf("option max-age belongs to file checks, not to %s", c.Kind)
	case c.MaxAge < 0 || c.MaxAge > maxAge:
		return fmt.Errorf("option max-age: %s is out of range; it is at most 365d", syntax.FormatDuration(c.MaxAge))
	}
	return nil
}

// validateTarget checks what the check asks.
func (c Check) validateTarget() error {
	switch c.Kind {
	case HTTP:
		_, err := parseURL(c.Target)
		return err
	case TCP:
		if err := validHostPort(c.Target); err != nil {
			return fmt.Errorf("%w; write tcp:HOST:PORT, for example tcp:127.0.0.1:8080", err)
		}
		return nil
	case Listen:
		_, err := parseListen(c.Target)
		return err
	case Unix:
		return validSocket(c.Target)
	case GRPC:
		_, _, err := c.GRPC()
		return err
	case File:
		return validPath(c.Target)
	case Memory:
		_, err := parseMemory(c.Target)
		return err
	case FD:
		_, err := parseFD(c.Target)
		return err
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
		if h.Method+h.Status+h.HeaderFile+h.Host+h.Body != "" || len(h.Headers) > 0 || h.Insecure {
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
	if err := validHeaderFile(h.HeaderFile); err != nil {
		return fmt.Errorf("option header-file: %w", err)
	}
	if h.Host != "" {
		if err := validHostHeader(h.Host); err != nil {
			return fmt.Errorf("option host: %w", err)
		}
	}
	if h.Insecure && !c.TLS() {
		return fmt.Errorf("option insecure belongs to https checks, not to http")
	}
	if h.Body != "" && h.Method == "HEAD" {
		return fmt.Errorf("option body: an answer to HEAD has no body; use GET")
	}
	if _, err := regexp.Compile(h.Body); err != nil {
		return fmt.Errorf("option body: %w", err)
	}
	return nil
}

// validHeaderFile checks the path of a header file; empty is none. Specifiers
// such as %d (systemd.unit(5)) are the unit's: svcrun sees what systemd made of
// them, and so a path.
func validHeaderFile(path string) error {
	if path != "" && (!strings.HasPrefix(path, "/") || strings.ContainsFunc(path, isControl)) {
		return fmt.Errorf("%q is no absolute path", path)
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
