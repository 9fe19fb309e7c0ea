//go:build svckit_manual

package main

import (
	"fmt"
	"os"

	"github.com/svckit/svckit/internal/manual/cmdline"
)

// A build with this tag does nothing but tell svcstat's command line.
func init() {
	documents := map[string]any{
		"list": listDocument{}, "history": historyDocument{}, "why": whyDocument{}, "forget": forgetDocument{},
	}
	p := cmdline.OfApp(newApp(output{}), documents, map[string][]string{"CAUSE": causeNames()})
	if err := p.Tell(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
