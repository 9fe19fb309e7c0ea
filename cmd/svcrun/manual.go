//go:build svckit_manual

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/svckit/svckit/internal/manual/cmdline"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/watchdog"
)

// A build with this tag does nothing but tell svcrun's command line.
func init() {
	p := cmdline.Program{
		Name: "svcrun", Wraps: true,
		Choices: map[string][]string{"SIG": syntax.SignalNames(), "CHECK": watchdog.KindWords(), "OPTION": watchdog.OptionNames()},
	}
	for _, f := range flags {
		p.Flags = append(p.Flags, told(f))
	}
	for _, w := range wordsHelp {
		p.Flags = append(p.Flags, cmdline.Flag{Names: []string{w[0]}, Help: w[1]})
	}
	reload := cmdline.Verb{Name: reloadVerb, Usage: "has the svcrun of the same unit reload its service, and waits until that is over"}
	for _, name := range reloadFlags {
		f, err := lookup(name)
		if err != nil {
			panic(err)
		}
		reload.Flags = append(reload.Flags, told(f))
	}
	p.Verbs = []cmdline.Verb{reload}
	if err := p.Tell(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func told(f flag) cmdline.Flag {
	return cmdline.Flag{Names: []string{f.name}, Value: f.value, Help: f.help, Again: strings.Contains(f.help, "may be repeated")}
}
