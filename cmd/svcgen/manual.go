//go:build svckit_manual

package main

import (
	"fmt"
	"os"

	"github.com/svckit/svckit/internal/manager/timeline"
	"github.com/svckit/svckit/internal/manual/cmdline"
	"github.com/svckit/svckit/unitgen"
)

// A build with this tag does nothing but tell svcgen's command line.
func init() {
	targets := []string{unitgen.TargetHost}
	for _, t := range unitgen.Targets() {
		targets = append(targets, t.Name)
	}
	events, meanings := timeline.Events()
	documents := map[string]any{"generate": document{}, "targets": targetsDocument{}, "run": timeline.Document()}
	p := cmdline.OfApp(program{}.app(), documents, map[string][]string{"TARGET": targets, "EVENT": events})
	p.Meanings = meanings
	if err := p.Tell(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
