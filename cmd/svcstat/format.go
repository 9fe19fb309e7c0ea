package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/internal/verbs"
)

// formats are what --format takes.
var formats = []string{"text", "json"}

// basicFlags are those of every verb with an answer.
func basicFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: "text", Usage: formatUsage},
		&cli.BoolFlag{Name: "json", Usage: jsonUsage},
		&cli.BoolFlag{Name: "user", Usage: userUsage},
	}
}

// commonFlags are those of every verb whose answer has times and may be long.
func commonFlags() []cli.Flag {
	return append(basicFlags(),
		&cli.BoolFlag{Name: "utc", Usage: utcUsage},
		&cli.BoolFlag{Name: "no-pager", Usage: noPagerUsage},
	)
}

// wantsJSON reads --format and --json.
func wantsJSON(c *cli.Context) (bool, error) {
	format := c.String("format")
	switch {
	case format == "json", c.Bool("json") && !c.IsSet("format"):
		return true, nil
	case format != "text":
		return false, verbs.UnknownWord("format", format, formats)
	case c.Bool("json"):
		return false, verbs.Usagef("flags --json and --format=text contradict each other")
	}
	return false, nil
}

// zoneOf is the zone in which times are shown.
func zoneOf(c *cli.Context, out output) *time.Location {
	if c.Bool("utc") {
		return time.UTC
	}
	return out.now().Location()
}

// writeJSON prints a document. Its strings may come from anywhere, and are
// printed for scripts, not into web pages.
func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}
