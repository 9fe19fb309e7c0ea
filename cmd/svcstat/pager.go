package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// page prints a text that render makes for a width, 0 for any. What is longer
// than the terminal goes to a pager; less(1) scrolls sideways, too.
func (out output) page(c *cli.Context, render func(columns int) string) error {
	text := render(out.terminal.columns)
	if out.terminal.is && out.terminal.lines > 0 && strings.Count(text, "\n") >= out.terminal.lines && !c.Bool("no-pager") {
		argv, paged := pagerCommand(os.LookupEnv), text
		if len(argv) > 0 && filepath.Base(argv[0]) == "less" {
			paged = render(0)
		}
		if len(argv) > 0 && runPager(argv, paged, out.stdout, out.stderr) == nil {
			return nil
		}
	}
	_, err := io.WriteString(out.stdout, text)
	return err
}

// pagerCommand is the pager that is wanted, as systemctl(1) chooses it; none
// where that is nothing, or cat.
func pagerCommand(lookup func(string) (string, bool)) []string {
	for _, name := range []string{"SYSTEMD_PAGER", "PAGER"} {
		if value, ok := lookup(name); ok {
			argv := strings.Fields(value)
			if len(argv) > 0 && argv[0] == "cat" {
				return nil
			}
			return argv
		}
	}
	for _, name := range []string{"less", "more"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}
		}
	}
	return nil
}

// runPager shows a text; the error is that it could not be. It is none of the
// pager's business to run programs or to write files: what it shows others have
// written.
func runPager(argv []string, text string, stdout, stderr io.Writer) error {
	pager := exec.Command(argv[0], argv[1:]...)
	options, ok := os.LookupEnv("SYSTEMD_LESS")
	if !ok {
		options = "FRSXMK" // systemctl's own
	}
	pager.Env = append(os.Environ(), "LESS="+options, "LESSSECURE=1")
	pager.Stdin, pager.Stdout, pager.Stderr = strings.NewReader(text), stdout, stderr
	err := pager.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return nil // it was shown; how the pager was left is its own matter
	}
	return err
}
