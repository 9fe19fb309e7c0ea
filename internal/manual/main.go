// Command manual makes the manual pages and the shells' completions of the
// programs, for the packages: go run ./internal/manual [FLAGS] man|completions.
//
// The prose stands in pages/, by hand; flags, verbs and the fields of JSON come
// from the programs themselves, see package cmdline; the keys of a policy from
// docs/policy.md, which a test of unitgen's holds to the schema.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/svckit/svckit/internal/manual/cmdline"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run is the program: it returns the exit code.
func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("manual", flag.ContinueOnError)
	flags.SetOutput(stderr)
	m := maker{asked: map[string]cmdline.Program{}}
	flags.StringVar(&m.root, "C", ".", "the `DIR` of the module")
	flags.StringVar(&m.date, "date", "", "the `DATE` of the pages, as 2026-12-01")
	flags.StringVar(&m.version, "version", "", "the `VERSION` of the programs")
	out := flags.String("o", "build", "write below `DIR`")
	if flags.Parse(args) != nil {
		return 64
	}
	var files map[string]string
	var err error
	switch flags.Arg(0) {
	case "man":
		var gaps []string
		files, gaps, err = m.pages()
		for _, gap := range gaps {
			fmt.Fprintln(stderr, "manual: warning: nothing is said of", gap)
		}
	case "completions":
		files, err = m.completions()
	default:
		err = fmt.Errorf("write man or completions, not %q", flags.Arg(0))
	}
	if err == nil {
		err = write(*out, files)
	}
	if err != nil {
		fmt.Fprintln(stderr, "manual:", err)
		return 1
	}
	return 0
}
