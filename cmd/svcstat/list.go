package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/history/bus"
)

// busTimeout bounds what D-Bus may take: a manager that hangs is a finding.
const busTimeout = 20 * time.Second

func listCommand(out output) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: listUsage, ArgsUsage: "[PATTERN...]", Description: listDescription,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "failed", Usage: failedUsage},
			&cli.BoolFlag{Name: "restarting", Usage: restartingUsage},
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: allUsage},
		}, commonFlags()...),
		Action: func(c *cli.Context) error { return list(c, out) },
	}
}

func list(c *cli.Context, out output) error {
	asJSON, err := wantsJSON(c)
	if err != nil {
		return err
	}
	patterns, err := patternsOf(c.Args().Slice())
	if err != nil {
		return err
	}
	scope := bus.Brief
	if asJSON {
		scope = bus.Status
	}
	states, err := listed(c.Context, managedBy(c), patterns, wanted(c), scope)
	if err != nil {
		return err
	}
	zone := zoneOf(c, out)
	if asJSON {
		document := listDocument{Schema: schema, Units: []unitDocument{}}
		for _, s := range states {
			document.Units = append(document.Units, newUnitDocument(s, zone))
		}
		return writeJSON(out.stdout, document)
	}
	if len(states) == 0 {
		_, err := fmt.Fprintln(out.stderr, nothingListed(c.Bool("failed"), c.Bool("restarting"), c.NArg() > 0))
		return err
	}
	now := out.now()
	return out.page(c, func(columns int) string { return listText(states, now, zone, out.terminal.color, columns) })
}

// patternsOf are the patterns of a command line.
func patternsOf(words []string) ([]string, error) {
	var patterns []string
	for _, word := range words {
		pattern, err := servicePattern(word)
		if err != nil {
			return nil, err
		}
		patterns = append(patterns, pattern)
	}
	return patterns, nil
}

// wanted is the filter that the flags ask for. Without one a service that is
// just not running is left out, as systemctl does, unless its name was given.
func wanted(c *cli.Context) func(history.State) bool {
	failed, restarting, all := c.Bool("failed"), c.Bool("restarting"), c.Bool("all")
	names := c.Args().Slice()
	return func(s history.State) bool {
		switch {
		case failed || restarting:
			stranded := s.Stranded() // it is down for good, whatever the manager calls it
			return failed && (s.ActiveState == "failed" || stranded) || restarting && s.WaitsForRestart() && !stranded
		case s.ActiveState == "inactive":
			return all || slices.ContainsFunc(names, func(n string) bool { return n == s.Unit || n+serviceSuffix == s.Unit })
		}
		return true
	}
}

// listed asks the manager for the services that the patterns name and keep wants.
func listed(ctx context.Context, of managed, patterns []string, keep func(history.State) bool, scope bus.Scope) ([]history.State, error) {
	ctx, cancel := context.WithTimeout(ctx, busTimeout)
	defer cancel()
	conn, err := of.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if len(patterns) == 0 {
		patterns = []string{"*" + serviceSuffix}
	}
	states, err := conn.List(ctx, patterns)
	if err != nil {
		return nil, err
	}
	for _, s := range states {
		if s.LoadState == "not-found" && s.ActiveState == "inactive" && slices.Contains(patterns, s.Unit) {
			return nil, noSuchUnit(ctx, of, s.Unit)
		}
	}
	states = slices.DeleteFunc(states, func(s history.State) bool { return s.LoadState == "not-found" || !keep(s) })
	return states, conn.Fill(ctx, states, scope)
}
