package watchdog

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svckit/svckit/internal/syntax"
)

// String is the check's canonical text, with the options that differ from
// their defaults. ParseCheck reads it back to an equal Check. It may hold
// secrets; Label does not.
func (c Check) String() string {
	parts := []string{c.head()}
	for _, option := range checkOptions {
		for _, value := range option.get(c) {
			parts = append(parts, option.text(value))
		}
	}
	for i, part := range parts {
		parts[i] = escapePart(part, i == len(parts)-1)
	}
	return strings.Join(parts, ",")
}

// head is the check's text before its options.
func (c Check) head() string {
	switch c.Kind {
	case HTTP:
		return c.Target // it has its scheme
	case Notify:
		return string(c.Kind)
	default:
		return string(c.Kind) + ":" + c.Target
	}
}

// escapePart is the reverse of cutPart; after the last part comes no comma,
// so that the backslashes at its end stand for themselves.
func escapePart(part string, last bool) string {
	pieces := strings.Split(part, ",")
	for i, piece := range pieces {
		if !last || i < len(pieces)-1 {
			pieces[i] = piece + piece[len(strings.TrimRight(piece, `\`)):]
		}
	}
	return strings.Join(pieces, `\,`)
}

// maxLabel bounds a label, in bytes.
const maxLabel = 120

// Label names the check in STATUS and logs. It is one word of at most 120
// bytes without secrets: of a URL neither user nor query, of a command its
// program's base name and the number of its arguments.
func (c Check) Label() string {
	var label string
	switch c.Kind {
	case HTTP:
		label = c.urlLabel()
	case Exec:
		label = c.execLabel()
	default:
		label = c.head()
	}
	return shorten(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, label))
}

func (c Check) urlLabel() string {
	url, err := c.URL()
	if err != nil {
		return string(c.Kind)
	}
	where, _, _ := strings.Cut(url.Target, "?")
	if url.Network == "unix" {
		return httpUnix + ":" + url.Address + ":" + where
	}
	scheme := "http://"
	if url.TLS {
		scheme = "https://"
	}
	return scheme + url.Host + where
}

func (c Check) execLabel() string {
	argv, err := syntax.SplitCommand(c.Target)
	switch {
	case err != nil:
		return string(c.Kind)
	case len(argv) == 1:
		return "exec:" + path.Base(argv[0])
	}
	return fmt.Sprintf("exec:%s+%d", path.Base(argv[0]), len(argv)-1)
}

// shorten cuts a label to maxLabel bytes between two characters.
func shorten(s string) string {
	if len(s) <= maxLabel {
		return s
	}
	end := maxLabel - len("...")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}
